"""Conversations out of traces: each call of a model brings the history again, and adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    TOOL_CALL,
    is_answer,
)
from annotations.formats.importers.crossed import split_metadata
from annotations.formats.importers.heads import position_rater
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    Message,
    RatingRecord,
    ResponseRecord,
    TurnRecord,
)

COMMENT = "comment"
"""The question of a free text; of one about an aspect, ``comment on ASPECT``."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score, a category or a remark.

    Attributes:
        aspect: what it is about.
        value: a number is a score, a text a label.
        rater: who gave it; "" where the trace does not say.
        comment: that came with it.
        where: its place in the file.
        field: below ``where``.
        of_conversation: whether it is about the whole of it, not about one call.
    """

    aspect: str
    value: float | str
    rater: str
    comment: str
    where: Where
    field: str
    of_conversation: bool = False


@dataclass
class Call:
    """One call of a model.

    Attributes:
        messages: what it was given.
        output: what it answered.
        system: its name.
        where: its place in the file.
        metadata: of the answer.
        judgements: of the answer.
    """

    messages: tuple[Message, ...]
    output: tuple[Message, ...]
    system: str
    where: Where
    metadata: dict[str, Any] = field(default_factory=dict)
    judgements: list[Judgement] = field(default_factory=list)


def conversation_of(
    dialogue_id: str, calls: list[Call], metadata: dict[str, Any], problems: Problems
) -> Iterator[Placed]:
    """The conversation that the calls of one session make.

    Args:
        dialogue_id: id of the record.
        calls: in the order of their time; one or more.
        metadata: of the conversation, beside what all calls have alike.
        problems: judgements of nothing are reported there.

    Returns:
        Iterator over the dialogue, a response for each of the assistant's messages, and what was
        said of them. Where one system made all of them the dialogue is interactive.
    """
    common, rests = split_metadata([call.metadata for call in calls])
    messages: list[Message] = []
    authors: dict[int, int] = {}
    outputs: list[int | None] = []
    for number, call in enumerate(calls):
        added = call.messages[_repeated(messages, call.messages) :]
        start = len(messages)
        messages += [*added, *call.output]
        authors |= {
            index: number for index in range(start, len(messages)) if is_answer(messages[index])
        }
        last = len(messages) - 1
        outputs.append(last if call.output and last in authors else None)
    answers = list(authors)
    turn_of = {index: turn for turn, index in enumerate(answers)}
    yield (
        DialogueRecord(
            dialogue_id,
            (),
            (),
            tuple(TurnRecord(turn, after=index) for index, turn in turn_of.items()),
            tuple(messages),
            interactive=len({calls[number].system for number in authors.values()}) == 1,
            metadata={**common, **metadata},
        ),
        calls[0].where,
        "",
    )
    for index, turn in turn_of.items():
        call = calls[authors[index]]
        about = rests[authors[index]] if index in outputs else {}
        response = ResponseRecord(
            dialogue_id, turn, call.system, messages[index].text, metadata=about
        )
        yield response, call.where, ""
    yield from _judgements(dialogue_id, calls, outputs, turn_of, problems)


def _judgements(
    dialogue_id: str,
    calls: list[Call],
    outputs: list[int | None],
    turn_of: dict[int, int],
    problems: Problems,
) -> Iterator[Placed]:
    """Scores, labels and remarks, each rater once for each question."""
    answering = [call.system for call, output in zip(calls, outputs, strict=True) if output]
    taken: set[tuple[int | None, str, str, str]] = set()
    for call, output in zip(calls, outputs, strict=True):
        for one in call.judgements:
            if not answering:
                problems.skip(one.where, one.field, "is about a conversation without an answer")
                continue
            turn = None if output is None or one.of_conversation else turn_of[output]
            system = call.system if call.system in answering else answering[-1]
            kind = "score" if isinstance(one.value, float) else "label"
            rater = one.rater or _free_rater((turn, kind, one.aspect), taken)
            key = (turn, kind, one.aspect, rater)
            if key in taken:
                problems.skip(
                    one.where, one.field, f"{rater!r} judges this for {one.aspect!r} before it"
                )
                continue
            taken.add(key)
            if isinstance(one.value, float):
                rating = RatingRecord(
                    dialogue_id, turn, system, rater, one.aspect, one.value, one.comment
                )
                yield rating, one.where, one.field
                continue
            label = LabelRecord(dialogue_id, turn, system, rater, one.aspect, one.value)
            yield label, one.where, one.field
            if one.comment:
                remark = LabelRecord(
                    dialogue_id, turn, system, rater, f"{COMMENT} on {one.aspect}", one.comment
                )
                yield remark, one.where, one.field


def _free_rater(
    item: tuple[int | None, str, str], taken: set[tuple[int | None, str, str, str]]
) -> str:
    position = 0
    while (*item, position_rater(position)) in taken:
        position += 1
    return position_rater(position)


def _repeated(known: list[Message], given: tuple[Message, ...]) -> int:
    """How many of the messages that a call was given are the history that is known.

    They are where they end in the last message that is known, with others in between perhaps left
    out. Else only system prompts that were there before are.
    """
    if not known:
        return 0
    words = [_words(message) for message in known]
    new = [_words(message) for message in given]
    if new[: len(words)] == words:
        return len(words)
    ends = [index for index, one in enumerate(new) if one == words[-1]]
    for end in ends[: -_TRIES - 1 : -1]:
        if _is_part(new[: end + 1], words):
            return end + 1
    prompts = {one for one, message in zip(words, known, strict=True) if message.role == SYSTEM}
    count = 0
    while count < len(given) and given[count].role == SYSTEM and new[count] in prompts:
        count += 1
    return count


def _is_part(few: list[tuple[str, ...]], many: list[tuple[str, ...]]) -> bool:
    """Whether ``many`` holds ``few`` in their order."""
    rest = iter(many)
    return all(any(one == other for other in rest) for one in few)


def _words(message: Message) -> tuple[str, ...]:
    calls = (str(part.get("name")) for part in message.parts if part.get("type") == TOOL_CALL)
    return message.role, message.text, *calls
