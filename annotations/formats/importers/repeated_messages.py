"""Rows of messages that a table repeats for each rater who judged them: which rows are one message,
and whose each one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from annotations.formats.importers.heads import position_rater
from annotations.formats.importers.table_source import number_in


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A row: what is said in it.

    Attributes:
        content: speaker and text.
        turn: number of the message as the file has it; "" for none.
        rater: who judged it; "" for nobody, or everybody.
    """

    content: Hashable
    turn: str
    rater: str


class UnclearRepeatError(ValueError):
    """Raters do not agree about what was said: (position of the row, what is wrong)."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


def rows_by_message(rows: Sequence[MessageRow]) -> list[list[int]]:
    """Group the rows of one conversation by the message that they are about.

    A message that several raters' rows have is one. Without turns the raters must have the same
    messages, or some of another rater's.

    Args:
        rows: of one conversation, in the order of the file.

    Returns:
        Positions of the rows of each message, in the order of the conversation.

    Raises:
        UnclearRepeatError: raters have different texts at one turn, messages in another order, or
            other messages where no turn says which are the same.
    """
    of_rater: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        of_rater.setdefault(row.rater, []).append(position)
    named = [own for rater, own in of_rater.items() if rater]
    singles = [[position] for position in range(len(rows))]
    if len(named) < 2:
        return singles
    content = {tuple(rows[at].content for at in own) for own in named}
    are_same = len(content) == 1 and len(named[0]) > 1
    has_turns = all(row.turn for row in rows) and not are_same
    keys: dict[int, Hashable] = {}
    for own in of_rater.values():
        met: Counter[Hashable] = Counter()
        for at in own:
            key = (rows[at].turn if has_turns else "", rows[at].content)
            met[key] += 1
            keys[at] = (*key, met[key])
    messages: dict[Hashable, list[int]] = {}
    for position in range(len(rows)):
        messages.setdefault(keys[position], []).append(position)
    if len(messages) == len(rows):
        return singles
    order = list(messages)
    if has_turns:
        _check_texts(rows, named)
        numbers = [number_in(row.turn) for row in rows]
        if None not in numbers and all(_rises([numbers[at] for at in own]) for own in named):
            order.sort(key=lambda key: numbers[messages[key][0]] or 0)
    elif not are_same:
        _check_subsets(rows, named)
    place = {key: number for number, key in enumerate(order)}
    for own in named:
        if wrong := next((b for a, b in pairwise(own) if place[keys[b]] < place[keys[a]]), None):
            raise UnclearRepeatError(
                wrong, "comes earlier in another rater's rows; give all the same order"
            )
    return [messages[key] for key in order]


def raters_by_order(conversations: Sequence[Sequence[MessageRow]]) -> list[list[str]] | None:
    """Number the raters of a table that repeats messages without saying who judged them.

    Args:
        conversations: rows of each, in the order of the file.

    Returns:
        A rater for each row: ``rater 1`` has the first row of each message, ``rater 2`` the second.
        None where not every conversation repeats its messages.
    """
    found = [_by_turn(rows) or _by_repeat(rows) for rows in conversations]
    is_certain = any(one for one in found) and all(
        one or len(rows) < 2 for one, rows in zip(found, conversations, strict=True)
    )
    if not is_certain:
        return None
    return [
        one or [position_rater(0)] * len(rows)
        for one, rows in zip(found, conversations, strict=True)
    ]


def _by_turn(rows: Sequence[MessageRow]) -> list[str]:
    if not all(row.turn for row in rows):
        return []
    counts = Counter((row.turn, row.content) for row in rows)
    if sum(count > 1 for count in counts.values()) * 2 < len(counts):
        return []
    met: Counter[Hashable] = Counter()
    raters = []
    for row in rows:
        raters.append(position_rater(met[row.turn, row.content]))
        met[row.turn, row.content] += 1
    return raters


def _by_repeat(rows: Sequence[MessageRow]) -> list[str]:
    """Of the whole conversation, again and again, or of each message."""
    content = [row.content for row in rows]
    for period in range(2, len(content) // 2 + 1):
        if len(content) % period == 0 and content == content[:period] * (len(content) // period):
            return [position_rater(at // period) for at in range(len(content))]
    lengths = [len(list(run)) for _, run in groupby(content)]
    if len(lengths) > 1 and min(lengths) > 1 and len(set(lengths)) == 1:
        return [position_rater(at % lengths[0]) for at in range(len(content))]
    return []


def _check_texts(rows: Sequence[MessageRow], named: list[list[int]]) -> None:
    """At a turn that two raters judged each speaker says the same to both."""
    first: dict[str, list[Hashable]] = {}
    for own in named:
        texts: dict[str, list[Hashable]] = {}
        for at in own:
            texts.setdefault(rows[at].turn, []).append(rows[at].content)
        for at in own:
            known = first.setdefault(rows[at].turn, texts[rows[at].turn])
            if len(known) == len(texts[rows[at].turn]) and rows[at].content not in known:
                raise UnclearRepeatError(
                    at, "is not what another rater has at this turn; correct the text or the turn"
                )


def _check_subsets(rows: Sequence[MessageRow], named: list[list[int]]) -> None:
    longest = max(named, key=len)
    known = Counter(rows[at].content for at in longest)
    for own in named:
        for at in own:
            if rows[at].content not in known or (
                len(own) < len(longest) and known[rows[at].content] > 1
            ):
                raise UnclearRepeatError(
                    at,
                    "is a message that not every rater has in the same place; number the messages "
                    "in a column `turn`",
                )


def _rises(numbers: Sequence[float | None]) -> bool:
    return all((a or 0) <= (b or 0) for a, b in pairwise(numbers))
