"""Turns the lines of a conversation into utterances where a file does not name the speakers."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.records import TARGET_SPEAKER, Utterance

PARTNER = "A"


def alternating(lines: Sequence[str]) -> tuple[Utterance, ...]:
    """Assign the lines of a conversation to two speakers in turn.

    Args:
        lines: utterances, oldest first.

    Returns:
        One utterance per line, by A and B alternately, the last of them by A: the target speaker B
        answers it. Empty for no lines.
    """
    return tuple(
        Utterance(PARTNER if (len(lines) - position) % 2 else TARGET_SPEAKER, line)
        for position, line in enumerate(lines)
    )
