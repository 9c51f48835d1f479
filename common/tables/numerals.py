"""How figures are written on pages (a true minus sign, the same decimals in a column, thousands set
apart), and a cell without a figure, which knows the reason."""

from __future__ import annotations

from collections.abc import Iterable

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
SMALLEST_P = 0.001
"""More digits than that say nothing."""


def written(number: float, decimals: int) -> str:
    """Format a number for a page.

    Args:
        number: any finite number.
        decimals: number of decimals.

    Returns:
        With a true minus sign and thousands set apart: ``-0.1234`` with 3 decimals is "−0.123",
        ``10395`` with none is "10,395". A number that rounds to zero has no sign.
    """
    text = f"{number:,.{decimals}f}"
    if text.startswith("-") and not text.strip("-0.,"):
        text = text[1:]
    return text.replace("-", MINUS)


def written_interval(ci: tuple[float, float], decimals: int) -> str:
    """Format an interval for a page.

    Args:
        ci: (low, high).
        decimals: number of decimals.

    Returns:
        "0.120 to 0.340": in words, because a dash between two numbers can be read as a minus.
    """
    low, high = ci
    return f"{written(low, decimals)} to {written(high, decimals)}"


def bracketed(ci: tuple[float, float], decimals: int) -> str:
    """Format an interval as tables and sentences print it behind its value.

    Args:
        ci: (low, high).
        decimals: number of decimals, those of the value.

    Returns:
        "[0.120, 0.340]".
    """
    low, high = ci
    return f"[{written(low, decimals)}, {written(high, decimals)}]"


def with_interval(value: float, ci: tuple[float, float] | None, decimals: int) -> str:
    """Format a number with its interval for a sentence.

    Args:
        value: any finite number.
        ci: (low, high), None where there is none.
        decimals: number of decimals of all three.

    Returns:
        "0.231 [0.120, 0.340]", or "0.231".
    """
    return (
        f"{written(value, decimals)} {bracketed(ci, decimals)}" if ci else written(value, decimals)
    )


def written_p(p: float) -> str:
    """Format a p-value for running text.

    Args:
        p: in [0, 1].

    Returns:
        "p = 0.031", or "p < 0.001" where it is smaller.
    """
    number = written_p_number(p)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def written_p_number(p: float) -> str:
    """Format a p-value for a column of p-values.

    Args:
        p: in [0, 1].

    Returns:
        "0.031", or "< 0.001" where it is smaller.
    """
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def letter(number: int) -> str:
    """Name a group of a compact letter display.

    Args:
        number: of the group, from 0.

    Returns:
        0 is a, 25 is z, 26 is aa.
    """
    letters = ""
    number += 1
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


class Dash(str):
    """A cell without a figure, "–", that knows the reason.

    ``print_table`` prints the reason below the table.

    Args:
        reason: why there is no figure.
        text: what the cell shows.
    """

    __slots__ = ("reason",)
    reason: str

    def __new__(cls, reason: str, text: str = "–") -> Dash:
        made = super().__new__(cls, text)
        made.reason = reason
        return made

    @classmethod
    def joined(cls, parts: Iterable[str], text: str) -> str:
        """Text of a cell that is made of several.

        Args:
            parts: the cells; those that are a ``Dash`` have no figure.
            text: made of these parts.

        Returns:
            ``text`` as a ``Dash`` with the distinct reasons, separated by semicolons; plain
            ``text`` where every part has a figure.
        """
        reasons = dict.fromkeys(part.reason for part in parts if isinstance(part, Dash))
        return cls("; ".join(reasons), text) if reasons else text
