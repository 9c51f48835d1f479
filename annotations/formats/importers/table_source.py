"""Tables of any kind (CSV, TSV, XLSX, flat JSON rows) as a heading and rows of text.

Encoding, delimiter, decimal mark and the line of the headings are guessed: UTF-8, UTF-16 with a
byte order mark, else Windows-1252; titles may stand above the headings, rows may be empty.
"""

from __future__ import annotations

import codecs
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotations.formats.importers.columnar import is_columnar
from annotations.formats.importers.compression import beginning
from annotations.formats.importers.csv_source import (
    SEPARATOR_LINE,
    UTF16_MARKS,
    delimited_rows,
    likely_delimiter,
)
from annotations.formats.importers.data_files import data_files
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_rows import json_rows, numbered_objects
from annotations.formats.importers.json_source import open_file
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.python_values import python_list
from annotations.formats.importers.spreadsheet import MAX_COLUMNS, sheet_rows
from common.tables.csv_text import without_guard

MAX_ROWS = 20_000_000
MAX_LISTED = 100
"""Scores of a list in a cell: a longer one is an embedding."""
_FIRST = 12
"""Rows among which the headings are looked for."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_NUMBER_AND_TEXT = re.compile(
    rf"({_NUMBER.pattern})(?![-–:=][0-9])\s*(?:-|–|:|=|\(|\.\s)\s*\S.*", re.DOTALL
)
"""``7 - Excellent``; no date, time or range."""
_NUMBER_OF = re.compile(rf"({_NUMBER.pattern})(?:\s*/\s*[0-9]+|\s+(?:out )?of\s+[0-9]+|\s*%)")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]{1,2}")
"""Where a comma cuts cells, a number in quotes may still have one; not one of thousands."""
NO_VALUE = frozenset(("", "na", "n/a", "nan", "none", "null", "-", "#n/a", "{}"))
_TEXT_CELLS = ("context", "response", "reference")


@dataclass(frozen=True)
class Table:
    """A table whose headings are known.

    Attributes:
        heading: names of the columns, each once; a column without one is "".
        heading_line: line of the headings.
        has_decimal_comma: a comma may be a decimal mark, since it separates no cells.
        rows: iterator over (line, cells), as many cells as headings.
    """

    heading: tuple[str, ...]
    heading_line: int
    has_decimal_comma: bool
    rows: Iterator[tuple[Where, list[str]]]


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value: empty, NA, n/a, None, null.

    Args:
        text: content of a cell.

    Returns:
        True for these, in letters of either size.
    """
    return text.strip().casefold() in NO_VALUE


def number_in(text: str, decimal_comma: bool = True) -> float | None:
    """The number in a cell.

    Args:
        text: content of the cell, such as "4", "2,5", "7 - Excellent", "4/5" or "40%".
        decimal_comma: accept a comma as the decimal mark; without it only before one or two digits.

    Returns:
        The number; None where the cell does not begin with one that a dash or the like ends.
    """
    text = text.strip()[:400]
    labelled = _NUMBER_AND_TEXT.fullmatch(text) or _NUMBER_OF.fullmatch(text)
    written = labelled[1] if labelled else text
    if not _NUMBER.fullmatch(written):
        return None
    if "," in written and not decimal_comma and not _DECIMAL_COMMA.fullmatch(written):
        return None
    number = float(written.replace(",", "."))
    return number if abs(number) < float("inf") else None


def numbers_in(text: str) -> list[float]:
    """The numbers of a list that stands in a cell.

    Args:
        text: such as "[4, 5]", or as NumPy prints it, "[4 5]".

    Returns:
        The numbers, at most ``MAX_LISTED``; none where the cell holds anything else.
    """
    values = (python_list(text) if text.lstrip().startswith("[") else None) or []
    are_scores = len(values) <= MAX_LISTED and all(
        isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1e100
        for one in values
    )
    return list(map(float, values)) if are_scores else []


