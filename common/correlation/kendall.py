"""Kendall's τ-b, and τ-b of every cluster resample.

In a resample with multiplicities w, concordant minus discordant pairs are ½ wᵀCw, with C[d, e] the
concordant minus discordant pairs between the items of clusters d and e: copies of one item are tied
on both sides and add nothing. The pairs that are not tied on one side are ½ wᵀUw likewise, so τ-b =
wᵀCw / √(wᵀUw · wᵀU'w) (Kendall 1945). C is counted once, exactly.

Counting C with few clusters: scores are put into blocks of near values on each side. Pairs whose
blocks differ on both sides follow from cumulative counts of a blocks × clusters × blocks table; the
few pairs within a block are compared one by one. With many clusters all pairs are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import FloatArray, IntArray, value_groups, why_undefined
from common.estimates import Estimate

MAX_CLUSTERS_FOR_BLOCKS = 48
BLOCK_SIZE = 64
ROWS_AT_ONCE = 512


def kendall_estimate(human: FloatArray, metric: FloatArray) -> Estimate:
    """Kendall's τ-b of n pairs of scores with its p-value, without an interval.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.

    Returns:
        τ-b in [−1, 1] with the two-sided p of ``scipy.stats.kendalltau`` (exact where it can be).
        Undefined with fewer than 3 pairs, or where one of the two lists is constant.

    Raises:
        ValueError: the lists differ in length, or a score is NaN or infinite.

    τ-b = (concordant − discordant pairs) / √(pairs untied in one list · pairs untied in the other)
    (Kendall 1945).
    """
    from scipy import stats  # takes a second to load, and most processes ask for no p

    if reason := why_undefined(human, metric):
        return Estimate.undefined(reason)
    result = stats.kendalltau(human, metric)
    return Estimate(value=float(result.statistic), p=float(result.pvalue))


@dataclass(frozen=True)
class KendallScores:
    """One list of scores, ready to be correlated with others over the same items and resamples."""

    cluster: IntArray
    weights: FloatArray
    rank: IntArray
    """(n,) dense ranks from 0."""
    block: IntArray
    """(n,) the block of near values that holds the item, in value order."""
    members: IntArray
    """(blocks with more than one value, places): items, padded with n."""
    untied: FloatArray
    """(resamples,) twice the pairs that differ on this side; NaN where none does."""


def kendall_scores(scores: FloatArray, cluster: IntArray, weights: FloatArray) -> KendallScores:
    """Ranks, blocks and untied pairs of one list of scores, for ``kendall_between``.

    Args:
        scores: (n,) finite, n at least 1.
        cluster: (n,) the cluster number of each item, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) multiplicities, how often each cluster is drawn.

    Returns:
        What every τ-b with these scores needs; it is computed once and used with many others.
    """
    clusters = weights.shape[1]
    groups = value_groups(scores)
    by_value = np.bincount(
        cluster * len(groups.start) + groups.of_item, minlength=clusters * len(groups.start)
    )
    untied = _untied_pairs(by_value.reshape(clusters, -1).astype(np.float64), weights)
    untied[untied == 0] = np.nan
    # A value with a whole block's worth of items is a block by itself (odd keys): its pairs are
    # ties. No group of equal values is split, since all its items have the key of the place where
    # it starts.
    key = 2 * (groups.start // BLOCK_SIZE) + (groups.size >= BLOCK_SIZE)
    block_of_group = np.cumsum(np.concatenate(([0], np.diff(key) != 0)))
    block = block_of_group[groups.of_item]
    return KendallScores(
        cluster,
        weights,
        groups.of_item,
        block,
        _members(groups.order, block, block_of_group),
        untied,
    )


def kendall_between(human: KendallScores, metric: KendallScores) -> FloatArray:
    """Kendall's τ-b of every resample.

    Args:
        human: one list of scores, from ``kendall_scores``.
        metric: the other, with the same clusters and weights.

    Returns:
        (resamples,) in [−1, 1]; NaN where one of the two lists is constant in the resample.
    """
    if human.weights.shape[1] <= MAX_CLUSTERS_FOR_BLOCKS:
        concordance = _concordance_by_blocks(human, metric)
    else:
        concordance = _concordance_by_pairs(human, metric)
    difference = _quadratic_form(concordance, human.weights)
    return np.clip(difference / np.sqrt(human.untied) / np.sqrt(metric.untied), -1.0, 1.0)


def _quadratic_form(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("rd,rd->r", weights @ matrix, weights))


def _untied_pairs(by_value: FloatArray, weights: FloatArray) -> FloatArray:
    """(resamples,): ordered pairs of drawn items with different values. ``by_value``: (clusters,
    values) counts."""
    size = by_value.sum(axis=1)
    return _quadratic_form(np.outer(size, size) - by_value @ by_value.T, weights)


def _members(order: IntArray, block: IntArray, block_of_group: IntArray) -> IntArray:
    """The items of every block that holds more than one value, one block a row, padded with n."""
    size = np.bincount(block)
    several = np.flatnonzero(np.bincount(block_of_group) > 1)
    if not len(several):
        return np.empty((0, 0), dtype=np.int64)
    first = np.cumsum(size) - size
    index = np.arange(size[several].max())
    inside = index < size[several][:, None]
    position = np.where(inside, first[several][:, None] + index, 0)
    members: IntArray = np.where(inside, order[position], len(order))
    return members


def _concordance_by_blocks(human: KendallScores, metric: KendallScores) -> FloatArray:
    """C (clusters, clusters), each unordered pair counted from both ends."""
    far = _pairs_in_different_blocks(human, metric)
    near_metric = _pairs_within(metric.members, human.rank, metric.rank, human)
    # Pairs in one metric block were all counted on the line above: here the blocks must differ.
    near_human = _pairs_within(human.members, human.rank, metric.block, human)
    return far + near_metric + near_human


def _pairs_in_different_blocks(human: KendallScores, metric: KendallScores) -> FloatArray:
    clusters = human.weights.shape[1]
    human_blocks, metric_blocks = int(human.block.max()) + 1, int(metric.block.max()) + 1
    cell = (human.cluster * metric_blocks + metric.block) * human_blocks + human.block
    count = np.bincount(cell, minlength=clusters * metric_blocks * human_blocks).astype(np.float64)
    table = count.reshape(clusters, metric_blocks, human_blocks)
    earlier = np.cumsum(table, axis=1) - table
    balance = np.cumsum(earlier, axis=2)
    total = balance[:, :, -1:].copy()
    balance *= 2.0  # in place: lower minus higher human blocks = 2 · through − here − total
    balance -= earlier
    balance -= total
    from_above = table.reshape(clusters, -1) @ balance.reshape(clusters, -1).T
    return np.asarray(from_above + from_above.T)


def _pairs_within(
    members: IntArray, human_rank: IntArray, metric_rank: IntArray, side: KendallScores
) -> FloatArray:
    """Compares all pairs of items that share a row of ``members``."""
    clusters = side.weights.shape[1]
    if not members.size:
        return np.zeros((clusters, clusters))
    # Padding belongs to no cluster. Sums stay below 2²⁴ in small data, where float32 is exact and
    # faster.
    exact = np.float32 if members.size * members.shape[1] < 2**24 else np.float64
    belongs = np.concatenate(
        (np.eye(clusters, dtype=exact)[side.cluster], np.zeros((1, clusters), dtype=exact))
    )
    one_hot = belongs[members]
    product = _signs(np.append(human_rank, 0)[members]) * _signs(np.append(metric_rank, 0)[members])
    sums = product.astype(exact) @ one_hot
    return np.asarray(
        one_hot.reshape(-1, clusters).T @ sums.reshape(-1, clusters), dtype=np.float64
    )


def _signs(rank: IntArray) -> NDArray[np.int8]:
    """(rows, places, places): sign of rank[a] − rank[b] within every row."""
    narrow = rank.astype(np.int32)
    higher = narrow[:, :, None] > narrow[:, None, :]
    return higher.view(np.int8) - higher.transpose(0, 2, 1).view(np.int8)


def _concordance_by_pairs(human: KendallScores, metric: KendallScores) -> FloatArray:
    """C (clusters, clusters) by comparing all pairs, some rows at a time to bound memory."""
    clusters = human.weights.shape[1]
    by_cluster = np.argsort(human.cluster, kind="stable")
    present, first = np.unique(human.cluster[by_cluster], return_index=True)
    human_rank = human.rank[by_cluster].astype(np.int32)
    metric_rank = metric.rank[by_cluster].astype(np.int32)
    by_row = np.empty((len(by_cluster), len(present)))
    for start in range(0, len(by_cluster), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        product = _row_signs(human_rank, rows) * _row_signs(metric_rank, rows)
        by_row[rows] = np.add.reduceat(product, first, axis=1, dtype=np.int32)
    concordance = np.zeros((clusters, clusters))
    concordance[np.ix_(present, present)] = np.add.reduceat(by_row, first, axis=0)
    return concordance


def _row_signs(rank: NDArray[np.int32], rows: slice) -> NDArray[np.int8]:
    some = rank[rows, None]
    return (some > rank).view(np.int8) - (some < rank).view(np.int8)
