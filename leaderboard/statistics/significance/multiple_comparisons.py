"""p-values of many comparisons, adjusted so that they can be read as if each stood alone.

Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure: the chance of any false
rejection among all comparisons stays below the level. Benjamini & Hochberg (1995), Controlling the
False Discovery Rate: of the comparisons called different, the expected share of false ones stays
below the level; it rejects more, and promises less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.statistics.correlation.placed_scores import FloatArray


def holm(p_values: ArrayLike) -> FloatArray:
    """p-values adjusted by Holm's method, which controls the family-wise error rate.

    Args:
        p_values: (m,) in [0, 1]. NaN, for comparisons that do not exist, is not counted in m.

    Returns:
        (m,) adjusted p in the same order; NaN stays NaN.

    Raises:
        ValueError: Not one list, or a p outside [0, 1].

    Equation: at step k, counted from the smallest p, the largest (m − j + 1)·p of the steps j ≤ k,
    at most 1 (Holm 1979).
    """
    p = _checked(p_values)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    steps = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps * p[order]), 1.0) if len(order) else []
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """p-values adjusted by the Benjamini–Hochberg method, which controls the false discovery rate.

    Args:
        p_values: (m,) in [0, 1]. NaN, for comparisons that do not exist, is not counted in m.

    Returns:
        (m,) adjusted p in the same order; NaN stays NaN.

    Raises:
        ValueError: Not one list, or a p outside [0, 1].

    Equation: at step k, counted from the smallest p, the smallest m·p/j of the steps j ≥ k, at most
    1 (Benjamini & Hochberg 1995).
    """
    p = _checked(p_values)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    scaled = p[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = (
        np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0) if len(order) else []
    )
    return adjusted


def _checked(p_values: ArrayLike) -> FloatArray:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"need one list of p-values, got shape {p.shape}")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    return p
