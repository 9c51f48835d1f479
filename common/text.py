"""What a text must be to be stored: printable in JSON, not endless, and not empty where it says
something; whole numbers as addresses, forms and files write them; and lists in a sentence.
Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_NAME = 200
"""Characters of an id, a system or a rater."""
MAX_ASPECT = 100
"""Characters of an aspect, and what a database's column of ratings holds."""
MAX_TEXT = 200_000
"""Characters of any other text of a corpus: a message, a response, a reference, a comment."""
MAX_RESPONSE = 4_000
"""Characters of a response that is submitted to a challenge."""
MAX_UTTERANCE = 20_000
"""Characters of an utterance in a challenge's dialogues."""

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Remove what a database cannot store from unchecked text, such as an error message.

    Args:
        text: any text.

    Returns:
        The text without NUL characters, and with ``?`` for each half of a surrogate pair.
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def name_fault(name: str) -> str:
    """Check an id or a name: two that look the same would be two people, or two systems.

    Args:
        name: of a dialogue, a system or a rater.

    Returns:
        What is wrong with it, as a predicate ("is empty"); "" where nothing is. It must be as in
        ``text_fault`` with ``MAX_NAME`` characters, without white space at its ends, and in NFC.
    """
    if fault := text_fault(name, MAX_NAME):
        return fault
    if name != name.strip():
        return "begins or ends with white space"
    return (
        "" if unicodedata.is_normalized("NFC", name) else "is not in Unicode's composed form (NFC)"
    )


def text_fault(text: str, limit: int, may_be_empty: bool = False) -> str:
    """Check that a text can be stored.

    Args:
        text: any text.
        limit: most characters.
        may_be_empty: accept text of nothing but white space.

    Returns:
        What is wrong with it, as a predicate ("is empty"); "" where nothing is. It must hold no NUL
        character and no half of a surrogate pair.
    """
    if not may_be_empty and not text.strip():
        return "is empty"
    if len(text) > limit:
        return f"has {len(text):,} characters; at most {limit:,} are allowed"
    if "\0" in text:
        return f"holds a NUL character (character {text.index(chr(0)) + 1})"
    half = _HALF_PAIR.search(text)
    return f"holds half of a surrogate pair (character {half.start() + 1})" if half else ""


def enumeration(names: Sequence[str], most: int | None = None) -> str:
    """Format a list for a sentence.

    Args:
        names: what is listed.
        most: how many are named at most, where that leaves out more than one.

    Returns:
        "a", "a, b and c", "a, b and 4 more"; "" of none.
    """
    if most is not None and len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


DIGITS_OF_A_NUMBER, DIGITS_OF_A_KEY = 9, 18
"""What fits into a database's integer, and into its big one."""


def parse_integer(written: str, digits: int = DIGITS_OF_A_NUMBER) -> int | None:
    """The number from 0 on that stands there in at most so many digits, else None. ``int`` would
    also take signs, blanks, underscores and digits of other scripts; a database refuses what is
    longer, and Python thousands of digits.
    """
    return (
        int(written) if written.isascii() and written.isdigit() and len(written) <= digits else None
    )
