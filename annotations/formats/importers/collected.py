"""Collects what rows or records say in any order, and gives it as a stream of records in order.

Contexts, responses and names are held once, however many rows repeat them.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterKind,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemKind,
    SystemRecord,
    TurnRecord,
    Utterance,
)

OVERALL = "overall"
ASSISTANT = "assistant"
"""The system where a file names none."""
DATASET = "dataset"
"""The rater of scores that the file attributes to nobody."""
COMMENT = "comment"


def clean_name(value: object) -> str:
    """A name or id as it is stored.

    Args:
        value: as the file has it; None for none.

    Returns:
        Its text in Unicode's composed form, without white space at its ends.
    """
    return "" if value is None else unicodedata.normalize("NFC", str(value)).strip()


def score_of(value: object) -> float | None:
    """A JSON number as a score.

    Args:
        value: any parsed JSON value.

    Returns:
        The number, infinite where it is beyond a double's, which the checker refuses; None for all
        that is no number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


@dataclass
class _Turn:
    where: Where
    context: tuple[Message, ...] = ()
    references: dict[str, None] = field(default_factory=dict)
    after: int | None = None


@dataclass
class Conversation:
    """One dialogue that is being collected.

    Attributes:
        messages: the whole conversation, where turns only mark points in it.
        interactive: one system's own messages are its responses.
    """

    id: str
    where: Where
    problems: Problems
    messages: tuple[Message, ...] = ()
    interactive: bool = False
    persona: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    turns: dict[int, _Turn] = field(default_factory=dict)
    responses: dict[tuple[str, int, int], tuple[Where, ResponseRecord]] = field(
        default_factory=dict
    )
    ratings: dict[tuple[str, int | None, str, str], tuple[Where, RatingRecord]] = field(
        default_factory=dict
    )
    others: list[tuple[Where, LabelRecord | PreferenceRecord]] = field(default_factory=list)

    def turn(
        self,
        number: int,
        where: Where,
        context: tuple[Message, ...] = (),
        reference: str = "",
        after: int | None = None,
    ) -> None:
        """A point at which systems answer. What is said again must be the same."""
        known = self.turns.setdefault(number, _Turn(where, context, after=after))
        if context and known.context != context:
            if known.context:
                message = f"is another context than at {known.where}, which has the same turn"
                self.problems.add(where, "context", message)
            known.context = context
        if reference:
            known.references.setdefault(reference)

    def response(
        self,
        number: int,
        system: str,
        text: str,
        where: Where,
        sample: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """A system's answer; metadata that come with it again are added."""
        record = ResponseRecord(self.id, number, system, text, sample)
        first, known = self.responses.setdefault((system, number, sample), (where, record))
        if known.text != text:
            message = f"is another one than at {first}, by the same system at the same turn"
            self.problems.add(where, "response", message)
        if metadata:
            self.describe(number, system, metadata, sample)

    def describe(
        self, number: int, system: str, metadata: Mapping[str, Any], sample: int = 0
    ) -> None:
        """Add metadata to a response."""
        where, known = self.responses[system, number, sample]
        merged = {**known.metadata, **metadata}
        self.responses[system, number, sample] = (where, replace(known, metadata=merged))

    def rate(
        self,
        number: int | None,
        system: str,
        rater: str,
        aspect: str,
        score: float,
        where: Where,
        comment: str = "",
    ) -> None:
        """A score. The same one again is passed over, another one is a fault."""
        record = RatingRecord(self.id, number, system, rater, aspect, score, comment)
        key = (system, number, rater, aspect)
        first, known = self.ratings.setdefault(key, (where, record))
        if known.score != score:
            message = f"{rater} gives {aspect!r} another score at {first}"
            self.problems.add(where, "score", message)

    def comment(self, number: int | None, system: str, rater: str, text: str, where: Where) -> None:
        """A rater's comment: of the first score that the rater gave here, else on its own."""
        for key, (place, rating) in self.ratings.items():
            if (rating.system, rating.turn, rating.rater) == (
                system,
                number,
                rater,
            ) and not rating.comment:
                self.ratings[key] = (place, replace(rating, comment=text))
                return
        self.label(number, system, rater, COMMENT, text, where)

    def label(
        self,
        number: int | None,
        system: str,
        rater: str,
        question: str,
        value: str | tuple[str, ...],
        where: Where,
        message: int | None = None,
    ) -> None:
        """A category, several of them, or free text."""
        record = LabelRecord(self.id, number, system, rater, question, value, message)
        self.others.append((where, record))

    def prefer(self, record: PreferenceRecord, where: Where) -> None:
        """A comparison of two responses or conversations."""
        self.others.append((where, record))


class Collection:
    """A corpus that is being collected; ``records`` gives it in order."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.corpus = CorpusRecord()
        self.conversations: dict[str, Conversation] = {}
        self.system_kinds: dict[str, SystemKind] = {}
        self.rater_kinds: dict[str, RaterKind] = {}

    def conversation(self, name: str, where: Where) -> Conversation:
        """The dialogue of this id, made at its first mention."""
        known = self.conversations.get(name)
        if known is None:
            known = self.conversations[name] = Conversation(name, where, self.problems)
        return known

    def records(self) -> Iterator[Placed]:
        """The stream.

        Returns:
            Records with their places, in the order of ``annotations.formats.records``. Aspects,
            systems and raters are those that are used, in the order of their first use.
        """
        everything = self.conversations.values()
        aspects: dict[str, None] = {}
        systems: dict[str, None] = {}
        raters: dict[str, None] = {}
        for one in everything:
            systems.update((system, None) for system, _, _ in one.responses)
            for _, rating in one.ratings.values():
                aspects.setdefault(rating.aspect)
                raters.setdefault(rating.rater)
            raters.update((record.rater, None) for _, record in one.others)
        yield from self.heads(aspects, systems, raters)
        for one in everything:
            yield from _records_of(one)

    def heads(
        self, aspects: Iterable[str], systems: Iterable[str], raters: Iterable[str]
    ) -> Iterator[Placed]:
        """What a stream begins with.

        Args:
            aspects: names, in their order; likewise ``systems`` and ``raters``.

        Returns:
            Records of the corpus, its systems and raters. Scales are open; the main aspect is
            ``OVERALL`` or, without it, the first one.
        """
        names = tuple(aspects) or (OVERALL,)
        yield (
            replace(
                self.corpus,
                aspects=names,
                main_aspect=OVERALL if OVERALL in names else names[0],
                scales=tuple((name, None, None) for name in names),
            ),
            "",
            "",
        )
        for name in systems:
            yield SystemRecord(name, self.system_kinds.get(name, "agent")), "", ""
        for name in raters:
            is_nobody: RaterKind = "aggregate" if name == DATASET else "identified"
            yield RaterRecord(name, self.rater_kinds.get(name, is_nobody)), "", ""

    def given(self, one: Conversation) -> Iterator[Placed]:
        """The records of a conversation to which nothing more comes: it is held no longer.

        Args:
            one: of this collection.

        Returns:
            The dialogue, its responses and what was said of them.
        """
        del self.conversations[one.id]
        yield from _records_of(one)


def _records_of(one: Conversation) -> Iterator[Placed]:
    messages, turns = _messages_and_turns(one)
    record = DialogueRecord(
        one.id,
        one.persona,
        (),
        turns,
        messages,
        one.interactive,
        one.knowledge,
        one.metadata,
    )
    yield record, one.where, ""
    for where, response in one.responses.values():
        yield response, where, ""
    for where, rating in one.ratings.values():
        yield rating, where, ""
    for where, other in one.others:
        yield other, where, ""


def _messages_and_turns(one: Conversation) -> tuple[tuple[Message, ...], tuple[TurnRecord, ...]]:
    """The conversation once, where every context is a beginning of it; else a context a turn."""
    numbered = sorted(one.turns.items())
    longest: Sequence[Message] = one.messages or max(
        (turn.context for _, turn in numbered), key=len, default=()
    )
    if any(turn.context != longest[: len(turn.context)] for _, turn in numbered):
        return (), tuple(
            TurnRecord(number, _utterances(turn.context), tuple(turn.references))
            for number, turn in numbered
        )
    return tuple(longest), tuple(
        TurnRecord(
            number,
            (),
            tuple(turn.references),
            len(turn.context) if turn.after is None else turn.after,
        )
        for number, turn in numbered
    )


def _utterances(context: tuple[Message, ...]) -> tuple[Utterance, ...]:
    return tuple(
        Utterance("B" if message.role == ASSISTANT else "A", message.text) for message in context
    )


def add_log(one: Conversation, system: str, where: Where) -> dict[int, int]:
    """Make a conversation with one system its log: each of its messages is a response.

    Args:
        one: with its messages.
        system: who wrote those of the assistant's role.
        where: place of the record.

    Returns:
        By position of a message the number of its response. A conversation without any gets a
        point to answer at its end.
    """
    one.interactive = True
    numbers: dict[int, int] = {}
    for position, message in enumerate(one.messages):
        if message.role == ASSISTANT:
            number = len(numbers)
            numbers[position] = number
            one.turn(number, where, after=position)
            one.response(number, system, message.text, where)
    if not numbers:
        one.interactive = False
        one.turn(0, where, after=len(one.messages))
    return numbers