def open_table(path: Path, problems: Problems, heading_line: int = 0) -> Table:
    """Find the headings of a table.

    Args:
        path: CSV, TSV, XLSX, or JSON rows (an array or lines of flat objects); a folder of such
            files, which have the same columns.
        problems: collects faults.
        heading_line: line of the headings where it is known; 0 to find it.

    Returns:
        The table; its rows are read as they are asked for.

    Raises:
        ImportFailed: as in ``open_file``; where the file is damaged or too large; where no row has
            two cells. Later, from the rows, too.
    """
    if holds_json(path):
        return _json_table(path, problems)
    if path.is_dir() and (files := data_files(path)):
        return _table_of_files(path, files, problems, heading_line)
    if zipfile.is_zipfile(path):
        rows, delimiter = sheet_rows(path, problems), ""
    else:
        rows, delimiter = _delimited(path, problems)
    first = list(islice(rows, _FIRST))
    if not first:
        problems.stop("", "", "holds no rows")
    place = _heading_index(first, heading_line)
    line, cells = first[place]
    names = tuple(_unique(cells))
    if not any(names):
        problems.stop(line, "", "names no column")
    below = chain(first[place + 1 :], rows)
    heading_line = line if isinstance(line, int) else 0
    return Table(names, heading_line, delimiter != ",", _of_width(below, len(names), problems))


def _table_of_files(
    folder: Path, files: Sequence[Path], problems: Problems, heading_line: int
) -> Table:
    first = open_table(files[0], problems, heading_line)

    def rows() -> Iterator[tuple[Where, list[str]]]:
        for file in files:
            name = file.relative_to(folder).as_posix()
            table = open_table(file, replace(problems, file=f"{problems.file}/{name}"))
            if sorted(table.heading) != sorted(first.heading):
                problems.add(
                    f"{name}:{table.heading_line}", "", f"has other columns than {files[0].name}"
                )
                continue
            order = [table.heading.index(column) for column in first.heading]
            for line, cells in table.rows:
                yield f"{name}:{line}", [cells[place] for place in order]

    return replace(first, rows=rows())


def _heading_index(first: Sequence[tuple[Where, list[str]]], heading_line: int) -> int:
    if heading_line:
        known = [place for place, (line, _) in enumerate(first) if line == heading_line]
        return known[0] if known else 0
    widths = [sum(bool(cell.strip()) for cell in cells) for _, cells in first]
    most = max(widths)
    return next(place for place, width in enumerate(widths) if width >= most - 1)


def _unique(cells: Sequence[str]) -> Iterator[str]:
    """Headings, of which one that occurs again gets a number."""
    met: Counter[str] = Counter()
    for cell in cells:
        name = re.sub(r"\s+", " ", without_guard(cell)).strip().removeprefix("\ufeff")
        met[name] += bool(name)
        yield name if met[name] < 2 else f"{name} ({met[name]})"


def _of_width(
    rows: Iterator[tuple[Where, list[str]]], width: int, problems: Problems
) -> Iterator[tuple[Where, list[str]]]:
    count = 0
    for line, cells in rows:
        if not any(map(str.strip, cells)):
            continue
        count += 1
        if count > MAX_ROWS:
            problems.stop(line, "", f"is row {count:,}; a table has at most {MAX_ROWS:,}")
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) > width:
            problems.add(line, "", f"has {len(cells)} cells; the heading line has {width}")
            continue
        yield line, cells + [""] * (width - len(cells))


# --- delimited text -------------------------------------------------------------------------------


def _delimited(path: Path, problems: Problems) -> tuple[Iterator[tuple[Where, list[str]]], str]:
    with open_file(path, problems, utf16=True, taken="a table") as file:
        start = file.read(64 * 1024)
        encoding = "utf-16" if start[:2] in UTF16_MARKS else _encoding(start, file)
    text = start.decode(encoding, "replace")
    first_line = text.partition("\n")[0] + "\n"
    named = SEPARATOR_LINE.match(first_line)
    delimiter = named[1] if named else likely_delimiter(text)
    rows = delimited_rows(path, problems, delimiter, encoding)
    return _of_bounded_width(rows, problems), delimiter


def _of_bounded_width(
    rows: Iterator[tuple[int, list[str]]], problems: Problems
) -> Iterator[tuple[Where, list[str]]]:
    for line, cells in rows:
        if len(cells) > MAX_COLUMNS:
            message = f"has {len(cells):,} cells; at most {MAX_COLUMNS:,} are taken"
            problems.stop(line, "", message)
        yield line, cells


