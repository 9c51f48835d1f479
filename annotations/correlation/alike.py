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

from annotations.correlation.scores import FloatArray

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
    """``values``: (n,) one of each dialogue, or of each leaving out or drawing; whether all are the
    same, up to the last digits, and the ``dialogues`` behind them fewer than ``MIN_IDENTICAL``."""
    return dialogues < MIN_IDENTICAL and agree_to_the_digit(values)


def why_no_spread(dialogues: int) -> str:
    """Of dialogues that agree to the digit, where no two ends of a scale say how far others may
    lie."""
    return IDENTICAL_DIALOGUES if dialogues < MIN_IDENTICAL else NO_ENDS


def agree_to_the_digit(values: FloatArray) -> bool:
    """Whether all of (n,) values are the same, up to the last digits; False of none."""
    return bool(len(values) and np.ptp(values) <= ROUNDING * np.abs(values).max())


def rows_agree(values: FloatArray) -> NDArray[np.bool_]:
    """(n,) ``agree_to_the_digit`` of each row of (n, m) values, m of at least 1, NaN where there is
    none; False of a row without any."""
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    agree: NDArray[np.bool_] = high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return agree
