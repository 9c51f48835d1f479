"""Tables of ratings and responses as people make them (CSV, TSV, XLSX, Parquet, JSON rows), long or
wide: with the mapping of columns that is given, else with the one that is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    ASSISTANT,
    DATASET,
    OVERALL,
    Collection,
    Conversation,
    clean_name,
)
from annotations.formats.importers.column_mapping import Column, TableMapping, guess_mapping
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import conversation
from annotations.formats.importers.table_source import is_missing, number_in, open_table
from common.tables.csv_text import without_guard

FIRST_ROWS = 200
"""Rows that a guess looks at."""
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,8})(?:[.,]0+)?")


def mapping_of(path: Path, problems: Problems) -> tuple[TableMapping, list[list[str]]]:
    """Guess the mapping of a table.

    Args:
        path: CSV, TSV, XLSX, Parquet, Arrow or JSON rows.
        problems: collects faults.

    Returns:
        The mapping and the first rows that it was guessed from.

    Raises:
        ImportFailed: as in ``open_table``.
    """
    table = open_table(path, problems)
    rows = [cells for _, cells in islice(table.rows, FIRST_ROWS)]
    guess = guess_mapping(table.heading, rows)
    return replace(guess, heading_line=table.heading_line), rows


def stream(
    path: Path, _part: str, problems: Problems, mapping: TableMapping | None = None
) -> Iterator[Placed]:
    """Read a table.

    Args:
        path: CSV, TSV, XLSX or JSON rows.
        _part: ignored, the file holds one corpus.
        problems: collects faults.
        mapping: what each column is; None to guess it.

    Returns:
        Iterator over records, each with its line; none comes before the whole file is read. Rows
        without a conversation's id are grouped by equal context, or are one conversation each.

    Raises:
        ImportFailed: as in ``open_table``; where the mapping cannot be used or names a column that
            the table does not have.
    """
    known = mapping or mapping_of(path, Problems(path.name))[0]
    if fault := known.fault():
        problems.stop(known.heading_line or "", "", fault)
    table = open_table(path, problems, known.heading_line)
    if missing := [name for name in known.columns if name not in table.heading]:
        found = ", ".join(table.heading)[:200]
        problems.stop(table.heading_line, "", f"has no column {missing[0]!r}; found {found}")
    reader = TableReader(known, Collection(problems), table.has_decimal_comma, problems)
    for line, cells in table.rows:
        reader.take(line, dict(zip(table.heading, cells, strict=True)))
    reader.finish()
    yield from reader.corpus.records()


def turn_number(written: str, line: int, problems: Problems) -> int | None:
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


class TableReader:
    """Takes rows one by one into a collection, as a mapping says; then ``finish``."""

    def __init__(
        self, mapping: TableMapping, corpus: Collection, decimal_comma: bool, problems: Problems
    ) -> None:
        self.corpus = corpus
        self.problems = problems
        self.decimal_comma = decimal_comma
        self.one: dict[str, str] = {}
        for name, column in mapping.columns.items():
            self.one.setdefault(column.use, name)
        self.references = mapping.named("reference")
        self.judged = {
            name: column
            for name, column in mapping.columns.items()
            if column.use in ("score", "label")
        }
        self.comments = mapping.named("comment")
        self.by_context: dict[str, str] = {}
        self.mapping = mapping
        self.texts: list[tuple[Conversation, int, str, str, str, str, int, str]] = []
        self.numeric: set[str] = set()
        self.metadata: dict[tuple[str, int, str], dict[str, dict[str, list[str]]]] = {}

    def cell(self, row: Mapping[str, str], use: str) -> str:
        name = self.one.get(use)
        return without_guard(row[name]) if name is not None else ""

    def take(self, line: int, row: Mapping[str, str]) -> None:
        context = self.cell(row, "context")
        one = self.corpus.conversation(self._conversation_id(row, context, line), line)
        written = self.cell(row, "turn")
        number = 0 if is_missing(written) else turn_number(written, line, self.problems)
        if number is None:
            return
        one.turn(number, line, conversation(context) if context.strip() else ())
        for name in self.references:
            for reference in _listed(without_guard(row[name])):
                one.turn(number, line, reference=reference)
        if persona := _listed(self.cell(row, "persona")):
            one.persona = persona
        metadata = self._metadata(row)
        if "response" not in self.one:
            one.metadata.update(metadata)
            return
        system = clean_name(self.cell(row, "system")) or ASSISTANT
        one.response(number, system, self.cell(row, "response").strip(), line)
        rater = clean_name(self.cell(row, "rater"))
        self._judge(one, number, system, rater, line, row)
        self._keep(one, number, system, rater, metadata)

    def _conversation_id(self, row: Mapping[str, str], context: str, line: int) -> str:
        if name := clean_name(self.cell(row, "conversation")):
            return name
        key = context if "context" in self.one else str(line)
        return self.by_context.setdefault(key, str(len(self.by_context) + 1))

    def _judge(
        self,
        one: Conversation,
        number: int,
        system: str,
        rater: str,
        line: int,
        row: Mapping[str, str],
    ) -> None:
        named_aspect = clean_name(self.cell(row, "aspect"))
        raters: dict[str, None] = {}
        for name, column in self.judged.items():
            text = without_guard(row[name]).strip()
            who = clean_name(column.rater) or rater or DATASET
            aspect = clean_name(column.aspect) or named_aspect or OVERALL
            if is_missing(text):
                continue
            raters.setdefault(who)
            score = number_in(text, self.decimal_comma) if column.use == "score" else None
            if score is not None:
                self.numeric.add(aspect)
                one.rate(number, system, who, aspect, score, line)
            else:
                self.texts.append((one, number, system, who, aspect, text, line, column.use))
        for name in self.comments:
            if text := without_guard(row[name]).strip():
                who = rater or next(iter(raters), DATASET)
                self._comment(one, number, system, who, named_aspect, text, line)

    def _comment(
        self,
        one: Conversation,
        number: int,
        system: str,
        rater: str,
        aspect: str,
        text: str,
        line: int,
    ) -> None:
        key = (system, number, rater, aspect or OVERALL)
        place, rating = one.ratings.get(key, (0, None))
        if rating is not None and place == line and not rating.comment:
            one.ratings[key] = (line, replace(rating, comment=text))
        else:
            one.comment(number, system, rater, text, line)

    def finish(self) -> None:
        """After the last row. Texts among an aspect's numbers do not count, of another aspect they
        are labels; metadata that all rows of a response share are said once."""
        for one, number, system, rater, aspect, text, line, use in self.texts:
            if use == "score" and aspect in self.numeric:
                self.problems.skip(line, aspect, f"is no number: {text[:50]!r}")
            else:
                one.label(number, system, rater, aspect, text, line)
        for (dialogue, number, system), by_key in self.metadata.items():
            metadata = {key: _shared(by_rater) for key, by_rater in by_key.items()}
            self.corpus.conversations[dialogue].describe(number, system, metadata)

    def _metadata(self, row: Mapping[str, str]) -> dict[str, Any]:
        return {
            name or "unnamed column": without_guard(text)
            for name, text in row.items()
            if self.mapping.columns.get(name, Column("metadata")).use == "metadata"
            and not is_missing(text)
        }

    def _keep(
        self,
        one: Conversation,
        number: int,
        system: str,
        rater: str,
        metadata: dict[str, Any],
    ) -> None:
        by_key = self.metadata.setdefault((one.id, number, system), {})
        for key, value in metadata.items():
            values = by_key.setdefault(key, {}).setdefault(rater, [])
            if value not in values:
                values.append(value)


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
            values = None
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            return tuple(value for value in values if value.strip())
    return (text.strip(),) if text.strip() else ()


def with_mapping(mapping: TableMapping) -> Importer:
    """The importer of tables with a mapping that is given.

    Args:
        mapping: what each column is.

    Returns:
        A new importer of the same name.
    """
    return replace(IMPORTER, stream=partial(stream, mapping=mapping))


def _detect(sample: FileSample) -> float:
    if sample.kind not in ("table", "rows", "json lines", "json array"):
        return 0.0
    if sample.kind != "table" and any(
        isinstance(value, dict | list) for value in sample.record.values()
    ):
        return 0.0
    guess = guess_mapping(sorted(sample.keys), [])
    uses = {column.use for column in guess.columns.values()}
    if "response" not in uses:
        return 0.0
    known = len(uses & {"conversation", "system", "context", "rater", "score", "turn"})
    return min(0.4 + 0.1 * known, 0.8) if known else 0.0


_DESCRIPTION = """\
One row a rating (a column `score`) or one row a response (a column a rater or an aspect). Columns
are known by their names, or by a mapping; all others are kept as metadata of the response. Titles
above the headings, empty rows, `;` or tabs between cells, decimal commas, UTF-16 and Windows-1252
are taken."""
_EXAMPLE = """\
dialog_id,turn,system,context,response,rater,aspect,score
cafe-1,1,cook,"User: What is in the pot?",Leeks.,ann,overall,4
cafe-1,1,cook,"User: What is in the pot?",Leeks.,bob,overall,5
"""

IMPORTER = Importer(
    name="table",
    summary="a table (CSV, TSV, XLSX, Parquet): one rating or one response a row",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
