"""Tables of ratings and responses as people make them (CSV, TSV, XLSX, Parquet, JSON rows), long or
wide: with the mapping of columns that is given, else with the one that is guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.column_mapping import TableMapping, guess_mapping
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import conversation
from annotations.formats.importers.table_reader import records_of_table
from annotations.formats.importers.table_source import open_table
from annotations.formats.records import ASSISTANT

FIRST_ROWS = 200
"""Rows that a guess looks at."""


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
        Iterator over records, each with its line (``records_of_table``). Rows without a
        conversation's id are grouped by equal context, or are one conversation each.

    Raises:
        ImportFailed: as in ``open_table`` and ``records_of_table``; where the mapping cannot be
            used or names a column that the table does not have.
    """
    known = mapping or mapping_of(path, Problems(path.name))[0]
    if fault := known.fault():
        problems.stop(known.heading_line or "", "", fault)
    table = open_table(path, problems, known.heading_line)
    if missing := [name for name in known.columns if name not in table.heading]:
        found = ", ".join(table.heading)[:200]
        problems.stop(table.heading_line, "", f"has no column {missing[0]!r}; found {found}")
    heading_line = table.heading_line

    def rows(noting: Problems) -> Iterator[tuple[Where, dict[str, str]]]:
        again = open_table(path, noting, heading_line)
        for line, cells in again.rows:
            yield line, dict(zip(again.heading, cells, strict=True))

    yield from records_of_table(rows, known, table.has_decimal_comma, problems)


def with_mapping(mapping: TableMapping) -> Importer:
    """The importer of tables with a mapping that is given.

    Args:
        mapping: what each column is.

    Returns:
        A new importer of the same name.
    """
    return replace(IMPORTER, stream=partial(stream, mapping=mapping))


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    guess = guess_mapping(sorted(sample.keys), [])
    uses = {column.use for column in guess.columns.values()}
    nested = {
        guess.columns[name].use
        for name, value in sample.record.items()
        if isinstance(value, dict | list) and name in guess.columns
    }
    if "response" not in uses:
        return 0.35 if _judges_conversations(sample) else 0.0
    if nested & {"response", "score"}:
        return 0.0
    if nested and sample.kind != "table":
        return 0.35 if uses & {"context", "prompt", "score"} else 0.0
    known = len(uses & {"conversation", "system", "context", "prompt", "rater", "score", "turn"})
    return min(0.4 + 0.1 * known, 0.8) if known else 0.0


def _judges_conversations(sample: FileSample) -> bool:
    """Whether a column has conversations with the assistant, and another one scores or labels."""
    heading, *rows = sample.cells or ((),)
    if sample.kind != "table":
        heading = tuple(sample.record)
        records = [one for one in sample.records if isinstance(one, dict)]
        rows = [tuple(str(one.get(key, "")) for key in heading) for one in records]
    rows = [row for row in rows if len(row) == len(heading)]
    guess = guess_mapping(heading, rows)
    return bool(guess.named("score") or guess.named("label")) and any(
        message.role == ASSISTANT
        for name in guess.named("context")
        for row in rows
        for message in conversation(row[heading.index(name)])
    )


_DESCRIPTION = """\
One row a rating (a column `score`) or one row a response (a column a rater or an aspect). Where
nothing says who judged, several rows of a response have the raters `rater 1`, `rater 2`, … by their
order, and so has a list of scores in a cell (`[4, 5]`); rows that all say the same are one score,
of the rater `dataset`. Without a column of
responses the whole conversation is judged that stands in the `context`. Columns are known by their
names, or by a mapping; all others are kept as metadata of the response. Titles above the headings,
empty rows, `;` or tabs between cells, decimal commas, UTF-16 and Windows-1252 are taken."""
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
    takes_pieces=True,
)
