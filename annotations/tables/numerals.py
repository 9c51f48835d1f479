"""How figures are written on pages: a true minus sign, the same decimals in a column, thousands set
apart."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
SMALLEST_P = 0.001
"""More digits than that say nothing."""


def written(number: float, decimals: int) -> str:
    """``-0.1234`` with 3 decimals is "−0.123"; ``10395`` with none is "10,395". A rounded zero has
    no sign."""
    text = f"{number:,.{decimals}f}"
    if text.startswith("-") and not text.strip("-0.,"):
        text = text[1:]
    return text.replace("-", MINUS)


def written_interval(ci: tuple[float, float], decimals: int) -> str:
    """ "0.120 to 0.340": words, because a dash between two numbers can be read as a minus."""
    low, high = ci
    return f"{written(low, decimals)} to {written(high, decimals)}"


def written_p(p: float) -> str:
    """ "p = 0.031", or "p < 0.001"."""
    number = written_p_number(p)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def written_p_number(p: float) -> str:
    """ "0.031", or "< 0.001": what stands in a column of p."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def letter(number: int) -> str:
    """0 is a, 25 is z, 26 is aa: the letters of a compact letter display."""
    letters = ""
    number += 1
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
