"""Batches of Mechanical Turk, as the requester downloads them ("Download results")."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import parsed_json
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.column_mapping import Column, TableMapping, guess_mapping
from annotations.formats.importers.numbered_turns import UtteranceColumns
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_reader import records_of_table
from annotations.formats.importers.table_source import Table, is_missing, number_in, open_table

INPUT, ANSWER = "Input.", "Answer."
_TASK = "Answer.taskAnswers"
_OF_THE_HIT = frozenset(
    [
        *("HITTypeId", "Title", "Description", "Keywords", "Reward", "MaxAssignments"),
        *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds"),
        *("NumberOfSimilarHITs", "LifetimeInSeconds", "Expiration", "CreationTime"),
    ]
)
"""The same for the whole batch, and no property of a response."""
_CONVERSATION = "conversation of Input.*"
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
        group ``Answer.NAME.OPTION`` of true and false the label OPTION of NAME, or its score where
        all options are numbers. Rejected assignments are skipped; the worker's id is the rater.

    Raises:
        ImportFailed: as in ``open_table``, and where no input is a response.
    """
    table = _opened(path, problems)
    inputs = {name: name[len(INPUT) :] for name in table.heading if name.startswith(INPUT)}
    answers = [name for name in table.heading if name.startswith(ANSWER)]
    columns = {
        name: column
        for name, column in guess_mapping(tuple(inputs.values()), []).columns.items()
        if column.use != "score"
    }
    scores, booleans = _kinds_of_answers(table, answers)
    groups = {name: name[len(ANSWER) :].rpartition(".")[0] for name in booleans}
    for name in answers:
        if name not in groups:
            short = name[len(ANSWER) :]
            columns[name] = Column("score", short) if name in scores else Column("comment")
    for aspect in groups.values():
        options = [name.rpartition(".")[2] for name in groups if groups[name] == aspect]
        is_scale = all(number_in(option) is not None for option in options)
        columns[ANSWER + aspect] = Column("score" if is_scale else "label", aspect)
    columns["WorkerId"] = Column("rater")
    mapping = TableMapping(columns, table.heading_line)
    numbered = UtteranceColumns.of(tuple(inputs.values())) if mapping.fault() else None
    if numbered is not None and numbered.utterances[0][1]:
        keys = {key for key, _, _ in numbered.utterances}
        columns = {name: column for name, column in columns.items() if name not in keys}
        mapping = TableMapping({**columns, _CONVERSATION: Column("context")}, table.heading_line)
    if fault := mapping.fault():
        problems.stop(table.heading_line, "", f"of the columns Input.*: {fault}")

    def rows(noting: Problems) -> Iterator[tuple[Where, dict[str, str]]]:
        for line, values in _opened(path, noting, table).rows:
            row = dict(zip(table.heading, values, strict=True))
            if row.get("AssignmentStatus", "").strip().casefold() == "rejected":
                noting.skip(line, "AssignmentStatus", "is Rejected")
                continue
            taken = {short: _plain_text(row[name]) for name, short in inputs.items()}
            if numbered is not None:
                chat = [(role, taken.pop(key)) for key, role, _ in numbered.utterances]
                messages = [{"role": role, "content": text} for role, text in chat if text.strip()]
                taken[_CONVERSATION] = json.dumps(messages, ensure_ascii=False)
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
            if clean_name(row.get("WorkerId")):
                yield line, taken
            else:
                noting.add(line, "WorkerId", "is empty")

    yield from records_of_table(rows, mapping, True, problems)


def _opened(path: Path, problems: Problems, known: Table | None = None) -> Table:
    """The batch, with a column for each answer that stands in the JSON of crowd-html-elements.

    ``known``: opened before, so that its columns need not be looked for.
    """
    table = open_table(path, problems, known.heading_line if known else 0)
    if _TASK not in table.heading:
        return table
    place = table.heading.index(_TASK)
    heading = known.heading if known else table.heading
    if known is None:
        quiet = open_table(path, Problems(path.name), table.heading_line)
        found = dict.fromkeys(name for _, cells in quiet.rows for name in _answers(cells[place]))
        others = [name for name in table.heading if name != _TASK]
        heading = (*others, *(name for name in found if name not in others))

    def rows() -> Iterator[tuple[Where, list[str]]]:
        for line, cells in table.rows:
            row = {**dict(zip(table.heading, cells, strict=True)), **_answers(cells[place])}
            yield line, [row.get(name, "") for name in heading]

    return replace(table, heading=heading, rows=rows())


def _answers(cell: str) -> dict[str, str]:
    """The answers in a cell of ``Answer.taskAnswers``, by the name that a column would have."""
    values = parsed_json(cell)
    task = values[0] if isinstance(values, list) and values else values
    found = {}
    for key, value in task.items() if isinstance(task, dict) else ():
        if isinstance(value, dict) and isinstance(value.get("label"), str):
            value = value["label"]
        if isinstance(value, dict):
            for option, chosen in value.items():
                if isinstance(chosen, bool):
                    found[f"{ANSWER}{key}.{option}"] = str(chosen).lower()
        elif isinstance(value, str | int | float):
            found[f"{ANSWER}{key}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _kinds_of_answers(table: Table, answers: Sequence[str]) -> tuple[set[str], list[str]]:
    """(columns in which a number stands, options of radio buttons: true and false alone)."""
    numbers: set[str] = set()
    present: set[str] = set()
    others: set[str] = set()
    places = {name: place for place, name in enumerate(table.heading) if name in answers}
    for _, cells in table.rows:
        for name, place in places.items():
            cell = cells[place].strip()
            if number_in(cell) is not None:
                numbers.add(name)
            if not is_missing(cell):
                (present if cell.casefold() in _BOOLEANS else others).add(name)
    return numbers, [
        name for name in answers if "." in name[len(ANSWER) :] and name in present - others
    ]


def _plain_text(text: str) -> str:
    return (
        html.unescape(_TAG.sub("", _BREAK.sub("\n", text))) if "<" in text or "&" in text else text
    )


def _detect(sample: FileSample) -> float:
    has_inputs = any(name.startswith(INPUT) for name in sample.keys)
    return 0.95 if has_inputs and {"HITId", "WorkerId"} <= sample.keys else 0.0


_DESCRIPTION = """\
What a requester of Mechanical Turk downloads as results: `Input.dialog_id`, `Input.system`,
`Input.context`, `Input.response` and the like, `Answer.NAME` for each question, or the JSON of
`Answer.taskAnswers`. A group of true and false is one choice. Without a response the answers are
about the conversation of `Input.user_1`, `Input.bot_1`, `Input.user_2`, …."""
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
