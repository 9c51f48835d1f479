"""Dialogues that agree to the digit: of a few, that is chance, and an interval without width would
claim certainty.

On a scale of five points the first few dialogues of a system are often rated alike. Where n are,
the share of others that are not may still be 1 − 0.05^(1/n) (Clopper and Pearson's 95 % bound,
1934): 63 % after three, 26 % after ten. ``docs/statistics_correlation.md`` has how often such
intervals hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import FloatArray

MIN_IDENTICAL = 10
"""From so many dialogues on, those that agree to the digit have an interval: of a mean on a scale
with two ends as far as the others may pull it (``leaderboard.statistics.bounded``)."""
IDENTICAL_DIALOGUES = (
    f"the dialogues agree to the digit, as fewer than {MIN_IDENTICAL} may do by chance"
)
CONSTANT_IN_EVERY_RESAMPLE = (
    f"the value is the same in every draw, of fewer than {MIN_IDENTICAL} to draw from"
)
NO_ENDS = "the dialogues agree to the digit, and nothing says how far others may lie"
ROUNDING = 1e-12


def identical_dialogues(values: FloatArray, dialogues: int) -> bool:
    """Whether too few dialogues agree to the digit for an interval.

    Args:
        values: (n,) one for each dialogue, or for each resample or left-out dialogue.
        dialogues: how many dialogues ``values`` come from.

    Returns:
        True where all values are the same up to the last digits, and there are fewer than
        ``MIN_IDENTICAL`` dialogues.
    """
    return dialogues < MIN_IDENTICAL and agree_to_the_digit(values)


def why_no_spread(dialogues: int) -> str:
    """The reason why dialogues that agree to the digit have no interval.

    For statistics without a scale whose two ends would say how far other dialogues may lie.

    Args:
        dialogues: how many dialogues agree.

    Returns:
        ``IDENTICAL_DIALOGUES`` below ``MIN_IDENTICAL`` dialogues, ``NO_ENDS`` from there on.
    """
    return IDENTICAL_DIALOGUES if dialogues < MIN_IDENTICAL else NO_ENDS


def agree_to_the_digit(values: FloatArray) -> bool:
    """Whether all values are the same, up to the last digits.

    Args:
        values: (n,) numbers.

    Returns:
        True where their range is at most ``ROUNDING`` of the largest absolute value; False if there
        are none.
    """
    return bool(len(values) and np.ptp(values) <= ROUNDING * np.abs(values).max())


def rows_agree(values: FloatArray) -> NDArray[np.bool_]:
    """``agree_to_the_digit`` of each row.

    Args:
        values: (n, m) numbers, m at least 1; NaN where there is no value.

    Returns:
        (n,) whether the values of the row are the same; False for a row that is all NaN.
    """
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    agree: NDArray[np.bool_] = high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return agree
