"""An entry's details in words, for a page; and all entries as files. No database here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from common.tables.csv_text import csv_heading, csv_line, json_cell

LONGEST_SHOWN = 300
COLUMNS = ("id", "at", "actor", "actor_id", "action", "subject", "challenge", "campaign", "details")
NOTHING = "–"


def detail_items(details: Any) -> list[tuple[str, str]]:
    """(what, words) of each detail; of changes, a line for each field with what it was and what it
    became."""
    if not isinstance(details, dict):
        return [("", _words(details))] if details not in (None, [], "") else []
    lines: list[tuple[str, str]] = []
    for name, value in details.items():
        if name == "changes" and isinstance(value, dict):
            lines += [(_name(field), _change(change)) for field, change in value.items()]
        elif name == "settings" and isinstance(value, dict):
            lines += [
                (_name(field), _words(one))
                for field, one in value.items()
                if one not in (None, "", [], {})
            ]
        else:
            lines.append((_name(name), _words(value)))
    return lines


def _name(key: str) -> str:
    return str(key).replace("_", " ")


def _change(change: Any) -> str:
    if isinstance(change, list) and len(change) == 2:
        return f"{_words(change[0])} → {_words(change[1])}"
    return _words(change)


def _words(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return _cut(", ".join(str(one) for one in value))
    if isinstance(value, str | int | float):
        return _cut(_moment(value) if isinstance(value, str) else str(value))
    return _cut(json.dumps(value, ensure_ascii=False))


def _moment(text: str) -> str:
    """A point in time as pages write it; any other text as it is."""
    if len(text) < 19 or text[10:11] != "T":
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment.strftime("%Y-%m-%d %H:%M ") + (moment.tzname() or "") if moment.tzinfo else text


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} …"


def as_csv(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A heading, then a line an entry; details are JSON in a cell."""
    yield csv_heading(COLUMNS)
    for document in documents:
        details = json_cell(dict(sorted(document["details"].items())))
        yield csv_line([*(document[name] for name in COLUMNS[:-1]), details])


def as_json(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One list, an entry a line."""
    joint = "[\n"
    for document in documents:
        yield joint + json.dumps(document, ensure_ascii=False)
        joint = ",\n"
    yield "\n]\n" if joint == ",\n" else "[]\n"