def _encoding(start: bytes, file: Any) -> str:
    """UTF-8 where the whole file is; else the encoding of Windows in Western Europe."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        chunk = start
        while chunk:
            decoder.decode(chunk)
            chunk = file.read(1024 * 1024)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


# --- rows as JSON ---------------------------------------------------------------------------------


def holds_json(path: Path) -> bool:
    """Whether the rows of a table are JSON, or Parquet and Arrow, which become that.

    Args:
        path: file, or folder of files of data.

    Returns:
        False for delimited text and spreadsheets.
    """
    if path.is_dir():
        files = data_files(path)
        return bool(files) and holds_json(files[0])
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start, _ = beginning(file, 64)
    return is_columnar(path) or start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def _json_table(path: Path, problems: Problems) -> Table:
    """Columns are the keys of the first hundred rows; a value that is no text is written as
    JSON."""
    # Their faults are noted when they are read as rows
    quiet = Problems(problems.file, is_lenient=problems.is_lenient)
    first = list(islice(_json_rows(path, quiet), 100))
    kinds = (*_HEADS, *_ADDED, "preference")
    if any("dialogue_id" in row for _, row in first) and first[0][1].get("type") in kinds:
        return _table_of_records(path, problems)
    names = tuple(dict.fromkeys(str(key) for _, row in first for key in row))
    if not names:
        problems.stop("", "", "holds no rows with keys")
    if len(names) > MAX_COLUMNS:
        problems.stop("", "", f"has {len(names):,} keys; at most {MAX_COLUMNS:,} are taken")

    def rows() -> Iterator[tuple[Where, list[str]]]:
        for number, row in _json_rows(path, problems):
            if unknown := row.keys() - set(names):
                message = "is a key that the first 100 rows do not have"
                problems.add(number, str(sorted(unknown)[0])[:100], message)
            yield number, [_json_cell(row.get(name)) for name in names]

    return Table(names, 0, True, _of_width(rows(), len(names), problems))


_HEADS = ("corpus", "system", "rater", "dialogue")
_ADDED = ("response", "rating", "label")
_ADDED_COLUMNS = (
    *("dialogue_id", "turn", "system", "response", "rater", "aspect", "score", "comment"),
)


def _table_of_records(path: Path, problems: Problems) -> Table:
    """Responses, ratings and labels of the format ``jsonl``, which add to a corpus; it has what
    stands before them already."""

    def rows() -> Iterator[tuple[Where, list[str]]]:
        for line, record in json_rows(path, problems):
            kind = record.get("type") if isinstance(record, dict) else None
            if kind in _HEADS:
                continue
            if kind not in _ADDED:
                found = f"a {kind}" if isinstance(kind, str) else "this"
                problems.add(line, "type", f"{found[:50]} cannot be added: {', '.join(_ADDED)} can")
            elif record.get("sample") or record.get("message") is not None:
                problems.add(line, "", "further samples and labels of messages cannot be added")
            elif isinstance(record.get("value"), list):
                problems.add(line, "value", "a list of categories cannot be added")
            else:
                cells = {**record, "response": record.get("text") if kind == "response" else None}
                if kind == "label":
                    cells |= {"aspect": record.get("question"), "score": record.get("value")}
                yield line, [_json_cell(cells.get(name)) for name in _ADDED_COLUMNS]

    return Table(_ADDED_COLUMNS, 0, True, _of_width(rows(), len(_ADDED_COLUMNS), problems))


def _json_rows(path: Path, problems: Problems) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    for where, value in json_rows(path, problems):
        if isinstance(value, dict):
            yield where, value
        else:
            problems.add(where, "", "is no object with the columns as keys")


def _json_cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_rows(path: Path, problems: Problems) -> Iterator[tuple[Where, dict[str, str]]]:
    """Rows of a table by heading.

    Args:
        path: as in ``open_table``.
        problems: collects faults.

    Returns:
        Iterator over (line, cell by heading), without the apostrophes by which spreadsheets are
        told that a text is no formula.

    Raises:
        ImportFailed: as in ``open_table``.
    """
    table = open_table(path, problems)
    for line, cells in table.rows:
        yield line, dict(zip(table.heading, map(without_guard, cells), strict=True))


def numbered_rows(path: Path, problems: Problems) -> Iterator[tuple[int, JsonObject]]:
    """Records of JSON, or rows of a table as such, and count them.

    Args:
        path: as in ``open_table``.
        problems: collects faults.

    Returns:
        Iterator over (number from 1, record); of a table with its cells that are not empty.

    Raises:
        ImportFailed: as in ``numbered_objects`` and ``open_table``.
    """
    if holds_json(path):
        yield from numbered_objects(path, problems)
        return
    for number, (line, cells) in enumerate(read_rows(path, problems), 1):
        present = {key: cell for key, cell in cells.items() if cell.strip()}
        yield number, JsonObject(present, line, "", problems)


def headings(path: Path) -> tuple[str, ...]:
    """The headings of a table, for detection.

    Args:
        path: any file.

    Returns:
        Names of the columns; none where the file is no table.
    """
    try:
        return open_table(path, Problems(path.name)).heading
    except ImportFailed:
        return ()
