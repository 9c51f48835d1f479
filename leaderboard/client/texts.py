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
    """Make a value from the server safe to print on one line.

    Args:
        value: any value; None is an empty text.
        most: most characters; ``WHOLE`` for all.

    Returns:
        At most ``most`` characters, the last of them … where the text is longer. White space and
        line breaks become single spaces; control, format, surrogate, private and unassigned
        characters �.
    """
    text = "" if value is None else str(value)
    line = "".join(map(_safe, " ".join(text[: 4 * most].split())))
    return line if len(line) <= most else line[: most - 1] + "…"


def lines_of(value: Any) -> list[str]:
    """Make a longer text safe to print line by line.

    Args:
        value: any value; its line ends are LF or CR LF.

    Returns:
        Its lines, each as in ``one_line`` with at most 2,000 characters.
    """
    return [one_line(line, 2_000) for line in str(value).replace("\r\n", "\n").split("\n")]


def as_json(document: Any, in_ascii: bool = False) -> str:
    """Serialise a document as JSON that is safe to print.

    Args:
        document: of values that JSON has.
        in_ascii: escape everything that is not ASCII.

    Returns:
        Indented JSON. Characters that a terminal would act on are escapes, which JSON reads back as
        they were.
    """
    return json.dumps(document, ensure_ascii=in_ascii, indent=2, sort_keys=False).translate(
        _ESCAPED_IN_JSON
    )


def is_unicode(text: str) -> bool:
    """Whether a text can be sent as UTF-8.

    Args:
        text: such as an argument of the command.

    Returns:
        False where it holds half a surrogate pair: bytes that are not UTF-8 reach us as such, and
        no request takes them.
    """
    return not any("\ud800" <= character <= "\udfff" for character in text)


def width_of(text: str) -> int:
    """Number of columns that a text takes in a terminal.

    Args:
        text: on one line, without control characters.

    Returns:
        Two for each East Asian wide character, none for combining marks, one for all else.
    """
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def padded(text: str, width: int, right: bool = False) -> str:
    """Pad a text with spaces to a width in a terminal.

    Args:
        text: on one line.
        width: in columns, as ``width_of`` counts them.
        right: align right rather than left.

    Returns:
        The text with spaces; as it is where it is wider.
    """
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
