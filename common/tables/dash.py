"""A table's cell without a figure, in a terminal or a file: no figure without a reason."""

from __future__ import annotations

from collections.abc import Iterable


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
