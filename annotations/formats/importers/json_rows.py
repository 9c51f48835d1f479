"""Files of JSON records, whatever their layout: an array, JSON lines, or one object.

Public sets of chats come as all three, often under the same name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_source import (
    CHUNK,
    JsonText,
    array_elements,
    json_lines,
    open_file,
)
from annotations.formats.importers.problems import Problems, Where

MAX_OBJECT = 32 * 1024 * 1024
"""Characters of a file that is one object and has to be held as a whole."""


def json_rows(path: Path, problems: Problems) -> Iterator[tuple[Where, Any]]:
    """Iterate over the JSON records of a file.

    Args:
        path: file in UTF-8: a JSON array, one JSON value a line, or one object over several lines.
        problems: collects faults.

    Returns:
        Iterator over (place, value): ``$[0]``, ``$[1]``, … for an array, the line number for JSON
        lines, ``$`` for one object.

    Raises:
        ImportFailed: as in ``array_elements`` and ``json_lines``; and where one object is longer
            than ``MAX_OBJECT``.
    """
    with open_file(path, problems, taken="JSON") as file:
        start = file.read(CHUNK).lstrip()
    if start.startswith(b"["):
        yield from array_elements(path, problems)
    elif _is_begun_object(start):
        yield "$", _whole_object(path, problems)
    else:
        yield from json_lines(path, problems)


def numbered_objects(path: Path, problems: Problems) -> Iterator[tuple[int, JsonObject]]:
    """Iterate over the records of a file that must be objects, and count them.

    Args:
        path: as in ``json_rows``.
        problems: collects faults, among them each record that is no object.

    Returns:
        Iterator over (number, record). The number counts all records from 1, those at fault too.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    for number, (where, value) in enumerate(json_rows(path, problems), 1):
        record = JsonObject.of(value, where, problems)
        if record is not None:
            yield number, record


def object_members(path: Path, problems: Problems) -> Iterator[tuple[str, str, Any]]:
    """Iterate over the members of the one object that a file holds; lists come item by item.

    Args:
        path: file in UTF-8.
        problems: collects the fault that is raised.

    Returns:
        Iterator over (place, key, value): for a list its items, at ``$.key[0]``, ``$.key[1]``, …,
        for anything else the value, at ``$.key``. Memory is bounded by the largest of them.

    Raises:
        ImportFailed: as in ``array_elements``.
    """
    with open_file(path, problems, taken="JSON") as file:
        text = JsonText(file, problems)
        text.what = "object"
        if text.next_character("$") != "{":
            problems.stop("$", "", f"must be an object; found {text.described()}")
        text.skip(1)
        more = text.next_character("$") != "}"
        while more:
            yield from _member(text, problems)
            more = text.next_character("$") == ","
            if more:
                text.skip(1)
        _expect(text, "}", "$", problems)
        text.expect_end()


def _member(text: JsonText, problems: Problems) -> Iterator[tuple[str, str, Any]]:
    if text.next_character("$") != '"':
        problems.stop("$", "", f"expected a key in quotes, {text.place()}")
    key = text.element("$")
    where = f"$.{key[:80]}"
    _expect(text, ":", where, problems)
    if text.next_character(where) != "[":
        yield where, key, text.element(where)
        return
    text.skip(1)
    index = 0
    more = text.next_character(where) != "]"
    while more:
        yield f"{where}[{index}]", key, text.element(f"{where}[{index}]")
        more = text.next_character(where) == ","
        if more:
            text.skip(1)
            index += 1
    _expect(text, "]", where, problems)


def _expect(text: JsonText, character: str, where: str, problems: Problems) -> None:
    if text.next_character(where) != character:
        problems.stop(where, "", f"expected {character}, {text.place()}")
    text.skip(1)


def _is_begun_object(start: bytes) -> bool:
    """Whether the first line begins an object that a later line ends."""
    line, line_end, _ = start.partition(b"\n")
    if not line.startswith(b"{") or not line_end:
        return False
    text = line.decode("utf-8", "replace").rstrip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        pass
    return False


def _whole_object(path: Path, problems: Problems) -> Any:
    with open_file(path, problems, taken="JSON") as file:
        text = JsonText(file, problems, MAX_OBJECT)
        text.what = "object"
        value = text.element("$")
        text.expect_end()
        return value
