"""Agreement of rankings: Kendall's W, corrected for ties, and the mean τ-b between pairs of raters.

W = 12 Σ (R_i − R̄)² / (m² (n³ − n) − m Σ_j T_j) of m raters who rank n candidates, with the sums
R_i of midranks and T_j = Σ (t³ − t) over the groups of t tied candidates of rater j (Kendall and
Gibbons 1990, Rank Correlation Methods, 5th ed., chapter 6). Without any agreement W is about 1 / m,
not 0; the mean ρ over pairs of raters is (m W − 1) / (m − 1). τ-b = S / √(P_1 P_2), with the pairs
of candidates that each rater did not tie (Kendall 1945).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.means import mean_over_items
from annotations.agreement.tabulation import FloatArray, IntArray
from common.estimates import Estimate


@dataclass(frozen=True, slots=True)
class RankingAgreement:
    """Means over items, each of which counts once. ``items``: how many have two rankings or more
    that are not all ties."""

    kendall_w: Estimate
    mean_tau: Estimate
    items: int


def kendall_w(ranks: FloatArray) -> float:
    """Kendall's coefficient of concordance, corrected for ties.

    Args:
        ranks: (raters, candidates), any numbers; a lower one is better, equal ones are ties.

    Returns:
        W from 0 to 1; NaN with fewer than two raters or candidates, and where all are tied.
    """
    from scipy.stats import rankdata  # here: it takes half a second, and few pages need it

    raters, candidates = ranks.shape
    if raters < 2 or candidates < 2:
        return float("nan")
    midranks = rankdata(ranks, axis=1)
    ties = sum(
        float((sizes**3 - sizes).sum())
        for sizes in (np.unique(row, return_counts=True)[1].astype(np.float64) for row in ranks)
    )
    sums = midranks.sum(axis=0)
    most = raters**2 * (candidates**3 - candidates) - raters * ties
    return float(12.0 * ((sums - sums.mean()) ** 2).sum() / most) if most > 0 else float("nan")


def mean_tau(ranks: FloatArray) -> float:
    """The mean of Kendall's τ-b over all pairs of raters.

    Args:
        ranks: as in ``kendall_w``.

    Returns:
        From −1 to 1, over the pairs in which neither rater tied everything; NaN without any.
    """
    one, other = np.triu_indices(ranks.shape[1], 1)
    signs = np.sign(ranks[:, one] - ranks[:, other])
    untied = (signs != 0).sum(axis=1)
    concordance = signs @ signs.T
    first, second = np.triu_indices(ranks.shape[0], 1)
    defined = (untied[first] > 0) & (untied[second] > 0)
    if not defined.any():
        return float("nan")
    taus = concordance[first, second][defined] / np.sqrt(
        untied[first][defined] * untied[second][defined]
    )
    return float(taus.mean())


def ranking_agreement(
    items: Sequence[FloatArray], dialogue: IntArray, jackknife: Jackknife
) -> RankingAgreement:
    """W and mean τ-b of each item, averaged over items, with their 95 % intervals.

    Args:
        items: of each item the ranks, raters × candidates.
        dialogue: (items,) the dialogue of each, from 0.
        jackknife: which dialogues are left out, for the intervals.

    Returns:
        Both means. Undefined where no item has two rankings that are not all ties.
    """
    reason = "no item has two rankings that are not all ties"
    concordance = np.array([kendall_w(ranks) for ranks in items])
    taus = np.array([mean_tau(ranks) for ranks in items])
    return RankingAgreement(
        mean_over_items(concordance, dialogue, jackknife, reason),
        mean_over_items(taus, dialogue, jackknife, reason),
        int(np.isfinite(taus).sum()),
    )
