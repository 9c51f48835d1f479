"""Means over items and shares of pairs, with jackknife intervals over dialogues."""

from __future__ import annotations

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import FloatArray, IntArray
from common.estimates import Estimate


def mean_over_items(
    values: FloatArray, dialogue: IntArray, jackknife: Jackknife, if_undefined: str
) -> Estimate:
    """The mean of what was found for each item.

    Args:
        values: (items,) NaN where there is nothing for an item.
        dialogue: (items,) the dialogue of each, from 0.
        jackknife: which dialogues are left out, for the interval.
        if_undefined: the reason where there is nothing for any item.

    Returns:
        The mean with its 95 % interval, each item counting once.
    """
    found = np.isfinite(values)
    return ratio(
        np.where(found, values, 0.0), found.astype(np.float64), dialogue, jackknife, if_undefined
    )


def ratio(
    part: FloatArray,
    whole: FloatArray,
    dialogue: IntArray,
    jackknife: Jackknife,
    if_undefined: str,
) -> Estimate:
    """Σ part / Σ whole over all items.

    Args:
        part: (items,) what is counted, such as pairs of raters that agree.
        whole: (items,) of how many.
        dialogue: (items,) the dialogue of each, from 0.
        jackknife: which dialogues are left out, for the interval.
        if_undefined: the reason where there is nothing to count.

    Returns:
        The ratio, at most 1, with its 95 % interval.
    """
    dialogues = jackknife.group.size
    sums = np.column_stack(
        [np.bincount(dialogue, counted, minlength=dialogues) for counted in (part, whole)]
    )
    total = sums.sum(axis=0)
    left_out = jackknife.sums(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = left_out[:, 0] / left_out[:, 1]
    return jackknife.estimate(
        float(total[0] / total[1]) if total[1] else float("nan"),
        replicates,
        jackknife.group[dialogue[whole > 0]],
        if_undefined,
        "bounded",
    )
