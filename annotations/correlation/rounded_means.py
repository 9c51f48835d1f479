"""Means of the same scores in another order are the same number: what tied stays tied."""

from __future__ import annotations

from functools import cache

import numpy as np

from annotations.correlation.scores import FloatArray

SIGNIFICANT_DIGITS = 12
DIGITS_OF_PARTS = 14
"""Of means that are averaged again: two digits finer, or the rounding of the parts would untie
means of them."""
_EXPONENTS = np.arange(-1100, 1101)


def settled(means: FloatArray, digits: int = SIGNIFICANT_DIGITS) -> FloatArray:
    """The means rounded, so that those which differ only in the order of summation are equal.

    The same scores summed in another order differ in the last bit; without this, rank coefficients
    would see an order among systems that tie. Digits are counted from each value, since a smoothed
    BLEU of 1e-11 beside one of 1.0 is a score and not noise.

    Args:
        means: of any shape; NaN and infinities stay as they are.
        digits: the number of significant digits; some values get one more.

    Returns:
        Means of the same shape, each rounded to its own 12 or 13 significant digits (to ``digits``
        or one more).
    """
    scale = _scales(digits)[np.frexp(np.where(np.isfinite(means), means, 1.0))[1] - _EXPONENTS[0]]
    return np.asarray(np.rint(means * scale) / scale)


@cache
def _scales(digits: int) -> FloatArray:
    """For every binary exponent from −1100: the power of ten that makes so many digits of such a
    number whole."""
    decimals = np.clip(digits - np.floor(_EXPONENTS * np.log10(2.0)).astype(int), -300, 300)
    return np.array([float(f"1e{places}") for places in decimals])
