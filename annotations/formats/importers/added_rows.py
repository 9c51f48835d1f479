"""Rows of a table about what a corpus holds already: what each names, and what it says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.column_mapping import Column, TableMapping, guess_mapping
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.table import FIRST_ROWS
from annotations.formats.importers.table_reader import turn_number
from annotations.formats.importers.table_source import is_missing, number_in, open_table
from common.tables.csv_text import without_guard


@dataclass(frozen=True, slots=True)
class Judgement:
    """One cell.

    Attributes:
        aspect: of the score, or question of the label; "" where the table names none.
        rater: who says it; "" where the table names nobody.
        score: the number; None where the cell holds a text, or is a label's.
        text: of the cell.
    """

    aspect: str
    rater: str
    score: float | None
    text: str


@dataclass(frozen=True, slots=True)
class AddedRow:
    """One row.

    Attributes:
        line: in the file.
        conversation: its id.
        turn: number; None where the row names none.
        system: name; "" where the row names none.
        response: the text; None where the table has no such column, or the cell is empty in a row
            with judgements.
        rater: of the row.
        judgements: cells that are not empty.
        comments: likewise.
        metadata: of a new response.
    """

    line: Where
    conversation: str
    turn: int | None
    system: str
    response: str | None
    rater: str
    judgements: tuple[Judgement, ...]
    comments: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AddedTable:
    """A table whose columns are known.

    Attributes:
        mapping: what each column is.
        names_turns: it has a column of turns.
        rows: iterator over the rows.
    """

    mapping: TableMapping
    names_turns: bool
    rows: Iterator[AddedRow]


def added_table(path: Path, problems: Problems, mapping: TableMapping | None = None) -> AddedTable:
    """Open a table of additions.

    Args:
        path: CSV, TSV, XLSX or JSON rows.
        problems: collects faults.
        mapping: what each column is; None to guess it.

    Returns:
        The table; its rows are read as they are asked for. ``context``, ``reference`` and
        ``persona`` are passed over: the corpus has them.

    Raises:
        ImportFailed: as in ``open_table``; where the mapping cannot be used or names a column that
            the table does not have.
    """
    table = open_table(path, problems, mapping.heading_line if mapping else 0)
    rows = table.rows
    if mapping is None:
        first = list(islice(rows, FIRST_ROWS))
        guess = guess_mapping(table.heading, [cells for _, cells in first])
        mapping = replace(guess, heading_line=table.heading_line)
        rows = chain(first, rows)
    if fault := mapping.fault(to_add=True):
        problems.stop(table.heading_line or "", "", fault)
    if missing := [name for name in mapping.columns if name not in table.heading]:
        found = ", ".join(table.heading)[:200]
        problems.stop(table.heading_line, "", f"has no column {missing[0]!r}; found {found}")
    read = _rows(mapping, table.heading, rows, table.has_decimal_comma, problems)
    return AddedTable(mapping, bool(mapping.named("turn")), read)


def _rows(
    mapping: TableMapping,
    heading: tuple[str, ...],
    rows: Iterator[tuple[Where, list[str]]],
    decimal_comma: bool,
    problems: Problems,
) -> Iterator[AddedRow]:
    one = {column.use: name for name, column in reversed(list(mapping.columns.items()))}
    judged = {
        name: column for name, column in mapping.columns.items() if column.use in ("score", "label")
    }
    of_responses = [
        name for name in heading if mapping.columns.get(name, Column("metadata")).use == "metadata"
    ]
    for line, cells in rows:
        row = dict(zip(heading, map(without_guard, cells), strict=True))
        by_use = {
            use: row[one[use]] if use in one else ""
            for use in ("conversation", "turn", "system", "response", "rater", "aspect")
        }
        conversation = clean_name(by_use["conversation"])
        if not conversation and "conversation" in one:
            problems.add(line, one["conversation"], "is empty")
            continue
        turn = None if is_missing(by_use["turn"]) else turn_number(by_use["turn"], line, problems)
        if turn is None and not is_missing(by_use["turn"]):
            continue
        judgements = tuple(
            Judgement(
                clean_name(column.aspect) or clean_name(by_use["aspect"]),
                clean_name(column.rater) or clean_name(by_use["rater"]),
                number_in(row[name], decimal_comma) if column.use == "score" else None,
                row[name].strip(),
            )
            for name, column in judged.items()
            if not is_missing(row[name])
        )
        comments = tuple(
            row[name].strip() for name in mapping.named("comment") if row[name].strip()
        )
        response = by_use["response"].strip() if "response" in one else None
        yield AddedRow(
            line,
            conversation,
            turn,
            clean_name(by_use["system"]),
            None if not response and (judgements or comments) else response,
            clean_name(by_use["rater"]),
            judgements,
            comments,
            {name: row[name] for name in of_responses if name and not is_missing(row[name])},
        )
