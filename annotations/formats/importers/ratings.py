"""Ratings as a table (CSV), one row a rating: what a spreadsheet or a platform hands out.

Columns are known by their names, which may be capitalised and begin with ``Input.``, as those of
Mechanical Turk's batches do; of a batch each ``Answer.NAME`` is a score of the aspect NAME. Other
columns are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import alternating
from annotations.formats.importers.csv_source import csv_lines, decimal_number, delimiter_of
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)
from common.tables.csv_text import without_guard

NAMES: Mapping[str, tuple[str, ...]] = {
    "dialog_id": ("dialog_id", "dialogue_id", "dialog", "dialogue", "conversation_id"),
    "turn": ("turn", "turn_id"),
    "system": ("system", "model"),
    "context": ("context", "history"),
    "response": ("response", "answer"),
    "reference": ("reference", "gold"),
    "rater": ("rater", "annotator", "worker", "workerid", "worker_id", "rater_id", "annotator_id"),
    "aspect": ("aspect", "criterion"),
    "score": ("score", "rating"),
    "comment": ("comment",),
}
"""The columns, each with the names by which it is known, in small letters."""
NEEDED = ("system", "response", "rater")
INPUT, ANSWER = "input.", "answer."
OVERALL = "overall"
MAX_ROWS = 500_000
"""Rows come in any order and are held until all are read."""
_WHOLE = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass
class _Turn:
    line: int
    context: str
    reference: str
    responses: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By system: the line that has it first, and the text."""
    ratings: list[tuple[int, RatingRecord]] = field(default_factory=list)


