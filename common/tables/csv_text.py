"""The one place where CSV is written: text is quoted and no formula, numbers stand bare."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Number
from typing import Any

FULL_WIDTH = ("\uff1d", "\uff0b", "\uff0d", "\uff20")
"""=, +, - and @ of East Asian input methods; some spreadsheets take them for the narrow ones."""
BYTE_ORDER_MARK = "\ufeff"
SEPARATORS = frozenset(",;|\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""Where a spreadsheet of another language, or one that reads past our quotes, begins a new cell."""
_SIGN = re.compile("[" + re.escape("".join(("=", "+", "-", "@", *FULL_WIDTH))) + "]")
# At the very beginning a tab or a line end is guarded, too (OWASP, "CSV injection").
_BLANK_BEGINNING = re.compile(r"'*[\t\r\n]")
_JSON_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
# Unicode counts these as printable although they show nothing: fillers, selectors of variants.
_SHOWS_NOTHING = frozenset(
    map(
        chr,
        (
            *(0x20, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)


class _Json(str):
    """The text of a JSON document, in which no string begins with a sign."""

    __slots__ = ()


def csv_line(cells: Iterable[Any], end: str = "\r\n") -> str:
    """A line of a CSV file.

    Args:
        cells: a finite number stands bare with all its digits, None is an empty cell, all else is
            text, quoted and ``guarded``.
        end: CR LF as RFC 4180 has it; a command for a terminal ends its lines with LF.

    Returns:
        The cells, separated by commas, and the line end.
    """
    return ",".join(map(_cell, cells)) + end


def csv_heading(columns: Iterable[str]) -> str:
    """The heading line of a CSV file, behind a byte order mark.

    Without one Excel takes UTF-8 for another encoding, and shows é as Ã©.

    Args:
        columns: names of the columns.

    Returns:
        Byte order mark, names and CR LF.
    """
    return BYTE_ORDER_MARK + csv_line(columns)


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], end: str = "\r\n") -> str:
    """A whole CSV table, without a byte order mark.

    Args:
        columns: names of the columns, in order.
        rows: cells by column; what a row does not have is an empty cell.
        end: line end, as in ``csv_line``.

    Returns:
        A heading line, then one line per row.

    Raises:
        AssertionError: a row has a key that is no column.
    """
    lines = [csv_line(columns, end)]
    for row in rows:
        assert row.keys() <= set(columns), row.keys() - set(columns)
        lines.append(csv_line((row.get(column) for column in columns), end))
    return "".join(lines)


def guarded(text: str) -> str:
    """Protect a text against being read as a formula by a spreadsheet (OWASP, "CSV injection").

    Args:
        text: content of a cell.

    Returns:
        The text with an apostrophe before each sign with which a spreadsheet would begin a formula:
        ``=``, ``+``, ``-`` or ``@`` at the start, or after a character at which a spreadsheet may
        split, whatever blanks and invisible characters stand between.
    """

    for start, _sign in reversed(_formulas(text)):
        text = f"{text[:start]}'{text[start:]}"
    return text


def without_guard(text: str) -> str:
    """Undo ``guarded``.

    Args:
        text: any text that ``guarded`` returned.

    Returns:
        The text that ``guarded`` was called with.
    """

    for start, sign in reversed(_formulas(text)):
        if start < sign:
            text = text[:start] + text[start + 1 :]
    return text


def json_cell(value: Any) -> str:
    """Serialise a JSON document for a cell of ``csv_line``.

    Args:
        value: of values that JSON has.

    Returns:
        JSON whose own escapes protect its strings from spreadsheets, so that it reads back
        unchanged. ``csv_line`` quotes it without guarding it again.
    """

    def escaped(found: re.Match[str]) -> str:
        string = found[0]
        for _start, sign in reversed(_formulas(string)):
            string = f"{string[:sign]}\\u{ord(string[sign]):04x}{string[sign + 1 :]}"
        return string

    return _Json(_JSON_STRING.sub(escaped, json.dumps(value, ensure_ascii=False)))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, _Json):
        return _quoted(value)
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, Number) and math.isfinite(value):  # type: ignore[arg-type]
        return str(value)
    return _text_cell(str(value))


@lru_cache(maxsize=1024)
def _text_cell(text: str) -> str:
    """Names and signatures stand in row after row."""
    return _quoted(guarded(text))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _formulas(text: str) -> list[tuple[int, int]]:
    """Where a spreadsheet would begin a formula: of each sign the place of the first apostrophe
    before it, and its own. Apostrophes before a sign belong to it: one more can be added and taken
    off again."""
    found = []
    if blank := _BLANK_BEGINNING.match(text):
        found.append((0, blank.end() - 1))
    for sign in _SIGN.finditer(text):
        start = sign.start()
        while start and text[start - 1] == "'":
            start -= 1
        if _begins_a_cell(text, start):
            found.append((start, sign.start()))
    return found


def _begins_a_cell(text: str, place: int) -> bool:
    while place:
        before = text[place - 1]
        if before in SEPARATORS:
            return True
        if before.isprintable() and before != '"' and before not in _SHOWS_NOTHING:
            return False
        place -= 1
    return True
