"""Reads CSV one row at a time, in bounded memory, whatever the file holds."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from annotations.importers.json_source import MAX_BLANK_LINES, MAX_ELEMENT, open_file
from annotations.importers.problems import Problems

MAX_COLUMNS = 20
DELIMITERS = (",", ";", "\t")
"""Spreadsheets write semicolons where the decimal mark is a comma."""
_MESSAGES = (
    ("new-line character", "has a carriage return outside quotes; end lines with LF or CR LF"),
    ("unexpected end of data", "begins a quoted cell that never ends"),
    ("expected after", "has something after the closing quote of a cell; a quote inside a cell is written twice"),
    ("field larger than", "has a cell of more than 131,072 characters; a quote may be missing"),
)


@dataclass
class _Row:
    """What the reader of lines and the reader of rows tell each other."""

    line: int = 0
    size: int = 0


def csv_rows(path: Path, columns: Sequence[str], problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row below the heading line, in the order of ``columns``, with the row's first line. Rows of
    empty cells, which spreadsheets leave at the end, are passed over.

    The heading line names the columns, in any order, and shows what separates the cells. Raises ImportFailed where it
    does not, and at the first place where the file is no CSV: after it nothing can be read.
    """
    with open_file(path, problems) as file:
        row = _Row()
        reader = csv.reader(_lines(file, row, problems), strict=True, delimiter=delimiter_of(path, columns, problems))
        order: list[int] | None = None
        blank = 0
        while True:
            first = row.line + 1
            row.size = 0
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problems.stop(first, "", _plain(error))
            if cells is None:
                break
            if not any(map(str.strip, cells)):
                blank += 1
                if blank > MAX_BLANK_LINES:
                    problems.stop(first, "", f"is blank, and so are {MAX_BLANK_LINES:,} lines before it")
            elif order is None:
                order = _order(cells, columns, first, problems)
            elif len(cells) != len(columns):
                problems.add(first, "", f"has {len(cells)} cells; the heading line has {len(columns)}")
            else:
                yield first, [cells[place] for place in order]


def delimiter_of(path: Path, columns: Sequence[str], problems: Problems) -> str:
    """What separates the cells of the heading line; a comma where that is none of ``columns`` either way."""
    with open_file(path, problems) as file:
        heading = next((line for line in iter(lambda: file.readline(MAX_ELEMENT), b"") if line.strip()), b"")
    text = heading.decode("utf-8", "replace").strip().replace('"', "")
    return next((one for one in DELIMITERS if sorted(text.split(one)) == sorted(columns)), ",")


def _lines(file: BinaryIO, row: _Row, problems: Problems) -> Iterator[str]:
    while line := file.readline(MAX_ELEMENT + 1):
        row.line += 1
        row.size += len(line)
        if row.size > MAX_ELEMENT:
            problems.stop(row.line, "", f"this row is longer than {MAX_ELEMENT:,} bytes; a quote may be missing")
        if b"\0" in line:
            problems.stop(row.line, "", f"holds a NUL byte (byte {line.index(0) + 1:,} of the line)")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            problems.stop(row.line, "", f"is not UTF-8 (byte {error.start + 1:,} of the line)")


def _order(cells: list[str], columns: Sequence[str], line: int, problems: Problems) -> list[int]:
    """Where in a row each column stands."""
    if sorted(cells) != sorted(columns):
        problems.stop(line, "", _wrong_heading(cells, columns))
    return [cells.index(column) for column in columns]


def _wrong_heading(cells: list[str], columns: Sequence[str]) -> str:
    wanted = ", ".join(columns)
    found = json.dumps(",".join(cells[:MAX_COLUMNS])[:100], ensure_ascii=True)
    if "dialogue_id" in cells and "dialog_id" not in cells:
        return f"found dialogue_id, expected dialog_id: the heading line must be {wanted}"
    return f"the heading line must be {wanted}; found {found}"


def _plain(error: csv.Error) -> str:
    said = str(error)
    return next((message for sign, message in _MESSAGES if sign in said), f"is no CSV: {said}")
