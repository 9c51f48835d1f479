"""Checks and reads a file of submitted responses: a JSON list, JSON lines or CSV, told apart by
what it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.formats.importers.csv_source import csv_rows
from annotations.formats.importers.fields import kind_of
from annotations.formats.importers.json_source import array_elements, json_lines
from annotations.formats.importers.problems import ImportFailed, Problem, Problems, Where
from common.tables.csv_text import without_guard
from common.text import MAX_RESPONSE, text_fault
from leaderboard.challenges.files.formats import Format, format_of
from leaderboard.challenges.files.layout import Layout, Shape, key_of
from leaderboard.challenges.files.words import shown, shown_field, some
from workers.metrics.common.unicode_folding import foldings

COLUMNS = ("dialog_id", "turn", "response")
PROGRESS_EVERY = 5_000
NOT_FILLED_IN = "is null: the template is not filled in here"
IN_LIST_FORM = (
    "is missing: a line holds one response; objects with turn_0, turn_1, … are in a list, [ ]"
)
_KEYS = frozenset(COLUMNS)
_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")

Answer = tuple[str, int, str]
"""Dialogue id, turn number, text."""
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a file holds. ``empty`` counts responses without a visible character: the system said
    nothing."""

    format: Format | None = None
    dialogues: int = 0
    responses: int = 0
    empty: int = 0
    foldings: Mapping[str, int] = field(default_factory=dict)
    """By kind: responses with curly quotes, unusual spaces, invisible characters and the like,
    which metrics read as plain ones (``workers.metrics.common.unicode_folding``)."""


@dataclass(frozen=True, slots=True)
class Checked:
    """``problems`` is empty where the file may be accepted, and holds at most 100; ``more``: there
    are others."""

    problems: tuple[Problem, ...]
    more: bool
    counts: Counts

    @property
    def is_sound(self) -> bool:
        return not self.problems


def check_responses(
    path: Path,
    layout: Layout,
    *,
    file: str | None = None,
    limit: int = MAX_RESPONSE,
    progress: Progress | None = None,
) -> Checked:
    """Reads the whole file and says everything that is wrong with it. Raises nothing for what a
    file holds.

    ``file`` is how problems call it (default: its name), ``limit`` the most characters of a
    response. ``progress`` hears how many responses have been read, every 5,000.
    """
    problems = Problems(path.name if file is None else file)
    reading = _Reading(layout, problems, limit)
    more = False
    try:
        for number, _ in enumerate(reading.answers(path), 1):
            if progress is not None and number % PROGRESS_EVERY == 0:
                progress(number)
        reading.finish()
    except ImportFailed as failure:
        more = failure.stopped
    return Checked(tuple(problems.found), more, reading.counts)


def read_responses(path: Path, layout: Layout, *, limit: int = MAX_RESPONSE) -> Iterator[Answer]:
    """The responses of a file that ``check_responses`` found sound, in the file's order.

    Raises ImportFailed, at the end or before, where the file is not sound after all: keep nothing
    of it then.
    """
    problems = Problems(path.name)
    reading = _Reading(layout, problems, limit)
    yield from reading.answers(path)
    reading.finish()
    problems.raise_if_any()


