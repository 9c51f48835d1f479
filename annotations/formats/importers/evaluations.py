"""What evaluation harnesses write down: a question, systems' answers to it, and their scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.chat_messages import DistinctIds
from annotations.formats.importers.collected import clean_name, score_of
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.heads import DATASET
from annotations.formats.importers.problems import Where
from annotations.formats.records import LabelRecord, Message, RatingRecord
from common.text import MAX_ASPECT, MAX_NAME, MAX_TEXT

_MAX_LABEL = 1_000


class Evaluations:
    """Dialogues by their id and what is asked in them. A question that one system answers again is
    a dialogue of its own: a score names a system, not one of several answers.

    Attributes:
        ids: of the dialogues.
    """

    def __init__(self) -> None:
        self._dialogues: dict[tuple[Any, ...], CrossedDialogue] = {}
        self._meetings: Counter[tuple[Any, ...]] = Counter()
        self.ids = DistinctIds()

    def dialogue(
        self, name: str, messages: tuple[Message, ...], system: str, where: Where
    ) -> CrossedDialogue:
        """The dialogue that a system's answers belong to.

        Args:
            name: id of the question; "" for a number, from 1.
            messages: what is asked.
            system: who answers.
            where: place of the record.

        Returns:
            The dialogue, new or known. One of another content gets a count behind its id.
        """
        question = (name, *((one.role, one.text) for one in messages))
        self._meetings[question, system] += 1
        key = (question, self._meetings[question, system])
        if key not in self._dialogues:
            dialogue_id = self.ids.distinct(name or str(len(self._dialogues) + 1))
            self._dialogues[key] = CrossedDialogue(dialogue_id, where, messages)
        return self._dialogues[key]

    def records(self) -> Iterator[Placed]:
        """Those of all dialogues, in the order in which they came."""
        for dialogue in self._dialogues.values():
            yield from dialogue.records()


def add_score(
    dialogue: CrossedDialogue,
    system: str,
    aspect: str,
    value: Any,
    where: Where,
    *,
    turn: int | None = 0,
    rater: object = None,
    comment: object = None,
) -> bool:
    """Add how an answer was judged.

    Args:
        dialogue: with the system's answer.
        system: who is judged.
        aspect: what is judged; one that is longer than allowed is cut, a second one of this name
            is counted.
        value: a number; true or false, which are 1 and 0; a short text, which is a label.
        where: place of the record.
        turn: of the answer; None for the whole conversation.
        rater: who judges; ``DATASET`` where nobody is named.
        comment: the reason, where it is a text.

    Returns:
        Whether the value says anything: null, lists and objects do not.
    """
    judge = clean_name(rater)[:MAX_NAME] or DATASET
    named = clean_name(aspect)[: MAX_ASPECT - 6].strip() or "score"
    number = dialogue.judged[turn, system, judge, named] + 1
    aspect = f"{named} ({number})" if number > 1 else named
    score = float(value) if isinstance(value, bool) else score_of(value)
    record: RatingRecord | LabelRecord
    if score is not None:
        reason = comment[:MAX_TEXT] if isinstance(comment, str) else ""
        record = RatingRecord(dialogue.id, turn, system, judge, aspect, score, reason)
    elif isinstance(value, str) and 0 < len(value.strip()) <= _MAX_LABEL:
        record = LabelRecord(dialogue.id, turn, system, judge, aspect, value)
    else:
        return False
    dialogue.judgements.append((record, where, ""))
    dialogue.judged[turn, system, judge, named] = number
    return True


def text_of(value: Any) -> str:
    """An output as text: one that is no text is written as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def texts_of(value: Any) -> tuple[str, ...]:
    """References: a text, a number, or a list of these; blank ones are none."""
    values = value if isinstance(value, list) else [value]
    texts = (text_of(one) for one in values if one is not None and not isinstance(one, bool))
    return tuple(dict.fromkeys(one for one in texts if one.strip()))


def present(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata without what is empty."""
    return {key: value for key, value in metadata.items() if value not in (None, "", [], {})}
