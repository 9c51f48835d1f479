"""Items that this project exported to an annotation tool, as they come back
(``exporters.annotation_items``): what is known of the corpus is read from what went with them, and
judgements are those that the tool holds now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.collected import COMMENT, Collection, Conversation, score_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.jsonl import record_of
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.speakers import chat_messages
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
)
from common.text import MAX_NAME

KEY = "dialeval"
"""Under which an item has its origin."""
_OUTCOMES = ("a", "b", "tie", "both_bad")
_NEW = 2**62
"""Position of judgements that were not in the export: behind those that were."""


@dataclass
class _Judgement:
    position: int
    where: Where
    record: RatingRecord | LabelRecord | PreferenceRecord


@dataclass
class AnnotatedItem:
    """An item that came back."""

    origin: JsonObject
    one: Conversation
    turn: int | None
    system: str
    message: int | None
    arms: tuple[tuple[str, int], ...]
    questions: Mapping[str, Any]
    comments: list[tuple[str, str, str, Where]] = field(default_factory=list)


class AnnotatedItems:
    """Collects items and gives the corpus that they are of."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.collection = Collection(problems)
        self.corpus: CorpusRecord | None = None
        self.systems: dict[str, SystemRecord] = {}
        self.raters: dict[str, RaterRecord] = {}
        self.dialogues: dict[str, DialogueRecord] = {}
        self.numbers: dict[str, int] = {}
        self.judgements: dict[str, list[_Judgement]] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.numbers)

    def item(self, origin: Any, path: str, context: Any, where: Where) -> AnnotatedItem | None:
        """Take an item.

        Args:
            origin: what went with it.
            path: of ``origin`` below ``where``.
            context: what the tool shows before the response, where the item's dialogue is missing.
            where: place of the item.

        Returns:
            The item; None, with the problems noted, where ``origin`` was changed.
        """
        found = JsonObject.of(origin, where, self.problems, path)
        dialogue = found.text("dialogue", MAX_NAME) if found else None
        records = found.children("records") if found else None
        if found is None or dialogue is None or records is None:
            return None
        one = self.collection.conversation(dialogue, where)
        for line in records:
            self._take(line, one)
        number = found.value.get("number")
        self.numbers.setdefault(dialogue, number if isinstance(number, int) else _NEW)
        turn, message = (
            None if found.value.get(key) is None else found.parse_integer(key)
            for key in ("turn", "message")
        )
        system, questions = found.value.get("system"), found.value.get("questions")
        if turn is not None and dialogue not in self.dialogues:
            messages = chat_messages(context) if isinstance(context, list) else None
            one.turn(turn, where, messages or ())
        return AnnotatedItem(
            found,
            one,
            turn,
            system if isinstance(system, str) else "",
            message,
            _arms(found.value.get("arms")),
            questions if isinstance(questions, dict) else {},
        )

    def _take(self, line: JsonObject, one: Conversation) -> None:
        record = record_of(line)
        if isinstance(record, CorpusRecord):
            self.corpus = self.corpus or record
        elif isinstance(record, SystemRecord):
            self.systems.setdefault(record.name, record)
        elif isinstance(record, RaterRecord):
            self.raters.setdefault(record.name, record)
        elif isinstance(record, DialogueRecord):
            self.dialogues.setdefault(record.id, record)
        elif isinstance(record, ResponseRecord):
            key = (record.system, record.turn, record.sample)
            one.responses.setdefault(key, (line.where, record))
        elif record is not None:
            line.complain("type", "is no record that goes with an item")

    def judge(
        self,
        item: AnnotatedItem,
        name: str,
        rater: str,
        value: Any,
        origin: Any,
        where: Where,
    ) -> None:
        """Take an answer.

        Args:
            item: what it is about.
            name: of the question.
            rater: who answers, where ``origin`` does not say it.
            value: a number, a text or a list of texts.
            origin: what went with an answer that was exported.
            where: place of the item.
        """
        known = origin if isinstance(origin, Mapping) else {}
        rater = known["rater"] if isinstance(known.get("rater"), str) else rater
        position = known.get("position")
        position = position if isinstance(position, int) else _NEW
        use, of = _question_of(item.questions.get(name), name)
        if use == "comment":
            item.comments.append((of, rater, "\n".join(_texts(value)), where))
            return
        record: RatingRecord | LabelRecord | PreferenceRecord
        score = _score(value)
        if use == "preference":
            if len(item.arms) != 2 or _texts(value)[:1] not in ([one] for one in _OUTCOMES):
                self.problems.add(where, name, f"must be one of {', '.join(_OUTCOMES)}")
                return
            (system_a, sample_a), (system_b, sample_b) = item.arms
            comment, metadata = known.get("comment"), known.get("metadata")
            record = PreferenceRecord(
                *(item.one.id, item.turn, system_a, system_b),
                _texts(value)[0],  # type: ignore[arg-type]
                *(rater, of, sample_a, sample_b),
                comment if isinstance(comment, str) else "",
                metadata if isinstance(metadata, dict) else {},
            )
        elif use == "score" or (use == "" and score is not None):
            if score is None:
                self.problems.add(where, name, "must be a number")
                return
            record = RatingRecord(item.one.id, item.turn, item.system, rater, of, score)
        else:
            texts = _texts(value)
            is_list = len(texts) != 1 or known.get("list") is True
            record = LabelRecord(
                *(item.one.id, item.turn, item.system, rater, of),
                tuple(texts) if is_list else texts[0],
                item.message,
            )
        self.judgements.setdefault(item.one.id, []).append(_Judgement(position, where, record))

    def finish(self, item: AnnotatedItem) -> None:
        """After all answers about an item: comments stand beside the scores that they are of."""
        judged = self.judgements.setdefault(item.one.id, [])
        for aspect, rater, text, where in item.comments:
            for one in judged:
                record = one.record
                if (
                    isinstance(record, RatingRecord)
                    and (record.turn, record.system) == (item.turn, item.system)
                    and record.rater == rater
                    and aspect in ("", record.aspect)
                    and not record.comment
                ):
                    one.record = replace(record, comment=text)
                    break
            else:
                label = LabelRecord(
                    item.one.id, item.turn, item.system, rater, COMMENT, text, item.message
                )
                judged.append(_Judgement(_NEW, where, label))

    def records(self) -> Iterator[Placed]:
        """The stream, as in ``Collection.records``; what the export brought stands for itself."""
        conversations = self.collection.conversations
        for name in sorted(conversations, key=self.numbers.__getitem__):
            one = conversations.pop(name)
            if name not in self.dialogues and not one.turns:
                message = f"the dialogue {name!r} is with none of these items: export all of them"
                self.problems.add(one.where, "", message)
                continue
            conversations[name] = one
            for judged in sorted(self.judgements.get(name, []), key=lambda one: one.position):
                self._place(one, judged)
        stream = self.collection.records()
        corpus, where, path = next(stream)
        assert isinstance(corpus, CorpusRecord)
        yield self._with_new_aspects(corpus), where, path
        systems, raters, later = dict(self.systems), dict(self.raters), None
        for placed in stream:
            if isinstance(placed[0], SystemRecord):
                systems.setdefault(placed[0].name, placed[0])
            elif isinstance(placed[0], RaterRecord):
                raters.setdefault(placed[0].name, placed[0])
            else:
                later = placed
                break
        yield from ((one, "", "") for one in systems.values())
        yield from ((one, "", "") for one in raters.values())
        for record, where, path in chain([later] if later else [], stream):
            known = self.dialogues.get(record.id) if isinstance(record, DialogueRecord) else None
            yield known or record, where, path

    def _place(self, one: Conversation, judged: _Judgement) -> None:
        record = judged.record
        if isinstance(record, RatingRecord):
            key = (record.system, record.turn, record.rater, record.aspect)
            first, known = one.ratings.setdefault(key, (judged.where, record))
            if known.score != record.score:
                message = f"{record.rater} gives {record.aspect!r} another score at {first}"
                self.problems.add(judged.where, "score", message)
        else:
            one.others.append((judged.where, record))

    def _with_new_aspects(self, used: CorpusRecord) -> CorpusRecord:
        if self.corpus is None:
            return used
        has_scores = any(one.ratings for one in self.collection.conversations.values())
        aspects = used.aspects if has_scores else ()
        new = tuple(one for one in aspects if one not in self.corpus.aspects)
        return replace(
            self.corpus,
            aspects=(*self.corpus.aspects, *new),
            scales=(*self.corpus.scales, *((one, None, None) for one in new)),
        )


def _arms(value: Any) -> tuple[tuple[str, int], ...]:
    arms = value if isinstance(value, list) else []
    return tuple(
        (arm[0], arm[1])
        for arm in arms
        if isinstance(arm, list)
        and len(arm) == 2
        and isinstance(arm[0], str)
        and isinstance(arm[1], int)
    )


def _question_of(value: Any, name: str) -> tuple[str, str]:
    """Use and aspect of a question that was exported; of another one no use, and its name."""
    match value:
        case [str() as use, str() as of]:
            return use, of
    return "", name


def _texts(value: Any) -> list[str]:
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    return [one if isinstance(one, str) else json.dumps(one) for one in values]


def _score(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return score_of(value)
