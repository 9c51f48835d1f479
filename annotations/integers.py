"""Whole numbers as addresses, forms and files write them."""

from __future__ import annotations

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
