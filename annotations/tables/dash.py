"""A table's cell without a figure, in a terminal or a file: no figure without a reason."""

from __future__ import annotations

from collections.abc import Iterable


class Dash(str):
    """A cell without a figure, "–", that knows the reason. ``print_table`` tells it beneath the
    table."""

    __slots__ = ("reason",)
    reason: str

    def __new__(cls, reason: str, text: str = "–") -> Dash:
        made = super().__new__(cls, text)
        made.reason = reason
        return made

    @classmethod
    def joined(cls, parts: Iterable[str], text: str) -> str:
        """``text``, made of these parts: with the reasons of those that have no figure."""
        reasons = dict.fromkeys(part.reason for part in parts if isinstance(part, Dash))
        return cls("; ".join(reasons), text) if reasons else text
