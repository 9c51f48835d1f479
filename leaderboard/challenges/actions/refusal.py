"""What an organiser is told when a step is not taken."""

from __future__ import annotations

from collections.abc import Callable

from common.text import text_fault

LONGEST_REASON = 500


class Refused(Exception):
    """Nothing was changed. The message says why, in the organiser's language; ``field`` names what
    it is about, as the form does, or is empty."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field


def checked_text(
    text: str, limit: int, field: str, say: Callable[[str], str], may_be_empty: bool = False
) -> str:
    """The text without space at its ends and with plain line ends. Raises ``Refused`` with what
    ``say`` makes of the fault."""
    text = text.replace("\r\n", "\n").strip()
    if fault := text_fault(text, limit, may_be_empty):
        raise Refused(say(fault), field)
    return text
