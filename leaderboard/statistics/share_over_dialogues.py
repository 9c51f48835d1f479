"""A share of items with an interval over dialogues: items of one dialogue are not independent.

The jackknife that leaves out one dialogue at a time says how far the share moves, v. A share of p(1
− p)/v independent items would move as far, and for so many Wilson's interval is made (Wilson 1927),
with Student's t of G − 1 degrees of freedom for G dialogues: the modified Wilson interval of
surveys with clusters (Franco et al. 2019, Journal of Survey Statistics and Methodology 7). It stays
within 0 and 1, where the jackknife's own does not near the ends. Where all items agree, or all
dialogues are split alike, the jackknife sees no spread at all; then a dialogue counts as one item.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from common.correlation.jackknife import ONE_CLUSTER, group_of_cluster
from common.estimates import Estimate

NOTHING = "there is no pair"
ROUNDING = 1e-24
"""A variance of shares below it is what float64 rounds: dialogues that are split alike have
none."""


def share_over_dialogues(
    hits: Sequence[bool] | ArrayLike, dialogues: Sequence[int] | ArrayLike, level: float = 0.95
) -> Estimate:
    """Share of items that are hits, with its modified Wilson interval over dialogues.

    Args:
        hits: (n,) whether each item is one; half a hit is 0.5.
        dialogues: (n,) number of each item's dialogue.
        level: confidence level, in (0, 1).

    Returns:
        From 0 to 1, as the ends of the interval are. Undefined without items; without an interval
        where all are of one dialogue.
    """
    _, index = np.unique(np.asarray(dialogues), return_inverse=True)
    hit = np.bincount(index, weights=np.asarray(hits, dtype=float))
    return share_of_dialogues(hit, np.bincount(index), level)


def share_of_dialogues(hits: ArrayLike, items: ArrayLike, level: float = 0.95) -> Estimate:
    """As ``share_over_dialogues``, from what was counted in each dialogue.

    Args:
        hits: (G,) hits in each dialogue.
        items: (G,) items in each dialogue; dialogues without any do not count.
        level: confidence level, in (0, 1).

    Returns:
        As ``share_over_dialogues``.
    """
    count = np.asarray(items, dtype=float)
    hit, count = np.asarray(hits, dtype=float)[count > 0], count[count > 0]
    if not len(count):
        return Estimate.undefined(NOTHING)
    share = float(hit.sum() / count.sum())
    if len(count) < 2:
        return Estimate(value=share, reason=ONE_CLUSTER)
    group = group_of_cluster(len(count))
    left_out = (hit.sum() - np.bincount(group, hit)) / (count.sum() - np.bincount(group, count))
    groups = len(left_out)
    moves = float((groups - 1) / groups * np.square(left_out - left_out.mean()).sum())
    alone = share * (1 - share) / moves if moves > ROUNDING else float(len(count))
    # Dialogues whose items happen to be split more evenly than chance splits them do not make more
    # of them.
    alone = min(alone, float(count.sum()))
    reach = float(stdtrit(groups - 1, 0.5 + level / 2))
    return Estimate(value=share, ci=wilson(share, alone, reach))


def wilson(share: float, items: float, reach: float) -> tuple[float, float]:
    """Wilson's interval of a share.

    Args:
        share: from 0 to 1.
        items: number of independent items, need not be whole.
        reach: quantile of the normal (or of Student's t) distribution, such as 1.96.

    Returns:
        (low, high), from 0 to 1: the p whose normal approximation with ``items`` draws has
        ``share`` within ``reach`` standard deviations (Wilson 1927).
    """
    weight = items + reach**2
    centre = (items * share + reach**2 / 2) / weight
    half = reach / weight * np.sqrt(items * share * (1 - share) + reach**2 / 4)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
