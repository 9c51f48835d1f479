"""Files of JSON records, whatever their layout: an array, JSON lines, or one object.

Public sets of chats come as all three, often under the same name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from annotations.formats.importers.data_files import data_files
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_source import (
    MAX_ELEMENT,
    JsonText,
    array_elements,
    json_lines,
    open_file,
)
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.unpacking import unpacked
from annotations.formats.importers.wrapped_records import (
    BEGINNING,
    BY_COLUMN,
    LISTS,
    SPLITS,
    is_chat_under_id,
    is_message,
    records_and_layout,
    within_row,
)

MAX_OBJECT = 32 * 1024 * 1024
"""Characters of a file that is one object and has to be held as a whole."""
MAX_COLUMNS_SIZE = 256 * 1024 * 1024
"""Bytes of a table that is written column by column."""


def json_rows(
    path: Path, problems: Problems, limit: int = MAX_ELEMENT
) -> Iterator[tuple[Where, Any]]:
    """Iterate over the JSON records of a file.

    Args:
        path: file in UTF-8, or a folder of them (``data_files``): a JSON array, one JSON value a
            line, objects over several lines, or one that holds the records (``wrapped_records``).
        problems: collects faults.
        limit: most characters of an element of an array.

    Returns:
        Iterator over (place, value): ``$[0]``, ``$[1]``, … for an array, the line number for JSON
        lines, ``$`` for one object, ``$.data[0]`` or ``$.ID`` within one, ``$.*.0`` of columns. A
        record of a list that is named as a split says so as ``split``, one under its id has it as
        ``id``. The files of a folder follow each other, each place behind its file.

    Raises:
        ImportFailed: as in ``array_elements`` and ``json_lines``; and where one object is longer
            than ``MAX_OBJECT``.
    """
    if path.is_dir() and (files := data_files(path)):
        yield from _rows_of_folder(path, files, problems)
        return
    with open_file(path, problems, taken="JSON") as file:
        start = file.read(BEGINNING).lstrip()
    records, layout = records_and_layout(start.decode("utf-8", "replace"))
    if start.startswith(b"["):
        yield from array_elements(path, problems, limit)
    elif records and layout == "split":
        yield from _rows_of_split(path, problems)
    elif records:
        yield from _records_within(path, problems, layout == "ids")
    elif BY_COLUMN.match(start.decode("utf-8", "replace")):
        yield from _rows_of_columns(path, problems)
    elif _is_begun_object(start):
        yield from _whole_objects(path, problems)
    else:
        yield from json_lines(path, problems)


def _rows_of_folder(
    folder: Path, files: list[Path], problems: Problems
) -> Iterator[tuple[Where, Any]]:
    for file in files:
        own = replace(problems, file=file.relative_to(folder).as_posix())
        with unpacked(file, own) as plain:
            for where, value in json_rows(plain, own):
                yield f"{own.file}:{where}", value


def _rows_of_columns(path: Path, problems: Problems) -> Iterator[tuple[Where, Any]]:
    if path.stat().st_size > MAX_COLUMNS_SIZE:
        problems.stop(
            "",
            "",
            f"is a table column by column of more than {MAX_COLUMNS_SIZE // 1024**2} MiB, which "
            "cannot be held; write one record a line",
        )
    rows: dict[str, dict[str, Any]] = {}
    for where, name, column in object_members(path, problems, MAX_OBJECT):
        if not isinstance(column, dict):
            problems.stop(where, "", "must be an object with a value a row, as the first column is")
        for row, value in column.items():
            rows.setdefault(row, {})[name] = value
    for row, values in rows.items():
        yield f"$.*.{row[:80]}", values


def _rows_of_split(path: Path, problems: Problems) -> Iterator[tuple[Where, Any]]:
    names: list[str] = []
    for where, key, value in object_members(path, problems):
        if key == "columns":
            names.append(str(value))
        elif key == "data" and where.endswith("]"):
            if not isinstance(value, list) or len(value) != len(names):
                problems.add(where, "", f"must be a list of {len(names)} values, one a column")
            else:
                yield where, dict(zip(names, value, strict=True))


def _records_within(
    path: Path, problems: Problems, are_under_ids: bool
) -> Iterator[tuple[Where, Any]]:
    members = object_members(path, problems)
    for key, group in groupby(members, itemgetter(1)):
        if key in LISTS:
            for where, _, value in group:
                is_of_split = key in SPLITS and isinstance(value, dict) and "split" not in value
                if where.endswith("]"):
                    yield where, {**value, "split": key} if is_of_split else within_row(value)
            continue
        if not are_under_ids:
            continue
        where, _, first = next(group)
        if not where.endswith("]"):
            if isinstance(first, dict):
                yield where, {"id": key, **first}
        elif is_message(first):
            messages = [first, *(value for _, _, value in group)]
            if is_chat_under_id(key, messages):
                yield where.removesuffix("[0]"), {"id": key, "messages": messages}


def numbered_objects(path: Path, problems: Problems) -> Iterator[tuple[int, JsonObject]]:
    """Iterate over the records of a file that must be objects, and count them.

    A list of messages is taken as an object with ``messages``.

    Args:
        path: as in ``json_rows``.
        problems: collects faults, among them each record that is no object.

    Returns:
        Iterator over (number, record). The number counts all records from 1, those at fault too.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    for number, (where, value) in enumerate(json_rows(path, problems), 1):
        if isinstance(value, list) and value and is_message(value[0]):
            value = {"messages": value}
        record = JsonObject.of(value, where, problems)
        if record is not None:
            yield number, record


def object_members(
    path: Path, problems: Problems, limit: int = MAX_ELEMENT
) -> Iterator[tuple[str, str, Any]]:
    """Iterate over the members of the one object that a file holds; lists come item by item.

    Args:
        path: file in UTF-8.
        problems: collects the fault that is raised.
        limit: most characters of a value, or of an item of a list.

    Returns:
        Iterator over (place, key, value): for a list its items, at ``$.key[0]``, ``$.key[1]``, …,
        for anything else the value, at ``$.key``. Memory is bounded by the largest of them.

    Raises:
        ImportFailed: as in ``array_elements``.
    """
    with open_file(path, problems, taken="JSON") as file:
        text = JsonText(file, problems, limit)
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


def _whole_objects(path: Path, problems: Problems) -> Iterator[tuple[Where, Any]]:
    """One object over several lines, or one behind the other."""
    with open_file(path, problems, taken="JSON") as file:
        text = JsonText(file, problems, MAX_OBJECT)
        text.what = "object"
        where: Where = "$"
        while True:
            yield where, text.element(str(where))
            if text.is_over():
                return
            where = text.line
