"""Spreadsheets (XLSX), row by row, as text: a formula is its text and is never computed.

The parts of the file are measured before one is opened; what unpacks to more than the limits is
refused.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from annotations.formats.importers.problems import ImportFailed, Problems, Where

MAX_UNPACKED = 512 * 1024**2
MAX_RATIO = 200
"""Of a part's unpacked to its packed size, beyond 1 MiB: XML of cells packs 10 to 50 times."""
MAX_COLUMNS = 2_000
MAX_BLANK_ROWS = 1_000
_FIRST_ROWS = 10


def sheet_rows(path: Path, problems: Problems) -> Iterator[tuple[Where, list[str]]]:
    """Read the rows of the widest sheet, of several as wide the first, and of those that have the
    same headings. Other sheets are reported.

    Args:
        path: XLSX file.
        problems: collects the fault that is raised.

    Returns:
        Iterator over (row number from 1, of further sheets behind their names, cells as text):
        whole numbers without a decimal point, dates as ISO 8601, true and false in small letters.
        Rows without content are left out.

    Raises:
        ImportFailed: the file is damaged or half, unpacks to more than the limits, has a row of
            more than ``MAX_COLUMNS`` cells, or no sheet with content.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            if not any(name.startswith("xl/") for name in archive.namelist()):
                problems.stop(
                    "", "", "is a zip archive without a spreadsheet; give the file itself"
                )
            _refuse_a_bomb(archive, problems)
            book = load_workbook(file, read_only=True, data_only=False, keep_links=False)
            tops = [list(islice(_content(one, problems), _FIRST_ROWS)) for one in book.worksheets]
            widths = [max((_width(cells) for _, cells in top), default=0) for top in tops]
            if any(widths):
                main = widths.index(max(widths))
                heading = next(one for _, one in tops[main] if _width(one) >= widths[main] - 1)
                yield from _content(book.worksheets[main], problems)
                for sheet, top in zip(book.worksheets, tops, strict=True):
                    if sheet is book.worksheets[main] or not top:
                        continue
                    below = _content(sheet, problems)
                    if any(cells == heading for _, cells in below):
                        yield from ((f"{sheet.title}:{number}", cells) for number, cells in below)
                    elif max(_width(cells) for _, cells in top) > 1:
                        _report(sheet.title, book.worksheets[main].title, problems)
                return
    except (
        *(zipfile.BadZipFile, zlib.error, InvalidFileException, ParseError, OSError, EOFError),
        *(KeyError, ValueError, TypeError, IndexError, AttributeError, NotImplementedError),
    ) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        problems.stop("", "", f"is a damaged spreadsheet: {reason or type(error).__name__}")
    problems.stop("", "", "is a spreadsheet without content")


def _width(cells: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _report(sheet: str, read: str, problems: Problems) -> None:
    """Once, though a table is read twice."""
    message = f"is not read: it has not the columns of the sheet {read!r}"
    if not any(one.where == f"sheet {sheet!r}" for one in problems.skipped):
        problems.skip(f"sheet {sheet!r}", "", message)


def first_rows(path: Path) -> list[tuple[str, ...]]:
    """The first rows of a spreadsheet, for detection.

    Args:
        path: XLSX file.

    Returns:
        At most ten rows; none where the file cannot be read.
    """
    try:
        rows = islice(sheet_rows(path, Problems(path.name)), _FIRST_ROWS)
        return [tuple(cells) for _, cells in rows]
    except ImportFailed:
        return []


def _refuse_a_bomb(archive: zipfile.ZipFile, problems: Problems) -> None:
    infos = archive.infolist()
    total = sum(info.file_size for info in infos)
    for info in infos:
        if info.file_size > max(1024**2, info.compress_size * MAX_RATIO) or total > MAX_UNPACKED:
            problems.stop("", "", f"would unpack to {total:,} bytes: it is no ordinary spreadsheet")


def _content(sheet: Any, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    sheet.reset_dimensions()  # what the file says of its size may be a lie
    blank = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if len(row) > MAX_COLUMNS:
            problems.stop(number, "", f"has {len(row):,} cells; at most {MAX_COLUMNS:,} are taken")
        cells = [cell_text(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            blank = 0
            yield number, cells
            continue
        blank += 1
        if blank > MAX_BLANK_ROWS:
            return


def cell_text(value: Any) -> str:
    """The content of a cell as text.

    Args:
        value: as openpyxl gives it.

    Returns:
        Its text; "" for an empty cell.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        is_day = value.time() == time()
        return value.date().isoformat() if is_day else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return str(value)
