"""Rows of a table as records, in bounded memory: the rows are read twice.

The first reading collects names and where each conversation ends, the second gives a conversation
as soon as its last row was read and those before it were given. Of a table whose rows of one
conversation stand together little more than these is held.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.chat_messages import is_answer
from annotations.formats.importers.collected import (
    ASSISTANT,
    DATASET,
    OVERALL,
    Collection,
    Conversation,
    add_log,
    clean_name,
)
from annotations.formats.importers.column_mapping import Column, TableMapping
from annotations.formats.importers.heads import position_rater
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.python_values import python_list
from annotations.formats.importers.speakers import conversation, with_prompt
from annotations.formats.importers.table_source import is_missing, number_in, numbers_in
from annotations.formats.records import Message
from common.tables.csv_text import without_guard

Row = Mapping[str, str]
"""Cells by heading."""
Rows = Callable[[Problems], Iterator[tuple[Where, Row]]]
"""Reads the table from its start: (line, row) of every row that counts."""
MAX_HELD = 500_000
"""Rows of conversations that have not ended."""
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,8})(?:[.,]0+)?")


def turn_number(written: str, line: Where, problems: Problems) -> int | None:
    """The number of a turn.

    Args:
        written: content of a cell.
        line: of the cell.
        problems: gets the fault.

    Returns:
        The whole number; None where it is none.
    """
    whole = _WHOLE.fullmatch(written.strip())
    if not whole:
        problems.add(line, "turn", f"must be a whole number, not {written[:50]!r}")
    return int(whole[1]) if whole else None


def records_of_table(
    rows: Rows, mapping: TableMapping, decimal_comma: bool, problems: Problems
) -> Iterator[Placed]:
    """The records of a table.

    Args:
        rows: is called twice.
        mapping: what each column is.
        decimal_comma: a comma may be the decimal mark.
        problems: collects faults of the second reading.

    Returns:
        Iterator over records, each with its line, conversations in the order of their first rows.
        Where no column says who judged, rows of one response that differ have the raters
        ``rater 1``, ``rater 2``, … by order. Texts among an aspect's numbers are skipped, of
        another aspect they are labels; metadata that all rows of a response share are said once.

    Raises:
        ImportFailed: as ``rows`` does; where more than ``MAX_HELD`` rows are of conversations
            that go on later in the table.
    """
    columns = _Columns(mapping, decimal_comma)
    head = _Head()
    try:
        for line, row in rows(Problems(problems.file, is_lenient=problems.is_lenient)):
            head.take(columns, line, row)
    except ImportFailed:
        pass  # the second reading meets the same fault, and tells it
    collection = Collection(problems)
    if columns.is_by_nobody:
        numbered = max(len(head.repeats.raters()), head.listed)
        collection.rater_kinds = {position_rater(at): "anonymous" for at in range(numbered)}
    yield from collection.heads(*head.names())
    yield from _Body(columns, head, collection, problems).records(rows(problems))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A cell that is not empty; ``score`` None: a text."""

    aspect: str
    rater: str
    score: float | None
    text: str
    is_label: bool


