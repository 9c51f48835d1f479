"""Conversations that others have spoilt, in the layout in which Khalid and Lee (2022) release them:
a folder for each kind, such as ``contradiction``, with a file for each case. The file has the line
``original_conversation``, an utterance a line, the line ``modified_conversation``, and its
utterances. The last one is the response. No Django here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotations.formats.importers.problems import Problems
from annotations.formats.records import Utterance
from common.text import MAX_TEXT, text_fault

ORIGINAL, MODIFIED = "original_conversation", "modified_conversation"
MOST_CASES = 100_000
MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class GivenCase:
    """An answer and what was made of it, each in its context."""

    kind: str
    name: str
    context: tuple[Utterance, ...]
    answer: str
    spoilt_context: tuple[Utterance, ...]
    spoilt: str


def read_cases(folder: Path) -> list[GivenCase]:
    """All cases below a folder, or in it, kind by kind.

    Raises:
        ImportFailed: no file is there, or a file has another layout; up to 100 problems.
    """
    problems = Problems(folder.name)
    if not folder.is_dir():
        problems.stop("", "", "is no folder")
    cases: list[GivenCase] = []
    for path in _files(folder):
        if len(cases) == MOST_CASES:
            problems.stop("", "", f"holds more than {MOST_CASES:,} cases")
        case = _case(path, problems)
        if case is not None:
            cases.append(case)
    problems.raise_if_any()
    if not cases:
        problems.stop("", "", "holds no case")
    return cases


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from (one for one in sorted(path.iterdir()) if one.is_file())
        elif path.is_file():
            yield path


def _case(path: Path, problems: Problems) -> GivenCase | None:
    where = f"{path.parent.name}/{path.name}"
    try:
        if path.stat().st_size > MAX_BYTES:
            problems.add(where, "", f"has more than {MAX_BYTES:,} bytes")
            return None
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.add(where, "", "is not UTF-8")
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines[:1] != [ORIGINAL] or lines.count(MODIFIED) != 1:
        problems.add(where, "", f"must have the lines {ORIGINAL} and {MODIFIED}, each once")
        return None
    middle = lines.index(MODIFIED)
    original, modified = lines[1:middle], lines[middle + 1 :]
    if len(original) < 2 or len(modified) < 2:
        problems.add(where, "", "must have two utterances or more in either conversation")
        return None
    for line in (*original, *modified):
        if fault := text_fault(line, MAX_TEXT):
            problems.add(where, "", f"an utterance {fault}")
            return None
    return GivenCase(
        path.parent.name,
        where,
        _spoken(original[:-1]),
        original[-1],
        _spoken(modified[:-1]),
        modified[-1],
    )


def _spoken(texts: list[str]) -> tuple[Utterance, ...]:
    """By A and B in turn, the last one by A, whom B answers."""
    return tuple(
        Utterance("AB"[(len(texts) - 1 - place) % 2], text) for place, text in enumerate(texts)
    )
