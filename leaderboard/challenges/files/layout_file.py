"""The layout that a file shows: a template, or a round's dialogues. So a file can be checked
without the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.csv_source import csv_rows
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_source import array_elements, json_lines
from annotations.formats.importers.problems import Problems
from common.tables.csv_text import without_guard
from leaderboard.challenges.files.formats import format_of
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import COLUMNS

_TURN_KEY = re.compile(r"turn_(0|[1-9][0-9]{0,8})")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,8}")


def layout_of(path: Path) -> Layout:
    """The dialogues and turns that a template (JSON, JSON lines, CSV) or a file of dialogues names.

    Raises ImportFailed where it is neither.
    """
    problems = Problems(path.name)
    turns: dict[str, dict[int, None]] = {}
    for dialogue_id, turn in _pairs(path, problems):
        turns.setdefault(dialogue_id, {})[turn] = None
    if not turns:
        problems.add(
            "", "", "names no dialogue with turns: it is no template and no file of dialogues"
        )
    problems.raise_if_any()
    return Layout.of(
        (dialogue_id, turn) for dialogue_id, numbers in turns.items() for turn in numbers
    )


def _pairs(path: Path, problems: Problems) -> Iterator[tuple[str, int]]:
    format = format_of(path, problems)
    if format == "json":
        for index, (where, element) in enumerate(array_elements(path, problems)):
            dialogue = JsonObject.of(element, where, problems)
            if dialogue is None:
                continue
            # Without an id the dialogue's place in the file is its id, as in the challenge's own
            # files.
            name = dialogue.name("dialog_id") if dialogue.has("dialog_id") else str(index)
            if name is not None:
                keys = filter(_TURN_KEY.fullmatch, dialogue.value)
                for turn in sorted(int(key.removeprefix("turn_")) for key in keys):
                    yield name, turn
    elif format == "jsonl":
        for number, value in json_lines(path, problems):
            line = JsonObject.of(value, number, problems)
            if line is None:
                continue
            name, place = line.name("dialog_id"), line.parse_integer("turn")
            if name is not None and place is not None:
                yield name, place
    else:
        for number, (dialogue_id, written, _) in csv_rows(path, COLUMNS, problems):
            if _WHOLE.fullmatch(written):
                yield without_guard(dialogue_id), int(written)
            else:
                problems.add(number, "turn", "must be a whole number")