class _Columns:
    """What the cells of a row say, by the mapping."""

    def __init__(self, mapping: TableMapping, decimal_comma: bool) -> None:
        self.mapping = mapping
        self.decimal_comma = decimal_comma
        self.one: dict[str, str] = {}
        for name, column in mapping.columns.items():
            self.one.setdefault(column.use, name)
        self.references = mapping.named("reference")
        self.prompts = mapping.named("prompt")
        self.judged = {
            name: column
            for name, column in mapping.columns.items()
            if column.use in ("score", "label")
        }
        self.comments = mapping.named("comment")
        self.of_whole = bool(self.judged) and "context" in self.one and "response" not in self.one
        """Whole conversations are judged."""
        self.is_by_nobody = "rater" not in self.one and not any(
            column.rater for column in self.judged.values()
        )

    def repeated(self, row: Row) -> tuple[str, ...]:
        """What rows about one response have in common beside their conversation."""
        turn = _WHOLE.fullmatch(self.cell(row, "turn").strip())
        return turn[1] if turn else "0", self.system(row), clean_name(self.cell(row, "aspect"))

    def cell(self, row: Row, use: str) -> str:
        name = self.one.get(use)
        return without_guard(row[name]) if name is not None else ""

    def context(self, row: Row) -> tuple[Message, ...]:
        """What stands before the response: the context, then the prompt."""
        if self.of_whole:
            return conversation(self.cell(row, "context"), ASSISTANT)
        return with_prompt(self.cell(row, "context"), self.prompt(row))

    def is_judged(self, row: Row) -> bool:
        """Whether there is something to judge: a response, or a conversation with the
        assistant."""
        if not self.of_whole:
            return "response" in self.one
        return any(map(is_answer, self.context(row)))

    def prompt(self, row: Row) -> str:
        texts = (without_guard(row[name]).strip() for name in self.prompts)
        return "\n\n".join(text for text in texts if text)

    def shared(self, row: Row, line: Where) -> str:
        """What rows of one conversation have in common where it has no id: the context; where no
        system is named, the response, too."""
        keys = [str(line)]
        if "context" in self.one or self.prompts:
            keys = [self.cell(row, "context"), self.prompt(row)]
            keys += [] if "system" in self.one else [self.cell(row, "response")]
        return "\0".join(keys)

    def system(self, row: Row) -> str:
        return clean_name(self.cell(row, "system")) or ASSISTANT

    def judgements(self, row: Row) -> Iterator[_Judged]:
        rater, aspect = (clean_name(self.cell(row, use)) for use in ("rater", "aspect"))
        for name, column in self.judged.items():
            text = without_guard(row[name]).strip()
            is_of_nobody = not column.rater and not rater
            if is_of_nobody and column.use == "score" and (numbers := numbers_in(text)):
                # A list has a score a rater
                for place, number in enumerate(numbers):
                    of = (clean_name(column.aspect) or aspect or OVERALL, position_rater(place))
                    yield _Judged(*of, number, f"{number:g}", is_label=False)
            elif not is_missing(text):
                is_label = column.use == "label"
                yield _Judged(
                    clean_name(column.aspect) or aspect or OVERALL,
                    clean_name(column.rater) or rater or DATASET,
                    None if is_label else number_in(text, self.decimal_comma),
                    text,
                    is_label,
                )

    def comments_of(self, row: Row) -> list[str]:
        texts = (without_guard(row[name]).strip() for name in self.comments)
        return [text for text in texts if text]

    def commenting(self, row: Row, judged: list[_Judged]) -> str:
        return clean_name(self.cell(row, "rater")) or (judged[0].rater if judged else DATASET)

    def metadata(self, row: Row) -> dict[str, Any]:
        return {
            name or "unnamed column": without_guard(text)
            for name, text in row.items()
            if self.mapping.columns.get(name, Column("metadata")).use == "metadata"
            and not is_missing(text)
        }


class _Ids:
    """Ids of conversations. Rows without one are grouped by equal context, or are one each."""

    def __init__(self) -> None:
        self.by_context: dict[bytes, str] = {}

    def of(self, columns: _Columns, row: Row, line: Where) -> str:
        if name := clean_name(columns.cell(row, "conversation")):
            return name
        key = columns.shared(row, line)
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:16]
        return self.by_context.setdefault(digest, str(len(self.by_context) + 1))


class _Repeats:
    """Rows about one response where nothing says who judged. Where two of them differ, each row is
    a rater's, by order; else they tell one score again."""

    def __init__(self) -> None:
        self.first: dict[int, str] = {}
        self.counts: Counter[int] = Counter()
        self.are_of_raters = False

    def note(self, key: tuple[object, ...], judged: list[_Judged]) -> None:
        if len(self.counts) >= MAX_HELD:
            return
        self.counts[hash(key)] += 1
        for one in judged:
            first = self.first.setdefault(hash((*key, one.aspect)), one.text)
            self.are_of_raters |= first != one.text

    def raters(self) -> list[str]:
        return [position_rater(place) for place in range(max(self.counts.values(), default=0))]


