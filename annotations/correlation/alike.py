"""Dialogues that agree to the digit: of a few, that is chance, and an interval without width would
claim certainty.

On a scale of five points the first few dialogues of a system are often rated alike. Where n are,
the share of others that are not may still be 1 − 0.05^(1/n) (Clopper and Pearson's 95 % bound,
1934): 63 % after three, 26 % after ten. ``docs/statistics_correlation.md`` has how often such
intervals hold.
"""

from __future__ import annotations

import numpy as np

from annotations.correlation.scores import FloatArray

LEAST_ALIKE = 10
"""From so many dialogues on, those that agree to the digit have an interval, without width."""
ALIKE_BY_CHANCE = f"the dialogues agree to the digit, as fewer than {LEAST_ALIKE} may do by chance"
ALIKE_IN_EVERY_DRAW = (
    f"the value is the same in every draw, of fewer than {LEAST_ALIKE} to draw from"
)
ROUNDING = 1e-12


def alike_by_chance(values: FloatArray, dialogues: int) -> bool:
    """``values``: (n,) one of each dialogue, or of each leaving out or drawing; whether all are the
    same, up to the last digits, and the ``dialogues`` behind them fewer than ``LEAST_ALIKE``."""
    if dialogues >= LEAST_ALIKE or not len(values):
        return False
    return bool(np.ptp(values) <= ROUNDING * np.abs(values).max())