@dataclass
class _Table:
    """What has been read of the file, in the order of first mention."""

    aspects: dict[str, None] = field(default_factory=dict)
    systems: dict[str, None] = field(default_factory=dict)
    raters: dict[str, None] = field(default_factory=dict)
    dialogues: dict[str, dict[int, _Turn]] = field(default_factory=dict)
    by_context: dict[str, str] = field(default_factory=dict)


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read ratings from a table with one rating per row.

    Args:
        path: CSV file whose heading line has the columns of ``NEEDED`` and a score.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records, each with its line number; none comes before the whole file is read.
        A file without a column of dialogues has one dialogue per distinct context, numbered from 0.
        The scales of its aspects are open. The main aspect is ``OVERALL`` or, without it, the first
        one.

    Raises:
        ImportFailed: as in ``csv_lines``, where the heading line lacks a column, and where there
            are more than ``MAX_ROWS`` rows.
    """
    table = _read(path, problems)
    aspects = tuple(table.aspects) or (OVERALL,)
    scales = tuple((aspect, None, None) for aspect in aspects)
    main = OVERALL if OVERALL in aspects else aspects[0]
    yield CorpusRecord(aspects=aspects, main_aspect=main, scales=scales), 1, ""
    for system in table.systems:
        yield SystemRecord(system), 1, ""
    for rater in table.raters:
        yield RaterRecord(rater), 1, ""
    for name, turns in table.dialogues.items():
        first = min(turn.line for turn in turns.values())
        made = tuple(_turn(number, turn) for number, turn in sorted(turns.items()))
        yield DialogueRecord(name, (), (), made), first, ""
        for number, turn in sorted(turns.items()):
            for system, (line, text) in turn.responses.items():
                yield ResponseRecord(name, number, system, text), line, ""
            for line, rating in turn.ratings:
                yield rating, line, ""


def _turn(number: int, turn: _Turn) -> TurnRecord:
    lines = [line.strip() for line in turn.context.splitlines() if line.strip()]
    return TurnRecord(number, alternating(lines), (turn.reference,) if turn.reference else ())


def _read(path: Path, problems: Problems) -> _Table:
    table = _Table()
    delimiter = delimiter_of(path, _is_heading, problems)
    lines = csv_lines(path, _is_heading, problems)
    line, heading = next(lines, (1, []))
    if heading and heading[0].startswith(("{", "[")):
        problems.stop(line, "", "is JSON; this format is CSV")
    columns = _columns(heading)
    if not _is_heading(heading):
        lacking = [name for name in NEEDED if name not in columns] or ["score"]
        found = ", ".join(heading)[:200]
        message = (
            f"has no column {' and no column '.join(lacking)}: the heading line must name "
            "system, response, rater and score, and may name dialog_id, turn, context, reference, "
            f"aspect and comment; found {found}"
        )
        problems.stop(line, "", message)
    answers = _answers(heading)
    for number, (line, cells) in enumerate(lines, 1):
        if number > MAX_ROWS:
            message = f"has more than {MAX_ROWS:,} rows; give a corpus of this size as jsonl"
            problems.stop(line, "", message)
        row = {name: cells[place].strip() for name, place in columns.items()}
        scores = {aspect: cells[place].strip() for aspect, place in answers.items()}
        if "score" in row:
            scores[row.get("aspect") or OVERALL] = row["score"]
        numbers = {
            aspect: _score(text, delimiter, partial(problems.add, line, "score"))
            for aspect, text in scores.items()
            if text
        }
        _take(table, row, numbers, partial(problems.add, line))
    return table


def _columns(heading: Sequence[str]) -> dict[str, int]:
    """Where each known column stands; of several with one meaning the first."""
    plain = [cell.casefold().removeprefix(INPUT) for cell in heading]
    found: dict[str, int] = {}
    for name, known in NAMES.items():
        places = [plain.index(one) for one in known if one in plain]
        if places:
            found[name] = places[0]
    return found


def _answers(heading: Sequence[str]) -> dict[str, int]:
    return {
        cell[len(ANSWER) :]: place
        for place, cell in enumerate(heading)
        if cell.casefold().startswith(ANSWER) and len(cell) > len(ANSWER)
    }


def _is_heading(heading: Sequence[str]) -> bool:
    columns = _columns(heading)
    has_scores = "score" in columns or bool(_answers(heading))
    return has_scores and all(name in columns for name in NEEDED)


def _score(text: str, delimiter: str, complain: partial[None]) -> float | None:
    number = decimal_number(text, delimiter)
    if number is None:
        mark = "a decimal point" if delimiter == "," else "a decimal point or comma"
        complain(f"must be a number with {mark}, not {text[:50]!r}")
    return number


def _take(
    table: _Table,
    row: Mapping[str, str],
    scores: Mapping[str, float | None],
    complain: partial[None],
) -> None:
    system, rater = without_guard(row["system"]), without_guard(row["rater"])
    context, response = row.get("context", ""), row["response"]
    if not system:
        complain("system", "is empty")
        return
    number = row.get("turn") or "0"
    if not _WHOLE.fullmatch(number):
        complain("turn", f"must be a whole number, not {number[:50]!r}")
        return
    name = without_guard(row.get("dialog_id", ""))
    name = name or table.by_context.setdefault(context, str(len(table.by_context)))
    line: int = complain.args[0]
    turns = table.dialogues.setdefault(name, {})
    turn = turns.setdefault(int(number), _Turn(line, context, row.get("reference", "")))
    for column, known in (("context", turn.context), ("reference", turn.reference)):
        if row.get(column, "") != known:
            complain(column, f"is another one than in line {turn.line}, which has the same turn")
    first, text = turn.responses.setdefault(system, (line, response))
    if text != response:
        complain(
            "response", f"is another one than in line {first}, by the same system at the same turn"
        )
    table.systems.setdefault(system)
    if not rater:
        if scores:
            complain("rater", "is empty")
        return
    table.raters.setdefault(rater)
    for aspect, score in scores.items():
        table.aspects.setdefault(aspect)
        if score is not None:
            comment = row.get("comment", "")
            rating = RatingRecord(name, int(number), system, rater, aspect, score, comment)
            turn.ratings.append((line, rating))


_DESCRIPTION = """\
docs/formats.md names the columns, with their other names."""
_EXAMPLE = """\
dialog_id,turn,system,context,response,rater,score
cafe-1,0,cook,What is in the pot?,Leeks.,ann,4
cafe-1,0,cook,What is in the pot?,Leeks.,bob,5
"""


def _detect(sample: FileSample) -> float:
    return 0.6 if sample.kind == "table" and _is_heading(sorted(sample.keys)) else 0.0


IMPORTER = Importer(
    name="ratings",
    summary="an older reading of tables (CSV), which goes with 0.4.0: use table",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
