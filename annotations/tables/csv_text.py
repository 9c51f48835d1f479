"""The one place where CSV is written: text is quoted and no formula, numbers stand bare."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

FULL_WIDTH = ("\uff1d", "\uff0b", "\uff0d", "\uff20")
"""=, +, - and @ of East Asian input methods; some spreadsheets take them for the narrow ones."""
BYTE_ORDER_MARK = "\ufeff"
SEPARATORS = frozenset(",;|\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""Where a spreadsheet of another language, or one that reads past our quotes, begins a new cell."""
_SIGNS = re.escape("".join(("=", "+", "-", "@", *FULL_WIDTH)))
# Apostrophes before a sign belong to it: one more can be added and taken off again. At the very
# beginning a tab or a line end is guarded, too (OWASP, "CSV injection").
_SIGN = re.compile(rf"(?<!')'*[{_SIGNS}]|\A'*[\t\r\n]")
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
        cells: a number stands bare with all its digits, None is an empty cell, all else is text.
        end: CR LF as RFC 4180 has it; a command for a terminal ends its lines with LF.
    """
    return ",".join(map(_cell, cells)) + end


def csv_heading(columns: Iterable[str]) -> str:
    """The heading line of a file, behind a byte order mark: without one Excel takes UTF-8 for
    another encoding, and shows é as Ã©."""
    return BYTE_ORDER_MARK + csv_line(columns)


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], end: str = "\r\n") -> str:
    """A heading line, then a line a row; what a row does not have is an empty cell."""
    lines = [csv_line(columns, end)]
    for row in rows:
        assert row.keys() <= set(columns), row.keys() - set(columns)
        lines.append(csv_line((row.get(column) for column in columns), end))
    return "".join(lines)


def guarded(text: str) -> str:
    """The text with an apostrophe before each sign with which a spreadsheet would begin a formula.

    That is ``=``, ``+``, ``-`` or ``@`` at the start, or after a character at which a spreadsheet
    may split, whatever blanks and invisible characters stand between.
    """

    def with_guard(sign: re.Match[str]) -> str:
        return f"'{sign[0]}" if _begins_a_cell(text, sign.start()) else sign[0]

    return _SIGN.sub(with_guard, text)


def without_guard(text: str) -> str:
    """The text that ``guarded`` was given, of any text that it returned."""

    def plain(sign: re.Match[str]) -> str:
        return sign[0].removeprefix("'") if _begins_a_cell(text, sign.start()) else sign[0]

    return _SIGN.sub(plain, text)


def json_cell(value: Any) -> str:
    """A document for a cell. JSON's own escapes guard its strings, so that it reads back
    unchanged."""

    def escaped(string: re.Match[str]) -> str:
        def sign(found: re.Match[str]) -> str:
            if _begins_a_cell(string[0], found.start()):
                return f"{found[0][:-1]}\\u{ord(found[0][-1]):04x}"
            return found[0]

        return _SIGN.sub(sign, string[0])

    return _Json(_JSON_STRING.sub(escaped, json.dumps(value, ensure_ascii=False)))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, _Json):
        return _quoted(value)
    if isinstance(value, Number) and math.isfinite(value):  # type: ignore[arg-type]
        return str(value)
    return _quoted(guarded(str(value)))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _begins_a_cell(text: str, place: int) -> bool:
    while place:
        before = text[place - 1]
        if before in SEPARATORS:
            return True
        if before.isprintable() and before != '"' and before not in _SHOWS_NOTHING:
            return False
        place -= 1
    return True
