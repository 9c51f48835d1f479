"""A study on Prolific: the demographic export and a table of answers, joined by submission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.column_mapping import Column, guess_mapping
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table import FIRST_ROWS
from annotations.formats.importers.table_reader import records_of_table
from annotations.formats.importers.table_source import headings, open_table, read_rows

_EXPORT = frozenset(("Submission id", "Participant id", "Status"))
_PERSON, _SUBMISSION = "PROLIFIC_PID", "SESSION_ID"
_COUNTED = frozenset(("APPROVED", "AWAITING REVIEW", "PARTIALLY APPROVED"))


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a study.

    Args:
        path: folder with the demographic export and a table with ``PROLIFIC_PID`` and
            ``SESSION_ID``.
        _part: ignored, the folder holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Answers of submissions that were returned, rejected, timed out or
        that the export does not know are skipped. Demographics stay out: they are about people.

    Raises:
        ImportFailed: as in ``open_table``, and where one of the two tables is missing.
    """
    export = answers = None
    for file in sorted(path.glob("*.csv")):
        names = set(headings(file))
        if names >= _EXPORT:
            export = file
        elif _PERSON in names:
            answers = file
    if export is None or answers is None:
        problems.stop("", "", f"needs Prolific's export and a table with {_PERSON}")
    of_export = problems_of(problems, path, export)
    status = {row["Submission id"]: row["Status"] for _, row in read_rows(export, of_export)}
    table = open_table(answers, problems_of(problems, path, answers))
    first = [cells for _, cells in islice(table.rows, FIRST_ROWS)]
    guess = guess_mapping(table.heading, first)
    mapping = replace(guess, columns=dict(guess.columns) | {_PERSON: Column("rater")})
    if fault := mapping.fault():
        problems.stop(answers.name, "", fault)

    def rows(noting: Problems) -> Iterator[tuple[Where, dict[str, str]]]:
        own = problems_of(noting, path, answers)
        for line, cells in open_table(answers, own, table.heading_line).rows:
            where = f"{answers.name}:{line}"
            row = dict(zip(table.heading, cells, strict=True))
            found = status.get(row.get(_SUBMISSION, "").strip(), "not in the export")
            if found.upper() in _COUNTED:
                yield where, row
            else:
                noting.skip(where, _SUBMISSION, f"does not count: {found}")

    yield from records_of_table(rows, mapping, table.has_decimal_comma, problems)


def _detect(sample: FileSample) -> float:
    if sample.kind != "folder":
        return 0.0
    tables = [sample.member(name).keys for name in sample.members[:10] if name.endswith(".csv")]
    is_export = any(keys >= _EXPORT for keys in tables)
    return 0.95 if is_export and any(_PERSON in keys for keys in tables) else 0.0


_DESCRIPTION = """\
A folder (or zip file) with Prolific's demographic export and the table of your survey:
`PROLIFIC_PID`, `SESSION_ID`, `dialog_id`, `system`, `response` and a column an aspect."""

IMPORTER = Importer(
    name="prolific",
    summary="a study on Prolific: its export and a table of answers (folder or zip)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
)
