"""Answers to a survey of Qualtrics (CSV with three heading rows), with a table of its loops."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import Collection, clean_name
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.survey_items import TABLES, is_items, item_of, survey_files
from annotations.formats.importers.table_source import is_missing, number_in, read_rows

_RATER, _STATUS, _CHANNEL = "ResponseId", "Status", "DistributionChannel"
_VISIT_FIELDS = (
    "StartDate",
    "EndDate",
    "Progress",
    "Duration (in seconds)",
    "Finished",
    "UserLanguage",
)
"""Of the columns about a person's visit; addresses, places and names are not read."""
_OF_THE_VISIT = frozenset(
    [
        *(
            _RATER,
            _STATUS,
            _CHANNEL,
            *_VISIT_FIELDS,
            "RecordedDate",
            "IPAddress",
            "RecipientLastName",
        ),
        *("RecipientFirstName", "RecipientEmail", "ExternalReference", "LocationLatitude"),
        *("LocationLongitude", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    ]
)


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a survey's answers.

    Args:
        path: folder with the answers and a table of items (``survey_items``), whose first column
            has the number of a loop, or the name of a column.
        _part: ignored, the folder holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. A column ``1_Q2`` is question Q2 about the item of loop 1: a score
        where its answers begin with numbers ("7 - Excellent"), a comment where they are entered
        text, else a label. Previews are skipped; unfinished answers count.

    Raises:
        ImportFailed: as in ``survey_files``.
    """
    collection = Collection(problems)
    files = survey_files(path, collection, problems)
    imports, imports_row, numeric = _questions(files.answers, problems)
    first = next(iter(files.items.values()), None)
    own = problems_of(problems, path, files.answers)
    for number, (place, row) in enumerate(read_rows(files.answers, own)):
        line = f"{own.file}:{place}"
        if number <= imports_row:
            continue
        if "preview" in f"{row.get(_STATUS, '')} {row.get(_CHANNEL, '')}".casefold():
            problems.skip(line, _STATUS, "is a preview")
            continue
        rater = clean_name(row.get(_RATER)) or f"row {place}"
        remarks = []
        for name in imports:
            text = row[name].strip()
            item = item_of(name, files.items)
            if is_missing(text):
                continue
            if item is None or imports[name].rstrip('"}').endswith("_TEXT"):
                remarks.append((item or first, text))
                continue
            question = name.removeprefix(f"{item.key}_")
            score = number_in(text) if name in numeric else None
            if score is not None:
                item.of.rate(item.turn, item.system, rater, question, score, line)
            elif name in numeric:
                problems.skip(line, name, f"is no number: {text[:50]!r}")
            else:
                item.of.label(item.turn, item.system, rater, question, text, line)
        for item, text in remarks:
            if item is not None:
                item.of.comment(item.turn, item.system, rater, text, line)
        visit = {name: row[name] for name in _VISIT_FIELDS if row.get(name, "").strip()}
        for one in {id(item.of): item.of for item in files.items.values()}.values():
            one.metadata.setdefault("answers", {})[rater] = visit
    yield from collection.records()


def _questions(path: Path, problems: Problems) -> tuple[dict[str, str], int, set[str]]:
    """(import id by question, index of their row, questions in whose answers numbers stand)."""
    imports: dict[str, str] = {}
    imports_row = 0
    numeric: set[str] = set()
    for number, (_, row) in enumerate(read_rows(path, Problems(path.name))):
        if imports:
            for name in imports.keys() - numeric:
                is_typed = imports[name].rstrip('"}').endswith("_TEXT")
                if not is_typed and number_in(row[name]) is not None:
                    numeric.add(name)
        elif number < 3 and _is_imports(row.values()):
            imports = {name: one for name, one in row.items() if name not in _OF_THE_VISIT}
            imports_row = number
    if not imports:
        problems.stop(path.name, "", "has no row of import ids, as Qualtrics writes it")
    return imports, imports_row, numeric


def _is_imports(cells: Sequence[str] | object) -> bool:
    for cell in cells if not isinstance(cells, str) else ():  # type: ignore[attr-defined]
        try:
            if not isinstance(json.loads(cell), dict):
                return False
        except (ValueError, RecursionError):
            return False
    return True


def _detect(sample: FileSample) -> float:
    if sample.kind != "folder":
        return 0.0
    tables = [sample.member(name) for name in sample.members[:10] if name.endswith(TABLES)]
    is_survey = any("ImportId" in cell for one in tables for row in one.cells for cell in row)
    return 0.95 if is_survey and any(is_items(table.keys) for table in tables) else 0.0


_DESCRIPTION = """\
A folder (or zip file) with the answers as CSV, with Qualtrics's three heading rows, and a table of
items: its first column has the number of the loop (or the name of the column), then `dialog_id`,
`turn`, `system`, `context`, `response`."""

IMPORTER = Importer(
    name="qualtrics",
    summary="answers to a survey of Qualtrics, with a table of items (folder or zip)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
)
