"""Reads CSV one row at a time, in bounded memory, whatever the file holds.

All that takes CSV reads it here.

Spreadsheets write it in many ways: a byte order mark, UTF-16 ("Unicode text"), semicolons or tabs
between cells where the decimal mark is a comma, empty rows and columns at the end, a first line
``sep=;``. All of these are taken.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from annotations.formats.importers.json_source import MAX_BLANK_LINES, MAX_ELEMENT, open_file
from annotations.formats.importers.problems import ImportFailed, Problems

MAX_COLUMNS = 20
"""Of a heading line, how many a message names."""
DELIMITERS = (",", ";", "\t", "|")
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MESSAGES = (
    ("new-line character", "has a carriage return outside quotes; end lines with LF or CR LF"),
    ("unexpected end of data", "begins a quoted cell that never ends"),
    (
        "expected after",
        "has something after the closing quote of a cell; a quote inside a cell is written twice",
    ),
    ("field larger than", "has a cell of more than 131,072 characters; a quote may be missing"),
)
_SAVE_AS_UTF8 = "; in Excel save it as “CSV UTF-8”"
SEPARATOR_LINE = re.compile(r'\ufeff?"?sep=([,;\t|])"?\r?\n?\Z')
_DECIMAL = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,4})?")
_LONGEST_NUMBER = 400

Fits = Callable[[Sequence[str]], bool]
"""Whether the cells of a heading line are those that the file should have."""


@dataclass
class _Row:
    """What the reader of lines and the reader of rows tell each other."""

    line: int = 0
    size: int = 0


def csv_rows(
    path: Path, columns: Sequence[str], problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a file whose heading line must name ``columns``, in any order.

    Args:
        path: CSV file.
        columns: the names that the heading line must have, all of them and no others.
        problems: collects faults.

    Returns:
        For each row its first line and its cells, in the order of ``columns``.

    Raises:
        ImportFailed: where the heading line names others, and where ``csv_lines`` does.
    """
    lines = csv_lines(path, _names_all(columns), problems)
    line, heading = next(lines, (1, []))
    if sorted(heading) != sorted(columns):
        wanted = ", ".join(columns)
        found = json.dumps(",".join(heading[:MAX_COLUMNS])[:100], ensure_ascii=True)
        message = f"the heading line must be {wanted}; found {found}"
        if "dialogue_id" in heading and "dialog_id" not in heading:
            message = f"found dialogue_id, expected dialog_id: the heading line must be {wanted}"
        problems.stop(line, "", message)
    order = [heading.index(column) for column in columns]
    for line, cells in lines:
        yield line, [cells[place] for place in order]


def csv_lines(path: Path, fits: Fits, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Read the heading line, then the rows below it.

    Rows of empty cells are passed over, and so are empty cells beyond the last heading. A row with
    more or fewer cells than the heading line is noted and left out.

    Args:
        path: CSV file in UTF-8, or in UTF-16 with a byte order mark.
        fits: tells from the cells of a heading line which delimiter the file has.
        problems: collects faults.

    Returns:
        Iterator over the heading line and the rows, each as the number of its first line (from 1)
        and its cells. Every row has as many cells as the heading line, whose cells are stripped.
        Nothing for a file of empty rows.

    Raises:
        ImportFailed: as in ``open_file``, and at the first point where the file is no CSV: after it
            nothing can be read. Also at a row of more than ``MAX_ELEMENT`` characters, and at more
            than ``MAX_BLANK_LINES`` empty rows.
    """
    delimiter = delimiter_of(path, fits, problems)
    width = blank = 0
    for first, cells in delimited_rows(path, problems, delimiter, is_strict=True):
        if not any(map(str.strip, cells)):
            blank += 1
            if blank > MAX_BLANK_LINES:
                message = f"is blank, and so are {MAX_BLANK_LINES:,} lines before it"
                problems.stop(first, "", message)
            continue
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if not width:
            width = len(cells)
            yield first, [cell.strip() for cell in cells]
        elif len(cells) != width:
            found = f"has {len(cells)} cells; the heading line has {width}"
            problems.add(first, "", found)
        else:
            yield first, cells


def delimited_rows(
    path: Path,
    problems: Problems,
    delimiter: str,
    encoding: str = "utf-8",
    is_strict: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Read all rows of a file, headings and empty ones included.

    Args:
        path: the file; in UTF-16 where it begins with the byte order mark.
        problems: collects the fault that is raised.
        delimiter: what separates cells.
        encoding: of another file.
        is_strict: refuse quotes that do not close at the end of a cell.

    Returns:
        Iterator over the number of the first line of a row (from 1) and its cells.

    Raises:
        ImportFailed: as in ``open_file``, and at the first point where the file is no CSV, is not
            in its encoding, or has a row of more than ``MAX_ELEMENT`` characters.
    """
    with open_file(path, problems, utf16=True, taken="CSV" if is_strict else "a table") as file:
        row = _Row()
        lines = _lines(file, row, problems, encoding, is_strict)
        reader = csv.reader(lines, strict=is_strict, delimiter=delimiter)
        while True:
            first = row.line + 1
            row.size = 0
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problems.stop(first, "", _plain(error))
            if cells is None:
                return
            yield first, cells


def delimiter_of(path: Path, fits: Fits | Sequence[str], problems: Problems) -> str:
    """Detect the delimiter of a CSV file from its heading line.

    Args:
        path: CSV file in UTF-8, or in UTF-16 with a byte order mark.
        fits: whether cells are those of a heading line, or the names that the heading line must
            have, in any order.
        problems: collects faults in opening the file; later ones are not noted here.

    Returns:
        The first of ``DELIMITERS`` that gives a heading line that fits; a comma where none does.

    Raises:
        ImportFailed: as in ``open_file``.
    """
    is_heading = fits if callable(fits) else _names_all(fits)
    with open_file(path, problems, utf16=True, taken="CSV") as file:
        lines = _lines(file, _Row(), Problems(path.name))
        try:
            heading = next((line for line in lines if line.strip()), "")
        except ImportFailed:  # whoever reads the rows meets it again, and notes it
            return ","
    for delimiter in DELIMITERS:
        try:
            cells = next(csv.reader([heading.strip("\r\n")], delimiter=delimiter), [])
        except csv.Error:
            continue
        while cells and not cells[-1].strip():
            cells.pop()
        if is_heading([cell.strip() for cell in cells]):
            return delimiter
    return ","


def likely_delimiter(text: str) -> str:
    """Guess the delimiter of a table from its beginning.

    Args:
        text: the first rows; the last one may be cut.

    Returns:
        The one of ``DELIMITERS`` that cuts the most rows into one number of cells above one, then
        into the most cells; a comma where none does. Rows may have empty cells at their end.
    """
    best, most = ",", (0, 0)
    for delimiter in DELIMITERS:
        widths = []
        try:
            for row in islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 20):
                filled = next((n for n in range(len(row), 0, -1) if row[n - 1].strip()), 0)
                if filled:
                    widths.append((filled, len(row)))
        except csv.Error:
            pass
        widths = widths[:-1] if len(widths) > 2 else widths  # the last one may be cut
        widest = max((filled for filled, _ in widths), default=0)
        score = (sum(widest in width for width in widths) if widest > 1 else 0, widest)
        if score > most:
            best, most = delimiter, score
    return best