class _FirstUse:
    """Names in the order in which a stream that goes conversation by conversation has them."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[int, ...]] = {}

    def note(self, name: str, *place: int) -> None:
        known = self.places.get(name)
        if known is None or place < known:
            self.places[name] = place

    def in_order(self) -> list[str]:
        return sorted(self.places, key=self.places.__getitem__)


class _Head:
    """What the first reading collects."""

    def __init__(self) -> None:
        self.ids = _Ids()
        self.count = 0
        self.index: dict[str, int] = {}
        self.last: list[int] = []
        """By conversation, the number of its last row."""
        self.systems, self.aspects, self.raters = _FirstUse(), _FirstUse(), _FirstUse()
        self.texts: dict[str, _FirstUse] = {}
        """By aspect, who gave a text as its score: labels where nobody gave a number."""
        self.repeats = _Repeats()
        self.has_lone_comment = False
        self.listed = 0
        """How many raters the lists of scores have at most, where other columns name none."""

    def take(self, columns: _Columns, line: Where, row: Row) -> None:
        name = self.ids.of(columns, row, line)
        index = self.index.setdefault(name, len(self.index))
        if index == len(self.last):
            self.last.append(0)
        self.last[index] = self.count
        place, self.count = (index, self.count), self.count + 1
        written = columns.cell(row, "turn")
        is_turn = is_missing(written) or _WHOLE.fullmatch(written.strip())
        if not is_turn or not columns.is_judged(row):
            return
        self.systems.note(columns.system(row), *place)
        judged = list(columns.judgements(row))
        self.listed = max(self.listed, sum(one.rater != DATASET for one in judged))
        if judged and columns.is_by_nobody and all(one.rater == DATASET for one in judged):
            self.repeats.note((index, *columns.repeated(row)), judged)
        for number, one in enumerate(judged):
            if one.score is not None:
                self.aspects.note(one.aspect, *place, number)
                self.raters.note(one.rater, index, 0, self.count, number)
            elif one.is_label:
                self.raters.note(one.rater, index, 2, self.count, number)
            else:
                texts = self.texts.setdefault(one.aspect, _FirstUse())
                texts.note(one.rater, index, 2, self.count, number)
        if columns.comments_of(row):
            self.raters.note(columns.commenting(row, judged), index, 1, self.count)
            self.has_lone_comment |= not judged

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """(aspects, systems, raters)."""
        for aspect, texts in self.texts.items():
            if aspect not in self.aspects.places:
                for rater, place in texts.places.items():
                    self.raters.note(rater, *place)
        raters = self.raters.in_order()
        if self.repeats.are_of_raters:
            raters = self.repeats.raters() + [DATASET] * self.has_lone_comment
        return self.aspects.in_order(), self.systems.in_order(), raters


@dataclass
class _Open:
    """A conversation whose last row was not read yet."""

    one: Conversation
    rows: int = 0
    is_ended: bool = False
    texts: list[tuple[int | None, str, _Judged, Where]] = field(default_factory=list)
    """(turn, system, cell, line)"""
    metadata: dict[tuple[int, str], dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    repeats: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Rows about one response that have no rater."""


