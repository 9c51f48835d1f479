"""Checks and reads a file of metric scores, JSON lines or CSV, at turn, dialogue or system level.

A place without a score is missing: it is counted, and nothing is put there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annotations.formats.importers.checks import LARGEST_SCORE
from annotations.formats.importers.csv_source import csv_rows, decimal_number, delimiter_of
from annotations.formats.importers.fields import kind_of
from annotations.formats.importers.json_source import json_lines
from annotations.formats.importers.problems import ImportFailed, Problem, Problems, Where
from common.tables.csv_text import without_guard
from leaderboard.challenges.files.formats import Format, format_of
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import PROGRESS_EVERY, Progress
from leaderboard.challenges.files.words import shown, shown_field

MetricLevel = Literal["turn", "dialogue", "system"]
COLUMNS_OF_LEVEL: Mapping[MetricLevel, tuple[str, ...]] = {
    "turn": ("dialog_id", "turn", "system", "score"),
    "dialogue": ("dialog_id", "system", "score"),
    "system": ("system", "score"),
}
_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")


Answered = Mapping[str, NDArray[np.bool_]]
"""By system: (places,) whether it has a response there. Where every system has dialogues of its
own, most have none."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """``place`` counts from 0 in corpus order: the turn, at turn level; the dialogue, at dialogue
    level; else 0."""

    system: str
    place: int
    score: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many places have a score, of how many that hold a response; by system, those that the
    file names."""

    format: Format | None
    given: int
    possible: int
    by_system: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CheckedScores:
    """``problems`` is empty where the file may be accepted, and holds at most 100; ``more``: there
    are others."""

    problems: tuple[Problem, ...]
    more: bool
    coverage: Coverage

    @property
    def is_sound(self) -> bool:
        return not self.problems


def check_scores(
    path: Path,
    level: MetricLevel,
    layout: Layout,
    systems: Collection[str],
    *,
    answered: Answered | None = None,
    file: str | None = None,
    progress: Progress | None = None,
) -> CheckedScores:
    """Reads the whole file and says everything that is wrong with it. Raises nothing for what a
    file holds.

    ``answered`` None: every system is taken to have answered everything.
    """
    problems = Problems(path.name if file is None else file)
    reading = _Reading(level, layout, systems, problems, answered)
    more = False
    try:
        for number, _ in enumerate(reading.rows(path), 1):
            if progress is not None and number % PROGRESS_EVERY == 0:
                progress(number)
        reading.finish()
    except ImportFailed as failure:
        more = failure.stopped
    return CheckedScores(tuple(problems.found), more, reading.coverage)


def read_scores(
    path: Path, level: MetricLevel, layout: Layout, systems: Collection[str]
) -> Iterator[ScoreRow]:
    """The scores of a file that ``check_scores`` found sound, in the file's order; places without
    one are left out.

    Raises ImportFailed, at the end or before, where the file is not sound after all: keep nothing
    of it then.
    """
    problems = Problems(path.name)
    reading = _Reading(level, layout, systems, problems)
    yield from reading.rows(path)
    reading.finish()
    problems.raise_if_any()


