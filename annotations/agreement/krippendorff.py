"""Krippendorff's α: one minus observed over expected disagreement, for any number of raters and
missing ratings.

α = 1 − (n − 1) · Σ_ck o_ck δ²_ck / Σ_ck n_c n_k δ²_ck, with the coincidences o_ck, their margins
n_c and n = Σ n_c (Krippendorff 2018, Content Analysis, 4th ed., chapter 12; Krippendorff 2011,
Computing Krippendorff's Alpha-Reliability, section C). An item with m ratings adds each ordered
pair of them with weight 1 / (m − 1), so the coincidences of some dialogues are a sum, and one
matrix product gives those of all that leave dialogues out.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy import sparse

from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import FloatArray, IntArray, Tabulation
from common.estimates import Estimate

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENTS: tuple[Measurement, ...] = get_args(Measurement)

TENTATIVE, RELIABLE = 2 / 3, 0.8
"""Krippendorff (2004), Content Analysis, 2nd edition, p. 241: rely on α of .800 and more, and draw
no more than tentative conclusions from .667."""

DENSE_CELLS = 1_000_000
"""Coincidences of all dialogues are a dense array up to this many cells. Above it a scale has so
many levels, or a corpus so many dialogues, that most cells are empty and a sparse array is the
faster one."""
CELLS_AT_A_TIME = 4_000_000
"""Replicates are worked on in slices whose coincidences have about this many cells."""


def krippendorff_alphas(table: Tabulation, jackknife: Jackknife) -> dict[Measurement, Estimate]:
    """Krippendorff's α under the four distances, each with its 95 % interval.

    Args:
        table: the ratings, from ``tabulate``.
        jackknife: which dialogues are left out, for the intervals; ``Jackknife.none`` for none.

    Returns:
        One estimate for each name in ``MEASUREMENTS``, in (−∞, 1]. Undefined with fewer than two
        raters, without an item that two raters judged, with more than ``MOST_LEVELS`` different
        scores, where all scores of items with two or more ratings are equal (0/0), and for the
        ratio distance where a score is negative.

    α = 1 − (n − 1) · Σ_ck o_ck δ²_ck / Σ_ck n_c n_k δ²_ck (Krippendorff 2018, Content Analysis, 4th
    ed., chapter 12; Krippendorff 2011, section C).
    """
    reason = _why_undefined(table)
    if reason:
        return {measurement: Estimate.undefined(reason) for measurement in MEASUREMENTS}
    by_dialogue = coincidences_by_dialogue(table)
    everything = np.asarray(by_dialogue.sum(axis=0), dtype=np.float64).reshape(1, -1)
    values = _alphas_of(everything, table.levels)
    step = max(1, CELLS_AT_A_TIME // by_dialogue.shape[1])
    left_out = [_alphas_of(part.sums(by_dialogue), table.levels) for part in jackknife.slices(step)]
    pairable = jackknife.group[table.dialogue[table.ratings_of_item >= 2]]
    alphas = {
        measurement: jackknife.estimate(
            float(values[measurement][0]),
            np.concatenate([part[measurement] for part in left_out] or [np.empty(0)]),
            pairable,
            if_undefined="all scores of items with two or more ratings are equal",
        )
        for measurement in MEASUREMENTS
    }
    if (table.levels < 0).any():
        alphas["ratio"] = Estimate.undefined(
            "the ratio distance needs scores that are not negative"
        )
    return alphas


def alpha_with_distance(
    by_dialogue: FloatArray | sparse.csr_array,
    distances: FloatArray,
    jackknife: Jackknife,
    groups: IntArray,
    if_undefined: str,
) -> Estimate:
    """Krippendorff's α under any distance between categories.

    Args:
        by_dialogue: (dialogues, V²) coincidences, as from ``coincidences_by_dialogue``.
        distances: (V, V) what takes the place of δ²: symmetric, 0 on the diagonal.
        jackknife: which dialogues are left out, for the interval.
        groups: numbers of the replicates that leave out something which α reads.
        if_undefined: the reason where no disagreement can be expected.

    Returns:
        α in (−∞, 1] with its 95 % interval; undefined where all ratings are of one category.
    """

    def alphas(rows: FloatArray) -> FloatArray:
        return _alphas(rows.reshape(-1, *distances.shape), distances[np.newaxis])

    everything = np.asarray(by_dialogue.sum(axis=0), dtype=np.float64)
    step = max(1, CELLS_AT_A_TIME // distances.size)
    left_out = [alphas(part.sums(by_dialogue)) for part in jackknife.slices(step)]
    return jackknife.estimate(
        float(alphas(everything)[0]),
        np.concatenate(left_out or [np.empty(0)]),
        groups,
        if_undefined=if_undefined,
    )


def coincidences_by_dialogue(table: Tabulation) -> FloatArray | sparse.csr_array:
    """Krippendorff's coincidence matrix of each dialogue.

    Args:
        table: the ratings of V different scores, from ``tabulate``.

    Returns:
        (dialogues, V²), each matrix flattened; a sparse array where it has more than
        ``DENSE_CELLS`` cells, else a dense one. An item with m ratings adds each ordered pair of
        them with weight 1 / (m − 1), an item with one rating adds nothing.
    """
    levels = table.levels.size
    if table.dialogues * levels * levels > DENSE_CELLS:
        return _sparse_coincidences(table)
    weight = _weight_of_item(table)
    weighted_counts = table.counts * weight[:, np.newaxis]
    coincidences = np.empty((table.dialogues, levels, levels))
    for level in range(levels):
        # A rating is not paired with itself, hence one less of its own level.
        partners = table.counts[:, level, np.newaxis] * weighted_counts
        partners[:, level] -= weighted_counts[:, level]
        coincidences[:, level, :] = table.sum_by_dialogue(partners)
    return coincidences.reshape(table.dialogues, levels * levels)


def _sparse_coincidences(table: Tabulation) -> sparse.csr_array:
    levels = table.levels.size
    item, level = np.nonzero(table.counts)
    occupied = sparse.csr_array(
        (table.counts[item, level], (item, level)), shape=table.counts.shape
    )
    dialogues, cells, weights = [], [], []
    weight_of_item = _weight_of_item(table)
    for one in np.flatnonzero(weight_of_item):
        here = slice(occupied.indptr[one], occupied.indptr[one + 1])
        own_levels = np.asarray(occupied.indices[here], dtype=np.int64)
        own_counts = occupied.data[here]
        pairs = np.outer(own_counts, own_counts) - np.diag(own_counts)
        cells.append((own_levels[:, np.newaxis] * levels + own_levels).ravel())
        weights.append(pairs.ravel() * weight_of_item[one])
        dialogues.append(np.full(pairs.size, table.dialogue[one]))
    return sparse.csr_array(
        (np.concatenate(weights), (np.concatenate(dialogues), np.concatenate(cells))),
        shape=(table.dialogues, levels * levels),
    )


def _weight_of_item(table: Tabulation) -> FloatArray:
    """1 / (m − 1); 0 for an item with one rating, which can neither agree nor disagree."""
    return np.where(table.ratings_of_item >= 2, 1.0 / np.maximum(table.ratings_of_item - 1, 1), 0.0)


def _alphas_of(coincidences: FloatArray, levels: FloatArray) -> dict[Measurement, FloatArray]:
    """α of each of many coincidence matrices (matrices × V²); NaN where expected disagreement is
    0."""
    coincidences = coincidences.reshape(-1, levels.size, levels.size)
    margins = coincidences.sum(axis=2)
    return {
        measurement: _alphas(coincidences, _squared_distances(measurement, levels, margins))
        for measurement in MEASUREMENTS
    }


def _alphas(coincidences: FloatArray, distances: FloatArray) -> FloatArray:
    """α of each of many coincidence matrices (matrices × V × V) under one squared distance each, or
    under one for all (1 × V × V)."""
    margins = coincidences.sum(axis=2)
    observed = (coincidences * distances).sum(axis=(1, 2))
    to_partners = np.matmul(margins[:, np.newaxis, :], distances)[:, 0, :]
    expected = (to_partners * margins).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            expected > 0, 1.0 - (margins.sum(axis=1) - 1.0) * observed / expected, np.nan
        )


def _squared_distances(
    measurement: Measurement, levels: FloatArray, margins: FloatArray
) -> FloatArray:
    """δ²_ck; 1 × V × V, or for the ordinal distance, which depends on the margins, matrices × V ×
    V."""
    if measurement == "ordinal":
        # n_c / 2 + Σ_{c<g<k} n_g + n_k / 2, the number of ratings between two levels, is the
        # difference of their midranks.
        midranks = np.cumsum(margins, axis=1) - margins / 2.0
        return np.asarray(
            (midranks[:, :, np.newaxis] - midranks[:, np.newaxis, :]) ** 2, dtype=np.float64
        )
    one, other = levels[:, np.newaxis], levels[np.newaxis, :]
    if measurement == "nominal":
        return np.asarray(one != other, dtype=np.float64)[np.newaxis]
    difference = one - other
    if measurement == "interval":
        return np.asarray(difference**2, dtype=np.float64)[np.newaxis]
    total = np.broadcast_to(one + other, difference.shape)
    return np.asarray(
        np.divide(difference, total, out=np.zeros_like(difference), where=total != 0) ** 2
    )[np.newaxis]


def _why_undefined(table: Tabulation) -> str:
    if table.active_raters.size < 2:
        return "fewer than two raters"
    if not (table.ratings_of_item >= 2).any():
        return "no item was judged by two raters"
    return table.why_not_counted