class _Body:
    """The second reading."""

    def __init__(
        self, columns: _Columns, head: _Head, collection: Collection, problems: Problems
    ) -> None:
        self.columns = columns
        self.head = head
        self.collection = collection
        self.problems = problems
        self.open: dict[int, _Open] = {}
        self.held = 0

    def records(self, rows: Iterator[tuple[Where, Row]]) -> Iterator[Placed]:
        ids, next_index = _Ids(), 0
        for number, (line, row) in enumerate(rows):
            name = ids.of(self.columns, row, line)
            index = self.head.index.get(name)
            if index is None or number > self.head.last[index]:
                self.problems.stop(line, "", "was not there before: the file changed meanwhile")
            entry = self.open.get(index)
            if entry is None:
                entry = self.open[index] = _Open(self.collection.conversation(name, line))
            entry.rows += 1
            self.held += 1
            if self.held > MAX_HELD:
                message = (
                    f"more than {MAX_HELD:,} rows are of conversations that go on later; sort the "
                    "table by conversation"
                )
                self.problems.stop(line, "", message)
            self._take(entry, line, row)
            entry.is_ended = number == self.head.last[index]
            while next_index in self.open and self.open[next_index].is_ended:
                yield from self._ended(self.open.pop(next_index))
                next_index += 1
        for index in sorted(self.open):
            yield from self._ended(self.open.pop(index))

    def _take(self, entry: _Open, line: Where, row: Row) -> None:
        columns, one = self.columns, entry.one
        written = columns.cell(row, "turn")
        number = 0 if is_missing(written) else turn_number(written, line, self.problems)
        if number is None:
            return
        if columns.of_whole:
            self._take_whole(entry, line, row)
            return
        one.turn(number, line, columns.context(row))
        for name in columns.references:
            for reference in _listed(without_guard(row[name])):
                one.turn(number, line, reference=reference)
        if persona := _listed(columns.cell(row, "persona")):
            one.persona = persona
        metadata = columns.metadata(row)
        if "response" not in columns.one:
            one.metadata.update(metadata)
            return
        system = columns.system(row)
        one.response(number, system, columns.cell(row, "response").strip(), line)
        self._judge(entry, number, system, line, row)
        by_key = entry.metadata.setdefault((number, system), {})
        rater = clean_name(columns.cell(row, "rater"))
        for key, value in metadata.items():
            values = by_key.setdefault(key, {}).setdefault(rater, [])
            if value not in values:
                values.append(value)

    def _take_whole(self, entry: _Open, line: Where, row: Row) -> None:
        """A row that judges a system's whole conversation, which it repeats."""
        columns, one = self.columns, entry.one
        messages, system = columns.context(row), columns.system(row)
        one.metadata |= columns.metadata(row)
        if not one.messages:
            one.messages = messages
            add_log(one, system, line)
        elif one.messages != messages:
            self.problems.add(line, columns.one["context"], f"is another one than at {one.where}")
        if columns.is_judged(row):
            self._judge(entry, None, system, line, row)

    def _judge(self, entry: _Open, number: int | None, system: str, line: Where, row: Row) -> None:
        judged = list(self.columns.judgements(row))
        is_of_nobody = all(one.rater == DATASET for one in judged)
        if judged and is_of_nobody and self.head.repeats.are_of_raters:
            response = self.columns.repeated(row)
            rater = position_rater(entry.repeats[response])
            entry.repeats[response] += 1
            judged = [replace(cell, rater=rater) for cell in judged]
        for cell in judged:
            if cell.score is not None:
                entry.one.rate(number, system, cell.rater, cell.aspect, cell.score, line)
            else:
                entry.texts.append((number, system, cell, line))
        aspect = clean_name(self.columns.cell(row, "aspect")) or OVERALL
        for text in self.columns.comments_of(row):
            rater = self.columns.commenting(row, judged)
            key = (system, number, rater, aspect)
            place, rating = entry.one.ratings.get(key, (0, None))
            if rating is not None and place == line and not rating.comment:
                entry.one.ratings[key] = (line, replace(rating, comment=text))
            else:
                entry.one.comment(number, system, rater, text, line)

    def _ended(self, entry: _Open) -> Iterator[Placed]:
        one = entry.one
        for number, system, cell, line in entry.texts:
            if not cell.is_label and cell.aspect in self.head.aspects.places:
                self.problems.skip(line, cell.aspect, f"is no number: {cell.text[:50]!r}")
            else:
                one.label(number, system, cell.rater, cell.aspect, cell.text, line)
        for (number, system), by_key in entry.metadata.items():
            one.describe(
                number, system, {key: _shared(by_rater) for key, by_rater in by_key.items()}
            )
        self.held -= entry.rows
        yield from self.collection.given(one)


def _shared(by_rater: Mapping[str, list[str]]) -> Any:
    """One value where all rows have the same, else the values by rater."""
    distinct = {value for values in by_rater.values() for value in values}
    if len(distinct) == 1:
        return distinct.pop()
    of_each = {rater: one[0] if len(one) == 1 else one for rater, one in by_rater.items()}
    return of_each[""] if len(of_each) == 1 and "" in of_each else of_each


def _listed(text: str) -> tuple[str, ...]:
    """The texts of a cell: a JSON list of them, or one."""
    if text.lstrip().startswith("["):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = python_list(text)
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            return tuple(value for value in values if value.strip())
    return (text.strip(),) if text.strip() else ()
