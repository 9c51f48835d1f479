"""Files to fill in: every place of a layout, without a response or a score."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from common.tables.csv_text import csv_heading, csv_line
from leaderboard.challenges.files.formats import Format
from leaderboard.challenges.files.layout import Layout, key_of
from leaderboard.challenges.files.responses import COLUMNS
from leaderboard.challenges.files.scores import COLUMNS_OF_LEVEL, Answered, MetricLevel


def response_template(layout: Layout, format: Format) -> Iterator[str]:
    """The text of the file, in pieces. Empty places are null in JSON and an empty cell in CSV."""
    if format == "json":
        entries = (
            {"dialog_id": name, **{key_of(turn): None for turn in turns}} for name, turns in layout
        )
        return json_list(entries)
    rows = ((name, turn, None) for name, turns in layout for turn in turns)
    return _rows(COLUMNS, rows, format, all(name.isascii() for name, _ in layout))


def score_template(
    level: MetricLevel,
    layout: Layout,
    systems: Sequence[str],
    format: Format,
    answered: Answered | None = None,
) -> Iterator[str]:
    """The rows of every system that a metric of ``level`` may score, as JSON lines or CSV.

    ``answered``: as of ``check_scores``; what a system has not answered has no row.
    """
    columns = COLUMNS_OF_LEVEL[level]
    if level == "turn":
        places: Iterable[tuple[Any, ...]] = (
            (name, turn) for name, turns in layout for turn in turns
        )
    else:
        places = ((name,) for name, _ in layout)
    if level != "system":
        of_all = list(places)
        rows: Iterable[tuple[Any, ...]] = (
            (*place, system, None)
            for system in systems
            for number, place in enumerate(of_all)
            if answered is None or answered[system][number]
        )
    else:
        rows = ((system, None) for system in systems)
    names = (*systems, *(name for name, _ in layout))
    return _rows(columns, rows, format, all(map(str.isascii, names)))


def json_list(entries: Iterable[Any]) -> Iterator[str]:
    """A JSON array, an element a line."""
    joint = "[\n"
    for entry in entries:
        yield joint + json.dumps(entry, ensure_ascii=False)
        joint = ",\n"
    yield "\n]\n" if joint == ",\n" else "[]\n"


def _rows(
    columns: Sequence[str], rows: Iterable[tuple[Any, ...]], format: Format, is_ascii: bool
) -> Iterator[str]:
    """A table of ASCII alone opens rightly anywhere; programs that fill it in need not know of the
    mark."""
    if format == "csv":
        yield csv_line(columns) if is_ascii else csv_heading(columns)
        yield from map(csv_line, rows)
    else:
        for row in rows:
            yield json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n"
