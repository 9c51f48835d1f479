"""Dialogues at whose points several systems answered: what they share, and each one's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.chat_messages import is_answer
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.records import (
    DialogueRecord,
    Message,
    ResponseRecord,
    TurnRecord,
)

MAX_GROUPED_BYTES = 512 * 1024 * 1024
"""Of a file whose records of one dialogue may stand anywhere in it, and which is held in memory."""


@dataclass
class CrossedDialogue:
    """A dialogue while it is read.

    Attributes:
        id: of the dialogue.
        where: its first place in the file.
        messages: what all systems have in common.
        metadata: of the dialogue.
        knowledge: of the dialogue.
        judgements: ratings, labels and preferences, each with its place.
        judged: how often one rater judged one aspect of an answer.
    """

    id: str
    where: Where
    messages: tuple[Message, ...]
    metadata: dict[str, Any] = field(default_factory=dict)
    knowledge: tuple[str, ...] = ()
    judgements: list[Placed] = field(default_factory=list)
    judged: Counter[Hashable] = field(default_factory=Counter)
    _turns: dict[int, tuple[int, dict[str, None]]] = field(default_factory=dict)
    _responses: list[Placed] = field(default_factory=list)
    _samples: dict[tuple[str, int], int] = field(default_factory=dict)

    def add_turn(
        self, number: int, after: int | None = None, references: tuple[str, ...] = ()
    ) -> None:
        """Add a place to answer at, or references to one that is there.

        Args:
            number: of the turn.
            after: how many messages stand before it; None for all.
            references: texts; those that are known already are not added again.
        """
        place = len(self.messages) if after is None else after
        known = self._turns.setdefault(number, (place, {}))[1]
        known.update(dict.fromkeys(references))

    def add_response(
        self,
        turn: int,
        system: str,
        text: str,
        where: Where,
        *,
        field: str = "",
        parts: tuple[Mapping[str, Any], ...] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Add what a system answered.

        Args:
            turn: number of the turn; it is added where it is not there.
            system: who answered.
            text: the answer.
            where: its place in the file.
            field: below ``where``.
            parts: of the response.
            metadata: of the response.

        Returns:
            The sample: 0 for the first answer of this system at this turn, then 1, 2, ….
        """
        self.add_turn(turn)
        sample = self._samples.get((system, turn), 0)
        self._samples[system, turn] = sample + 1
        response = ResponseRecord(self.id, turn, system, text, sample, parts, metadata or {})
        self._responses.append((response, where, field))
        return sample

    def records(self) -> Iterator[Placed]:
        """The dialogue, its responses, and what was said of them."""
        turns = tuple(
            TurnRecord(number, references=tuple(references), after=after)
            for number, (after, references) in sorted(self._turns.items())
        )
        yield (
            DialogueRecord(
                self.id,
                (),
                (),
                turns,
                self.messages,
                knowledge=self.knowledge,
                metadata=self.metadata,
            ),
            self.where,
            "",
        )
        yield from self._responses
        yield from self.judgements


@dataclass(frozen=True, slots=True)
class Answers:
    """One system's conversation, cut into what it answered and what it answered to.

    Attributes:
        shared: all messages but the answers.
        answers: each answer with the number of shared messages before it.
    """

    shared: tuple[Message, ...]
    answers: tuple[tuple[int, Message], ...]

    @classmethod
    def of(cls, messages: tuple[Message, ...]) -> Answers:
        """Cut a conversation.

        Args:
            messages: all of it.

        Returns:
            Its parts.
        """
        shared: list[Message] = []
        answers = []
        for message in messages:
            if is_answer(message):
                answers.append((len(shared), message))
            else:
                shared.append(message)
        return cls(tuple(shared), tuple(answers))


def same_words(one: tuple[Message, ...], other: tuple[Message, ...]) -> bool:
    """Whether two lists of messages say the same, whatever their metadata."""
    return [(message.role, message.text, message.parts) for message in one] == [
        (message.role, message.text, message.parts) for message in other
    ]


def refuse_large(path_size: int, problems: Problems) -> None:
    """Stop at a file whose dialogues would not fit into memory.

    Args:
        path_size: bytes of the file.
        problems: collects the fault.

    Raises:
        ImportFailed: it is larger than ``MAX_GROUPED_BYTES``.
    """
    if path_size > MAX_GROUPED_BYTES:
        problems.stop(
            "",
            "",
            f"is larger than {MAX_GROUPED_BYTES // 1024**2} MiB: the records of one dialogue may "
            "stand anywhere in it, so that it is held in memory; import it in pieces",
        )


def split_metadata(
    of_records: list[dict[str, Any]],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Divide what the records of one dialogue say beside it.

    Args:
        of_records: one mapping a record, at least one.

    Returns:
        What all of them say alike, which is the dialogue's, and what is left of each.
    """
    first, *others = of_records
    common = {
        key: value
        for key, value in first.items()
        if all(key in one and one[key] == value for one in others)
    }
    return common, [
        {key: value for key, value in one.items() if key not in common} for one in of_records
    ]


class VotesOfOne:
    """Counts how often one rater compared the same two: a rater answers one question once."""

    def __init__(self) -> None:
        self._counts: Counter[Hashable] = Counter()

    def name(self, aspect: str, compared: Hashable) -> str:
        """Name the aspect of a vote.

        Args:
            aspect: what it is about.
            compared: the rater and the two responses, in their order.

        Returns:
            The aspect; ``ASPECT (vote 2)`` for the second vote, and so on.
        """
        self._counts[aspect, compared] += 1
        count = self._counts[aspect, compared]
        return aspect if count == 1 else f"{aspect} (vote {count})"


class Grouped:
    """Dialogues by what they share. What one system answers twice is a dialogue of its own: a
    rating names a system, not one of several answers."""

    def __init__(self) -> None:
        self._dialogues: dict[tuple[Hashable, int], CrossedDialogue] = {}
        self._meetings: Counter[tuple[Hashable, str]] = Counter()

    def of(
        self,
        key: Hashable,
        system: str,
        where: Where,
        messages: tuple[Message, ...],
        name: str = "",
    ) -> CrossedDialogue:
        """The dialogue that a system's next answer belongs to.

        Args:
            key: what its records have in common.
            system: who answers.
            where: place of the record.
            messages: of the dialogue, where it is new.
            name: its id, where it has one; else the dialogues are numbered from 1.

        Returns:
            The dialogue, new or known.
        """
        count = self._meetings[key, system]
        self._meetings[key, system] += 1
        dialogue = self._dialogues.get((key, count))
        if dialogue is None:
            dialogue_id = name or str(len(self._dialogues) + 1)
            if name and count:
                dialogue_id = f"{name} #{count + 1}"
            dialogue = CrossedDialogue(dialogue_id, where, messages)
            self._dialogues[key, count] = dialogue
        return dialogue

    def records(self) -> Iterator[Placed]:
        """Those of all dialogues, in the order in which they came."""
        for dialogue in self._dialogues.values():
            yield from dialogue.records()