class _Reading:
    """One pass over a file: which places have a response by now, and what was wrong."""

    def __init__(self, layout: Layout, problems: Problems, limit: int) -> None:
        self._layout = layout
        self._problems = problems
        self._limit = limit
        self._format: Format | None = None
        self._named = bytearray(layout.dialogues)
        self._filled = bytearray(layout.places)
        self._responses = 0
        self._empty = 0
        self._foldings: Counter[str] = Counter()

    @property
    def counts(self) -> Counts:
        dialogues = sum(self._named)
        return Counts(self._format, dialogues, self._responses, self._empty, self._foldings)

    def answers(self, path: Path) -> Iterator[Answer]:
        """Every sound response; the others are noted. Raises ImportFailed where nothing more can be
        read."""
        self._format = format_of(path, self._problems)
        if self._format == "json":
            for where, element in array_elements(path, self._problems):
                yield from self._of_dialogue(where, element)
        elif self._format == "jsonl":
            for number, value in json_lines(path, self._problems):
                answer = self._from_line(number, value)
                if answer is not None:
                    yield answer
        else:
            for number, cells in csv_rows(path, COLUMNS, self._problems):
                answer = self._of_row(number, cells)
                if answer is not None:
                    yield answer

    def finish(self) -> None:
        """Notes what the whole file lacks."""
        for dialogue, (dialogue_id, numbers) in enumerate(self._layout):
            start = self._layout.start_of(dialogue)
            filled = self._filled[start : start + len(numbers)]
            missing = [number for number, has in zip(numbers, filled, strict=True) if not has]
            if len(missing) == len(numbers):
                self._problems.add("", "", f"has no response for the dialogue {shown(dialogue_id)}")
            elif missing:
                self._problems.add(
                    "", "", f"has no response for {some('turn', missing)} of {shown(dialogue_id)}"
                )
        if not self._problems.found and self._responses and self._empty == self._responses:
            self._problems.add("", "", "holds only empty responses: the template is not filled in")

    def _of_dialogue(self, where: Where, element: Any) -> Iterator[Answer]:
        """An element of a JSON list: a dialogue with all its turns."""
        if not isinstance(element, dict):
            self._problems.add(where, "", f"must be an object, not {kind_of(element)}")
            return
        dialogue_id = self._dialogue_id(where, element)
        dialogue = None if dialogue_id is None else self._dialogue(where, dialogue_id)
        if dialogue_id is None or dialogue is None:
            return
        if self._named[dialogue]:
            self._problems.add(
                where, "dialog_id", f"the dialogue {shown(dialogue_id)} occurs twice"
            )
            return
        self._named[dialogue] = 1
        shape, start = self._layout.shape_of(dialogue), self._layout.start_of(dialogue)
        # What is wrong in this element is told here, once, and not again at the end.
        self._filled[start : start + len(shape.numbers)] = b"\1" * len(shape.numbers)
        for key, text in element.items():
            offset = shape.offsets_of_keys.get(key)
            if offset is not None:
                if self._is_sound(where, key, text):
                    yield dialogue_id, shape.numbers[offset], text
            elif key != "dialog_id":
                self._problems.add(where, shown_field(key), _unknown_key(key, shape))
        if len(element) <= len(shape.numbers):
            for number in shape.numbers:
                if key_of(number) not in element:
                    self._problems.add(where, key_of(number), "is missing")

    def _from_line(self, line: int, value: Any) -> Answer | None:
        """A line of JSON lines: one response."""
        if not isinstance(value, dict):
            self._problems.add(line, "", f"must be an object, not {kind_of(value)}")
            return None
        if value.keys() != _KEYS:
            self._complain_of_keys(line, value)
        dialogue_id = self._dialogue_id(line, value, tell_missing=False)
        turn = value.get("turn")
        if "turn" in value and (isinstance(turn, bool) or not isinstance(turn, int)):
            kind = str(turn)[:20] if isinstance(turn, float) else kind_of(turn)
            self._problems.add(line, "turn", f"must be a whole number, not {kind}")
            turn = None
        if dialogue_id is None or turn is None:
            return None
        return self._placed(line, dialogue_id, turn, value.get("response"), "response" in value)

    def _of_row(self, line: int, cells: list[str]) -> Answer | None:
        """A row of CSV: one response."""
        dialogue_id, turn, text = cells
        if (plain := without_guard(dialogue_id)) in self._layout:
            dialogue_id = plain
        if not _WHOLE.fullmatch(turn):
            self._problems.add(line, "turn", f"must be a whole number, not {shown(turn)}")
            return None
        return self._placed(line, dialogue_id, int(turn), text)

    def _placed(
        self, line: int, dialogue_id: str, turn: int, text: Any, is_there: bool = True
    ) -> Answer | None:
        dialogue = self._dialogue(line, dialogue_id)
        if dialogue is None:
            return None
        shape = self._layout.shape_of(dialogue)
        offset = shape.offsets.get(turn)
        if offset is None:
            self._problems.add(
                line, "turn", f"{_number(turn)} is none of the turns of {shown(dialogue_id)}"
            )
            return None
        place = self._layout.start_of(dialogue) + offset
        if self._filled[place]:
            self._problems.add(
                line, "", f"is a second response to turn {turn} of {shown(dialogue_id)}"
            )
            return None
        self._filled[place] = self._named[dialogue] = 1
        return (
            (dialogue_id, turn, text)
            if is_there and self._is_sound(line, "response", text)
            else None
        )

    def _dialogue_id(
        self, where: Where, element: dict[str, Any], tell_missing: bool = True
    ) -> str | None:
        """The id that the element gives; a whole number is taken as its digits."""
        if "dialog_id" not in element:
            if tell_missing:
                self._problems.add(where, *_missing_id(element))
            return None
        value = element["dialog_id"]
        if isinstance(value, int) and not isinstance(value, bool):
            return _number(value)
        if not isinstance(value, str):
            self._problems.add(where, "dialog_id", f"must be a string, not {kind_of(value)}")
            return None
        return value

    def _dialogue(self, where: Where, dialogue_id: str) -> int | None:
        dialogue = self._layout.dialogue_of(dialogue_id)
        if dialogue is None:
            advice = "; take off the white space" if dialogue_id.strip() in self._layout else ""
            self._problems.add(
                where, "dialog_id", f"there is no dialogue {shown(dialogue_id)}{advice}"
            )
        return dialogue

    def _is_sound(self, where: Where, field: str, text: Any) -> bool:
        self._responses += 1
        if not isinstance(text, str):
            fault = NOT_FILLED_IN if text is None else f"must be a string, not {kind_of(text)}"
            self._problems.add(where, field, fault)
            return False
        if (
            len(text) > self._limit
            or "\0" in text
            or (not text.isascii() and _HALF_PAIR.search(text))
        ):
            self._problems.add(where, field, text_fault(text, self._limit, may_be_empty=True))
            return False
        if not text.strip():
            self._empty += 1
        self._foldings.update(foldings(text))
        return True

    def _complain_of_keys(self, line: int, value: dict[str, Any]) -> None:
        if "turn" not in value and any(key.startswith("turn_") for key in value):
            self._problems.add(line, "turn", IN_LIST_FORM)
            return
        for key in COLUMNS:
            if key not in value:
                self._problems.add(
                    line, *(_missing_id(value) if key == "dialog_id" else (key, "is missing"))
                )
        for key in value:
            if key not in _KEYS and key != "dialogue_id":
                self._problems.add(line, shown_field(key), "is not a field of this format")


def _missing_id(element: dict[str, Any]) -> tuple[str, str]:
    if "dialogue_id" in element:
        return "dialogue_id", "found dialogue_id, expected dialog_id"
    return "dialog_id", "is missing"


def _unknown_key(key: str, shape: Shape) -> str:
    if key.startswith("turn_"):
        return (
            f"is none of this dialogue's turns, {key_of(shape.numbers[0])} to "
            f"{key_of(shape.numbers[-1])}"
        )
    return "is not a field of this format"


def _number(value: int) -> str:
    """The digits; a number that is absurdly long is only described, because writing it out would
    take long."""
    return str(value) if abs(value) < 10**30 else "a number of more than 30 digits"
