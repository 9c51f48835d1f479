"""Spearman's rank correlation ρ (midranks for ties), and ρ of every cluster resample.

Twice an item's centred midrank in a resample is (items below it) − (items above it) = Σ_d w_d ·
balance[i, d], with balance[i, d] counted once per cluster d and w_d the times d was drawn. All sums
are whole numbers and exact. With few clusters, Σ_i w_d(i) · rank_i · rank'_i is a cubic form in w
over clusters × clusters × clusters moments and the resampled ranks are never written down; with
many, the ranks come from cumulative weights in score order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from common.correlation.scores import FloatArray, IntArray, value_groups, why_undefined
from common.estimates import Estimate

MAX_CLUSTERS_FOR_MOMENTS = 32
"""Above this the cubic form costs more than ranking every resample."""


def spearman_estimate(human: FloatArray, metric: FloatArray) -> Estimate:
    """Spearman's ρ of n pairs of scores with its p-value, without an interval.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.

    Returns:
        ρ in [−1, 1], midranks for ties, with the two-sided p of ``scipy.stats.spearmanr`` (t
        approximation). Undefined with fewer than 3 pairs, or where one of the two lists is
        constant.

    Raises:
        ValueError: the lists differ in length, or a score is NaN or infinite.
    """
    from scipy import stats  # takes a second to load, and most processes ask for no p

    if reason := why_undefined(human, metric):
        return Estimate.undefined(reason)
    result = stats.spearmanr(human, metric)
    return Estimate(value=float(result.statistic), p=float(result.pvalue))


@dataclass(frozen=True)
class SpearmanScores:
    """One list of scores, ready to be correlated with others over the same items and resamples."""

    cluster: IntArray
    weights: FloatArray
    ranks: FloatArray
    """With few clusters (n, clusters): the balance, items in cluster order. With many (resamples,
    n): twice the centred midranks."""
    squares: FloatArray
    """(resamples,) sum of the squares of twice the centred ranks; NaN where all scores are
    equal."""


def spearman_scores(scores: FloatArray, cluster: IntArray, weights: FloatArray) -> SpearmanScores:
    """Ranks and sums of squares of one list of scores, for ``spearman_between``.

    Args:
        scores: (n,) finite, n at least 1.
        cluster: (n,) the cluster number of each item, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) multiplicities, how often each cluster is drawn.

    Returns:
        What every ρ with these scores needs; it is computed once and used with many others.
    """
    if weights.shape[1] <= MAX_CLUSTERS_FOR_MOMENTS:
        by_cluster = np.argsort(cluster, kind="stable")
        scores, cluster = scores[by_cluster], cluster[by_cluster]
        ranks = _balance(scores, cluster, weights.shape[1])
    else:
        ranks = _resampled_ranks(scores, cluster, weights)
    squares = _rank_products(ranks, ranks, cluster, weights)
    squares[squares == 0] = np.nan
    return SpearmanScores(cluster, weights, ranks, squares)


def spearman_between(human: SpearmanScores, metric: SpearmanScores) -> FloatArray:
    """Spearman's ρ of every resample.

    Args:
        human: one list of scores, from ``spearman_scores``.
        metric: the other, with the same clusters and weights.

    Returns:
        (resamples,) in [−1, 1]; NaN where one of the two lists is constant in the resample.
    """
    products = _rank_products(human.ranks, metric.ranks, human.cluster, human.weights)
    return np.clip(products / np.sqrt(human.squares) / np.sqrt(metric.squares), -1.0, 1.0)


def _balance(scores: FloatArray, cluster: IntArray, clusters: int) -> FloatArray:
    """(n, clusters): how many items of each cluster lie below the item, minus how many lie above
    it."""
    groups = value_groups(scores)
    values = len(groups.start)
    cells = np.bincount(groups.of_item * clusters + cluster, minlength=values * clusters).reshape(
        values, clusters
    )
    balance = np.cumsum(cells, axis=0, dtype=np.float64)
    total = balance[-1].copy()
    balance *= 2.0  # in place: through + before = 2 · through − here
    balance -= cells
    balance -= total
    taken: FloatArray = balance[groups.of_item]
    return taken


def _resampled_ranks(scores: FloatArray, cluster: IntArray, weights: FloatArray) -> FloatArray:
    """(resamples, n): twice the centred midrank of every item among the items drawn."""
    groups = value_groups(scores)
    through = np.cumsum(weights[:, cluster[groups.order]], axis=1)
    through_group = through[:, groups.start + groups.size - 1]
    before_group = np.concatenate((np.zeros((len(weights), 1)), through_group[:, :-1]), axis=1)
    balance = before_group + through_group - through_group[:, -1:]
    taken: FloatArray = balance[:, groups.of_item]
    return taken


def _rank_products(
    ranks: FloatArray, other: FloatArray, cluster: IntArray, weights: FloatArray
) -> FloatArray:
    """(resamples,): the sum over drawn items of the product of both ranks."""
    resamples, clusters = weights.shape
    if clusters > MAX_CLUSTERS_FOR_MOMENTS:
        return np.asarray(np.einsum("ri,ri,ri->r", ranks, other, weights[:, cluster]))
    edges = np.searchsorted(cluster, np.arange(clusters + 1))
    moments = np.stack([ranks[a:b].T @ other[a:b] for a, b in pairwise(edges)])
    drawn_pairs = (weights[:, :, None] * weights[:, None, :]).reshape(
        resamples, clusters * clusters
    )
    forms = drawn_pairs @ moments.reshape(clusters * clusters, clusters)
    return np.asarray(np.einsum("rf,rf->r", forms, weights))