class _Reading:
    """One pass over a file: which places have a row by now, and what was wrong."""

    def __init__(
        self,
        level: MetricLevel,
        layout: Layout,
        systems: Collection[str],
        problems: Problems,
        answered: Answered | None = None,
    ) -> None:
        self._level: MetricLevel = level
        self._layout = layout
        self._systems = frozenset(systems)
        self._problems = problems
        self._answered = None if level == "system" else answered
        self._columns = COLUMNS_OF_LEVEL[level]
        self._keys = frozenset(self._columns)
        self._places = {"turn": layout.places, "dialogue": layout.dialogues, "system": 1}[level]
        self._format: Format | None = None
        self._delimiter = ","
        self._filled: dict[str, bytearray] = {}
        self._given: dict[str, int] = {}

    @property
    def coverage(self) -> Coverage:
        possible = self._places * len(self._systems)
        if self._answered is not None:
            possible = sum(int(self._answered[system].sum()) for system in self._systems)
        return Coverage(self._format, sum(self._given.values()), possible, dict(self._given))

    def rows(self, path: Path) -> Iterator[ScoreRow]:
        """Every sound score; the others are noted. Raises ImportFailed where nothing more can be
        read."""
        self._format = format_of(path, self._problems)
        if self._format == "json":
            self._problems.stop(
                "$", "", "is a list; give JSON lines, one object a line without [ ], or CSV"
            )
        if self._format == "csv":
            self._delimiter = delimiter_of(path, self._columns, self._problems)
        lines = self._of_json(path) if self._format == "jsonl" else self._of_csv(path)
        for number, fields in lines:
            row = self._row(number, fields)
            if row is not None:
                yield row

    def finish(self) -> None:
        """A file without any score is a template."""
        if not self._problems.found and not sum(self._given.values()):
            self._problems.add("", "", "holds no score: the template is not filled in")

    def _of_json(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, value in json_lines(path, self._problems):
            if not isinstance(value, dict):
                self._problems.add(number, "", f"must be an object, not {kind_of(value)}")
            elif value.keys() == self._keys or self._complain_of_keys(number, value):
                yield number, value

    def _of_csv(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, cells in csv_rows(path, self._columns, self._problems):
            fields: dict[str, Any] = dict(zip(self._columns, cells, strict=True))
            if (plain := without_guard(fields["system"])) in self._systems:
                fields["system"] = plain
            dialogue = fields.get("dialog_id")
            if dialogue is not None and (plain := without_guard(dialogue)) in self._layout:
                fields["dialog_id"] = plain
            if "turn" in fields and _WHOLE.fullmatch(fields["turn"]):
                fields["turn"] = int(fields["turn"])
            yield number, fields

    def _complain_of_keys(self, line: int, value: dict[str, Any]) -> bool:
        """False where a field is missing. Another field is a fault, but the rest of the line is
        still read."""
        known = self._keys | {"dialogue_id"}
        missing = [key for key in self._columns if key not in value]
        for key in missing:
            advice = ": found dialogue_id" if key == "dialog_id" and "dialogue_id" in value else ""
            self._problems.add(line, key, f"is missing{advice}")
        for key in value:
            if key not in known:
                self._problems.add(
                    line, shown_field(key), f"is no field of scores at {self._level} level"
                )
        return not missing

    def _row(self, line: Where, fields: Mapping[str, Any]) -> ScoreRow | None:
        system = fields["system"]
        if not isinstance(system, str):
            self._problems.add(line, "system", f"must be a string, not {kind_of(system)}")
            return None
        if system not in self._systems:
            self._problems.add(line, "system", f"there is no system {shown(system)}")
            return None
        place = self._place(line, fields)
        if place is None:
            return None
        filled = self._filled.setdefault(system, bytearray(self._places))
        if filled[place]:
            self._problems.add(line, "", f"is a second row of {self._described(fields)}")
            return None
        filled[place] = 1
        score = self._score(line, fields["score"])
        if score is None:
            return None
        if self._answered is not None and not self._answered[system][place]:
            self._problems.add(
                line, "score", f"there is no response to score: {self._described(fields)}"
            )
            return None
        self._given[system] = self._given.get(system, 0) + 1
        return ScoreRow(system, place, score)

    def _place(self, line: Where, fields: Mapping[str, Any]) -> int | None:
        if self._level == "system":
            return 0
        dialogue_id = fields["dialog_id"]
        if (
            isinstance(dialogue_id, int)
            and not isinstance(dialogue_id, bool)
            and abs(dialogue_id) < 10**30
        ):
            dialogue_id = str(dialogue_id)
        if not isinstance(dialogue_id, str):
            self._problems.add(line, "dialog_id", f"must be a string, not {kind_of(dialogue_id)}")
            return None
        dialogue = self._layout.dialogue_of(dialogue_id)
        if dialogue is None:
            self._problems.add(line, "dialog_id", f"there is no dialogue {shown(dialogue_id)}")
            return None
        return (
            dialogue
            if self._level == "dialogue"
            else self._turn(line, dialogue_id, dialogue, fields["turn"])
        )

    def _turn(self, line: Where, dialogue_id: str, dialogue: int, turn: Any) -> int | None:
        if isinstance(turn, bool) or not isinstance(turn, int):
            found = shown(turn) if isinstance(turn, str) else kind_of(turn)
            self._problems.add(line, "turn", f"must be a whole number, not {found}")
            return None
        offset = self._layout.shape_of(dialogue).offsets.get(turn)
        if offset is None:
            number = turn if abs(turn) < 10**30 else "this number"
            self._problems.add(
                line, "turn", f"{number} is none of the turns of {shown(dialogue_id)}"
            )
            return None
        return self._layout.start_of(dialogue) + offset

    def _score(self, line: Where, value: Any) -> float | None:
        """The number; None where the place has no score (null, an empty cell) or a bad one, which
        is noted."""
        if value is None or value == "":
            return None
        number = self._number(line, value)
        if number is None:
            return None
        if not abs(number) <= LARGEST_SCORE:
            self._problems.add(
                line, "score", "is too large; where a score is undefined leave it out"
            )
            return None
        return number + 0.0  # minus zero is zero

    def _number(self, line: Where, value: Any) -> float | None:
        if self._format == "csv":
            number = decimal_number(str(value), self._delimiter)
            if number is not None:
                return number
            self._problems.add(
                line,
                "score",
                f"must be a finite number with a decimal point, not {shown(str(value))}",
            )
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._problems.add(line, "score", f"must be a number, not {kind_of(value)}")
            return None
        try:
            return float(value)
        except OverflowError:
            return math.inf

    def _described(self, fields: Mapping[str, Any]) -> str:
        words = [shown(str(fields["system"]))]
        if self._level != "system":
            words.append(f"dialogue {shown(str(fields['dialog_id']))}")
        if self._level == "turn":
            words.append(f"turn {fields['turn']}")
        return ", ".join(words)
