"""Answers to a form of Google Forms (CSV), with a table that says which question is about what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import Collection
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.survey_items import (
    TABLES,
    SurveyFiles,
    SurveyItem,
    aspect_of,
    is_items,
    item_of,
    survey_files,
)
from annotations.formats.importers.table_source import headings, number_in, read_rows
from annotations.formats.records import PreferenceRecord

_TIME = "Timestamp"
_PEOPLE = ("Username", "Email Address", "Email address")
_CONSENT = re.compile(r"agree to|consent|take part|participate", re.IGNORECASE)
_REFUSAL = re.compile(r"no\b|i do not|i don.t|disagree|decline", re.IGNORECASE)
_NEITHER = re.compile(r"neither|both (?:are )?bad|none", re.IGNORECASE)


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a form's answers.

    Args:
        path: folder with the answers and a table of items (``survey_items``).
        _part: ignored, the folder holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Raters are "rater 1", "rater 2", …, never their addresses. A question
        about one item is a score where its answers are numbers, else labels, of which ``;``
        separates several; one whose answers are names of items is a preference; all others are
        comments. Who did not agree to take part is skipped.

    Raises:
        ImportFailed: as in ``survey_files``.
    """
    collection = Collection(problems)
    files = survey_files(path, collection, problems)
    questions = [name for name in headings(files.answers) if name not in (_TIME, *_PEOPLE)]
    remarks = _remarks(files, questions)
    people: dict[str, str] = {}
    own = problems_of(problems, path, files.answers)
    for place, row in read_rows(files.answers, own):
        line = f"{own.file}:{place}"
        refused = [
            name
            for name in questions
            if _CONSENT.search(name) and _REFUSAL.match(row[name].strip())
        ]
        if refused:
            problems.skip(line, refused[0][:100], "did not agree to take part")
            continue
        person = next((row[name] for name in _PEOPLE if row.get(name, "").strip()), f"row {place}")
        rater = people.setdefault(person, f"rater {len(people) + 1}")
        for question in questions:
            if row[question].strip() and not _CONSENT.search(question):
                _take(question, row[question].strip(), rater, line, files.items)
        for question in remarks:
            if row[question].strip():
                item = next(iter(files.items.values()))
                item.of.comment(item.turn, item.system, rater, row[question].strip(), line)
        _keep_time(row, rater, files.items)
    yield from collection.records()


def _take(
    question: str, text: str, rater: str, line: Where, items: Mapping[str, SurveyItem]
) -> None:
    item = item_of(question, items)
    if item is None:
        _prefer(text, rater, line, items)
        return
    # A grid's column is "question [row]": the question is the aspect, the row the item.
    of_grid = question.rpartition("[")[0].rstrip() if question.endswith("]") else ""
    aspect = of_grid or aspect_of(question, item)
    score = number_in(text)
    if score is not None:
        item.of.rate(item.turn, item.system, rater, aspect, score, line)
        return
    values = tuple(value.strip() for value in text.split(";") if value.strip())
    value = values[0] if len(values) == 1 else values
    item.of.label(item.turn, item.system, rater, aspect, value, line)


def _prefer(text: str, rater: str, line: Where, items: Mapping[str, SurveyItem]) -> None:
    """An answer that names an item, or no difference, of a question about the first two."""
    pair = list(items.values())[:2]
    if len(pair) < 2 or pair[0].of is not pair[1].of:
        return
    a, b = pair
    preferred: Literal["a", "b", "tie", "both_bad"] | None = None
    if text.casefold() in (a.key.casefold(), b.key.casefold()):
        preferred = "a" if text.casefold() == a.key.casefold() else "b"
    elif _is_tie(text):
        preferred = "both_bad" if _NEITHER.match(text) else "tie"
    if preferred:
        record = PreferenceRecord(a.of.id, a.turn, a.system, b.system, preferred, rater)
        a.of.prefer(record, line)


def _is_tie(text: str) -> bool:
    words = (
        r"no difference|tie|equal(?:ly good)?|the same|same|both|neither|both (?:are )?(?:bad|good)"
    )
    return bool(re.fullmatch(words, text.strip(), re.IGNORECASE))


def _remarks(files: SurveyFiles, questions: Sequence[str]) -> list[str]:
    """Questions about no item whose answers choose none."""
    open_ended = [
        question
        for question in questions
        if files.items and not item_of(question, files.items) and not _CONSENT.search(question)
    ]
    keys = {key.casefold() for key in files.items}
    choosing: set[str] = set()
    try:
        for _, row in read_rows(files.answers, Problems(files.answers.name)):
            for question in open_ended:
                text = row[question].strip()
                if text and (text.casefold() in keys or _is_tie(text)):
                    choosing.add(question)
    except ImportFailed:
        pass  # the second reading meets the same fault, and tells it
    return [question for question in open_ended if question not in choosing]


def _keep_time(row: Mapping[str, str], rater: str, items: Mapping[str, SurveyItem]) -> None:
    for one in {id(item.of): item.of for item in items.values()}.values():
        one.metadata.setdefault(_TIME, {})[rater] = row.get(_TIME, "")


def _detect(sample: FileSample) -> float:
    if sample.kind != "folder":
        return 0.0
    tables = [sample.member(name).keys for name in sample.members[:10] if name.endswith(TABLES)]
    has_answers = any(_TIME in keys and not is_items(keys) for keys in tables)
    return 0.9 if has_answers and any(is_items(keys) for keys in tables) else 0.0


_DESCRIPTION = """\
A folder (or zip file) with the form's answers as CSV and a table of items: its first column has
what the questions call a response ("Reply A"), then `dialog_id`, `turn`, `system`, `context`,
`response`."""

IMPORTER = Importer(
    name="google-forms",
    summary="answers to a form of Google Forms, with a table of items (folder or zip)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
)