def decimal_number(text: str, delimiter: str) -> float | None:
    """Parse the number in a CSV cell.

    A comma is a decimal mark where it does not separate cells, as spreadsheets in many languages
    write it: "1,5" is a number in a file whose delimiter is a semicolon or a tab.

    Args:
        text: content of the cell, without blanks around it.
        delimiter: what separates the cells of the file.

    Returns:
        The number; None where the cell holds something else, or more than 400 characters. Infinite
        where the exponent is beyond a double's.
    """
    if len(text) > _LONGEST_NUMBER or not _DECIMAL.fullmatch(text):
        return None
    if "," in text and delimiter == ",":
        return None
    return float(text.replace(",", "."))


def _names_all(columns: Sequence[str]) -> Fits:
    return lambda cells: sorted(cells) == sorted(columns)


def _lines(
    file: BinaryIO, row: _Row, problems: Problems, encoding: str = "utf-8", is_strict: bool = True
) -> Iterator[str]:
    for line in _decoded(file, row, problems, encoding, is_strict):
        row.line += 1
        row.size += len(line)
        if row.size > MAX_ELEMENT:
            message = f"this row is longer than {MAX_ELEMENT:,} bytes; a quote may be missing"
            problems.stop(row.line, "", message)
        if "\0" in line:
            place = line.index("\0") + 1
            problems.stop(row.line, "", f"holds a NUL byte (byte {place:,} of the line)")
        # For Excel alone; the heading line shows it, too
        yield "\n" if row.line == 1 and SEPARATOR_LINE.match(line) else line


def _decoded(
    file: BinaryIO, row: _Row, problems: Problems, encoding: str, is_strict: bool
) -> Iterator[str]:
    """The lines as text. UTF-16 has a mark at its start. Lines of what is not strict may end with
    a carriage return alone, as spreadsheets of old Macs wrote them."""
    start = file.read(2)
    file.seek(-len(start), io.SEEK_CUR)
    is_utf16 = start in UTF16_MARKS
    if not is_utf16 and is_strict:
        yield from _strict_lines(file, row, problems)
        return
    named = "UTF-16" if is_utf16 else encoding.upper()
    text = io.TextIOWrapper(file, named, newline="\n" if is_strict else "")
    try:
        while written := text.readline(MAX_ELEMENT + 1):
            if is_utf16 and not row.line and written.lstrip().startswith(("[", "{")):
                problems.stop("", "", "is UTF-16; save it as UTF-8")  # JSON, which is never so
            yield written
    except UnicodeError:
        problems.stop(row.line + 1, "", f"is not {named}{_SAVE_AS_UTF8}")


def _strict_lines(file: BinaryIO, row: _Row, problems: Problems) -> Iterator[str]:
    """In UTF-8: what is none is told with its place."""
    while line := file.readline(MAX_ELEMENT + 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1:,} of the line"
            if len(line) > MAX_ELEMENT:
                yield line.decode("utf-8", "replace")  # its length is refused
            else:
                problems.stop(row.line + 1, "", f"is not UTF-8 ({place}){_SAVE_AS_UTF8}")


def _plain(error: csv.Error) -> str:
    text = str(error)
    return next((message for sign, message in _MESSAGES if sign in text), f"is no CSV: {text}")
