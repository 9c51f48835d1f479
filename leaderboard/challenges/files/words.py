"""What a file says, shown in a message: printable, short, and never a control character or half a
surrogate pair."""

from __future__ import annotations

from collections.abc import Sequence

MOST_SHOWN = 60
MOST_NUMBERS = 10


def shown(value: str) -> str:
    """In quotation marks, cut, with what cannot be printed written as an escape."""
    return repr(value) if len(value) <= MOST_SHOWN else repr(value[:MOST_SHOWN]) + "…"


def shown_field(key: str) -> str:
    """A key as the path names it; one that is long or cannot be printed as in ``shown``."""
    return key if key.isprintable() and 0 < len(key) <= MOST_SHOWN else shown(key)


def some(noun: str, numbers: Sequence[int]) -> str:
    """``turn 3`` or ``turns 3, 4 and 6``; of many the first ten."""
    words = [str(number) for number in numbers[:MOST_NUMBERS]]
    if len(numbers) > MOST_NUMBERS:
        return f"{noun}s {', '.join(words)} and {len(numbers) - MOST_NUMBERS} more"
    if len(words) == 1:
        return f"{noun} {words[0]}"
    return f"{noun}s {', '.join(words[:-1])} and {words[-1]}"
