"""Batches of Mechanical Turk, as the requester downloads them ("Download results")."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import Collection, clean_name
from annotations.formats.importers.column_mapping import Column, TableMapping, guess_mapping
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table import TableReader
from annotations.formats.importers.table_source import is_missing, number_in, open_table

INPUT, ANSWER = "Input.", "Answer."
_OF_THE_HIT = frozenset(
    [
        *("HITTypeId", "Title", "Description", "Keywords", "Reward", "MaxAssignments"),
        *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds"),
        *("NumberOfSimilarHITs", "LifetimeInSeconds", "Expiration", "CreationTime"),
    ]
)
"""The same for the whole batch, and no property of a response."""
_BREAK = re.compile(r"<\s*(?:br|/p|/div)\s*/?\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:p|div|b|i|em|strong|span|u)(?:\s[^<>]*)?>", re.IGNORECASE)
_BOOLEANS = ("true", "false")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a batch.

    Args:
        path: table with ``WorkerId``, ``Input.*`` and ``Answer.*``.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. ``Input.NAME`` is what a table's column NAME would be, with HTML as
        plain text; ``Answer.NAME`` a score of NAME where numbers stand in it, else a comment; a
        group ``Answer.NAME.OPTION`` of true and false the label OPTION of NAME. Rejected
        assignments are skipped; the worker's id is the rater.

    Raises:
        ImportFailed: as in ``open_table``, and where no input is a response.
    """
    table = open_table(path, problems)
    rows = list(table.rows)
    inputs = {name: name[len(INPUT) :] for name in table.heading if name.startswith(INPUT)}
    answers = [name for name in table.heading if name.startswith(ANSWER)]
    columns = {
        name: column
        for name, column in guess_mapping(tuple(inputs.values()), []).columns.items()
        if column.use != "score"
    }
    cells = {name: [row[place] for _, row in rows] for place, name in enumerate(table.heading)}
    groups = _option_groups(answers, cells)
    for name in answers:
        if name not in groups:
            short = name[len(ANSWER) :]
            is_score = any(number_in(cell) is not None for cell in cells[name])
            columns[name] = Column("score", short) if is_score else Column("comment")
    for aspect in groups.values():
        columns[ANSWER + aspect] = Column("label", aspect)
    columns["WorkerId"] = Column("rater")
    mapping = TableMapping(columns, table.heading_line)
    if fault := mapping.fault():
        problems.stop(table.heading_line, "", f"of the columns Input.*: {fault}")
    collection = Collection(problems)
    reader = TableReader(mapping, collection, True, problems)
    for line, values in rows:
        row = dict(zip(table.heading, values, strict=True))
        if row.get("AssignmentStatus", "").strip().casefold() == "rejected":
            problems.skip(line, "AssignmentStatus", "is Rejected")
            continue
        taken = {short: _plain_text(row[name]) for name, short in inputs.items()}
        taken |= {name: row[name] for name in answers if name not in groups}
        taken |= {ANSWER + aspect: "" for aspect in groups.values()}
        for name, aspect in groups.items():
            if row[name].strip().casefold() == "true":
                taken[ANSWER + aspect] = name.rpartition(".")[2]
        taken |= {
            name: text
            for name, text in row.items()
            if name not in inputs and name not in answers and name not in _OF_THE_HIT
        }
        if not clean_name(row.get("WorkerId")):
            problems.add(line, "WorkerId", "is empty")
            continue
        reader.take(line, taken)
    reader.finish()
    yield from collection.records()


def _option_groups(answers: Sequence[str], cells: dict[str, list[str]]) -> dict[str, str]:
    """By heading of a radio button's option, the question."""
    groups: dict[str, str] = {}
    for name in answers:
        question, dot, _ = name[len(ANSWER) :].rpartition(".")
        present = [cell.strip().casefold() for cell in cells[name] if not is_missing(cell)]
        if dot and present and all(cell in _BOOLEANS for cell in present):
            groups[name] = question
    return groups


def _plain_text(text: str) -> str:
    return (
        html.unescape(_TAG.sub("", _BREAK.sub("\n", text))) if "<" in text or "&" in text else text
    )


def _detect(sample: FileSample) -> float:
    has_inputs = any(name.startswith(INPUT) for name in sample.keys)
    return 0.95 if has_inputs and {"HITId", "WorkerId"} <= sample.keys else 0.0


_DESCRIPTION = """\
What a requester of Mechanical Turk downloads as results: `Input.dialog_id`, `Input.system`,
`Input.context`, `Input.response` and the like, `Answer.NAME` for each question."""
_EXAMPLE = (
    '"HITId","WorkerId","AssignmentStatus","Input.dialog_id","Input.context","Input.response",'
    '"Input.system","Answer.overall"\n'
    '"H1","W1","Approved","cafe-1","User: What is in the pot?<br>Bot: ","Leeks.","cook","4"\n'
)

IMPORTER = Importer(
    name="mturk",
    summary="a batch of Mechanical Turk (results as CSV)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
