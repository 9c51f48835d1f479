"""What a server sent, made fit for a terminal: no control character, no bidirectional trick,
nothing without an end."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

MOST = 500
WHOLE = sys.maxsize
"""For ``one_line``: as long as it is."""
_ESCAPED_IN_JSON = {
    code: f"\\u{code:04x}"
    for code in (
        0x7F,
        *range(0x80, 0xA0),
        0x61C,
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    )
}


def one_line(value: Any, most: int = MOST) -> str:
    """``value`` on one line of at most ``most`` characters; line breaks become spaces, control
    characters �."""
    text = "" if value is None else str(value)
    line = "".join(map(_safe, " ".join(text[: 4 * most].split())))
    return line if len(line) <= most else line[: most - 1] + "…"


def lines_of(value: Any) -> list[str]:
    """A longer text line by line, each of them safe."""
    return [one_line(line, 2_000) for line in str(value).replace("\r\n", "\n").split("\n")]


def as_json(document: Any, in_ascii: bool = False) -> str:
    """One JSON document. What a terminal would act on is written as an escape, which JSON reads
    back as it was; ``in_ascii`` everything that is not ASCII."""
    return json.dumps(document, ensure_ascii=in_ascii, indent=2, sort_keys=False).translate(
        _ESCAPED_IN_JSON
    )


def is_unicode(text: str) -> bool:
    """False where there is half a surrogate pair: so bytes that are no UTF-8 reach us, and no
    request takes them."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def width_of(text: str) -> int:
    """Columns that a terminal gives the text: East Asian wide characters take two, combining marks
    none."""
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def padded(text: str, width: int, right: bool = False) -> str:
    space = " " * max(0, width - width_of(text))
    return space + text if right else text + space


def _safe(character: str) -> str:
    """Control (Cc), format (Cf: bidirectional marks), surrogate (Cs) and private (Co) characters
    become �."""
    if character.isprintable():
        return character
    return (
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")
        else " "
    )
