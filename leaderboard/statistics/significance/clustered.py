"""Do two metrics' correlations with people differ, for other dialogues, or for other systems and
other dialogues?

The difference of two correlations, divided by its standard error, against Student's t. The standard
error comes from leaving out one dialogue at a time (the delete-one jackknife; Efron & Tibshirani
1993, chapter 11): what a dialogue's responses share cannot then pass for evidence. With other
systems meant, too, the variance is that of two-way clusters (Cameron, Gelbach & Miller 2011, Robust
Inference with Multiway Clustering): V over systems + V over dialogues − V over cells, a cell being
what one system said in one dialogue.

Unlike PERM-INPUT and PERM-BOTH it keeps its level where a metric has opinions of its own about
systems, as every real metric has: swapping dialogues between two metrics mixes these opinions and
makes the swapped metrics more alike than two metrics ever are (docs/statistics_significance.md has
the simulation).

``clustered_pairs_of_items`` and ``clustered_pairs_of_systems`` test every pair of metrics at once,
each on what both scored; ``difference_tests`` tests metrics that scored the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from common.correlation.pearson import pearson_estimate
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    IntArray,
    PlacedScores,
    SystemSums,
    system_sums,
)
from leaderboard.statistics.significance.all_pairs import (
    PairTests,
    correlation_of_means,
    means_of,
    tied_pairs,
)


def clustered_pairs_of_items(
    human: ArrayLike,
    metrics: ArrayLike,
    system: ArrayLike,
    dialogue: ArrayLike,
    population: Population,
) -> PairTests:
    """Jackknife tests of Pearson's r over items, for every pair of metrics.

    Two metrics are compared on the items that both scored and that have a human score.

    Args:
        human: (n,) human scores, NaN where there is none.
        metrics: (m, n) metric scores, NaN where there is none.
        system: (n,) system numbers.
        dialogue: (n,) dialogue numbers.
        population: "dialogues": other dialogues and the same systems; "both": other dialogues and
            other systems.

    Returns:
        Tests of the m(m − 1)/2 pairs, with 0 permutations. Difference and p are NaN where a
        coefficient is undefined, p also where ``difference_tests`` has none.
    """
    people, scores = (
        np.asarray(human, dtype=np.float64),
        np.atleast_2d(np.asarray(metrics, dtype=np.float64)),
    )
    indices = [np.asarray(numbers, dtype=np.int64) for numbers in (system, dialogue)]
    scored = np.isfinite(scores) & np.isfinite(people)
    alone = tuple(
        pearson_estimate(people[both], row[both]) for row, both in zip(scores, scored, strict=True)
    )

    def without_each(used: IntArray, both: NDArray[np.bool_]) -> DeleteOne:
        numbers = [np.unique(one[both], return_inverse=True)[1].astype(np.int64) for one in indices]
        return delete_one_items(people[both], scores[np.ix_(used, both)], *numbers)

    return _tested(alone, scored, without_each, population)


def clustered_pairs_of_systems(
    human: PlacedScores, metrics: PlacedScores, systems: int, system_scores: ArrayLike | None = None
) -> PairTests:
    """Jackknife tests of Pearson's r over system means, for other dialogues and the same systems.

    Two metrics are compared by their means over the responses that both scored, with or without a
    human score.

    Args:
        human: One list of item scores.
        metrics: m lists of item scores, with the same numbering of systems and dialogues.
        systems: Number of systems.
        system_scores: (m', systems) scores of metrics that exist per system only, NaN where
            undefined; they follow the m metrics and stay the same when a dialogue is left out.
            None: no such metrics.

    Returns:
        Tests of the pairs of all m + m' metrics, with 0 permutations. Difference and p are NaN
        where a coefficient is undefined, p also where ``difference_tests`` has none.
    """
    dialogues = np.unique(np.concatenate((human.dialogue, metrics.dialogue)))
    indices = metrics.system, np.searchsorted(dialogues, metrics.dialogue)
    of_people = system_sums(
        human.scores[0],
        human.system,
        np.searchsorted(dialogues, human.dialogue),
        systems,
        len(dialogues),
    )
    people: FloatArray = of_people.means()
    fixed = (
        np.empty((0, systems))
        if system_scores is None
        else np.atleast_2d(np.asarray(system_scores, np.float64))
    )
    count = len(metrics.scores)
    scored = np.isfinite(metrics.scores) & np.isfinite(people)[metrics.system]
    known = np.isfinite(fixed) & np.isfinite(people)
    means = [
        means_of(row, both, metrics.system, systems)[0]
        for row, both in zip(metrics.scores, scored, strict=True)
    ]
    alone = tuple(
        correlation_of_means(people, row)["pearson"]
        for row in [*means, *np.where(known, fixed, np.nan)]
    )
    # Metrics of systems only are held against the others on all that these scored: they have no
    # responses to drop.
    of_fixed = np.broadcast_to((known.sum(axis=1) > 0)[:, None], (len(fixed), scored.shape[1]))
    reach = np.concatenate((scored, of_fixed))

    def without_each(used: IntArray, both: NDArray[np.bool_]) -> DeleteOne:
        rows = [
            fixed[row - count] if row >= count else _sums(metrics.scores[row], both) for row in used
        ]
        scored_by = [
            np.isfinite(row) if isinstance(row, np.ndarray) else row.count.sum(axis=1) > 0
            for row in rows
        ]
        there: NDArray[np.bool_] = np.logical_and.reduce([np.isfinite(people), *scored_by])
        retained = [row[there] if isinstance(row, np.ndarray) else row.only(there) for row in rows]
        return delete_one_systems(of_people.only(there), retained)

    def _sums(row: FloatArray, both: NDArray[np.bool_]) -> SystemSums:
        return system_sums(np.where(both, row, np.nan), *indices, systems, len(dialogues))

    return _tested(alone, reach, without_each, "dialogues")


def _tested(
    alone: tuple[Estimate, ...],
    scored: NDArray[np.bool_],
    without_each: Callable[[IntArray, NDArray[np.bool_]], DeleteOne],
    population: Population,
) -> PairTests:
    difference, p = np.full((2, len(alone), len(alone)), np.nan)
    for first, second, both in tied_pairs(scored, alone):
        used = np.union1d(first, second)
        found = without_each(used, both)
        at = np.searchsorted(used, first), np.searchsorted(used, second)
        difference[first, second] = found.whole[at[0]] - found.whole[at[1]]
        p[first, second] = difference_tests(found, *at, population)[1]
    upper = np.triu_indices(len(alone), 1)
    return PairTests(alone, difference[upper], p[upper], np.zeros(len(upper[0]), dtype=np.int64))


Population = Literal["dialogues", "both"]
"""Other dialogues and the same systems; or other dialogues and other systems."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class DeleteOne:
    """Correlations of m metrics with people, with one cluster at a time left out; NaN where nothing
    is left of them."""

    whole: FloatArray
    """(m,)"""
    systems: FloatArray
    """(m, systems)"""
    dialogues: FloatArray
    """(m, dialogues)"""
    cells: FloatArray
    """(m, cells that hold something)"""


def delete_one_items(
    human: FloatArray, metrics: FloatArray, system: IntArray, dialogue: IntArray
) -> DeleteOne:
    """Pearson's r over items, with one system, dialogue or cell left out at a time.

    Args:
        human: (n,) human scores, finite.
        metrics: (m, n) metric scores, finite.
        system: (n,) system numbers from 0, without gaps.
        dialogue: (n,) dialogue numbers from 0, without gaps.

    Returns:
        r of each metric on all items, and without each system, dialogue and non-empty cell (what
        one system said in one dialogue); in [-1, 1], NaN where what is left is constant.
    """
    systems, dialogues = int(system.max()) + 1, int(dialogue.max()) + 1
    cell = system * dialogues + dialogue
    count = np.bincount(cell, minlength=systems * dialogues).astype(np.float64)
    people = _standardised(human)
    rows = [_standardised(row) for row in metrics]

    def summed(scores: FloatArray) -> FloatArray:
        return np.asarray(
            np.bincount(cell, weights=scores, minlength=systems * dialogues), dtype=np.float64
        )

    of_people = np.array([count, summed(people), summed(people**2)])
    of_metrics = np.array([[summed(row), summed(row**2), summed(row * people)] for row in rows])
    shape = (systems, dialogues)

    def left(axis: int | None) -> FloatArray:
        """(m, clusters): r without each."""
        h, m = of_people.reshape(3, *shape), of_metrics.reshape(-1, 3, *shape)
        if axis is None:
            h, m = h.reshape(3, -1)[:, count > 0], m.reshape(len(m), 3, -1)[:, :, count > 0]
        else:
            h, m = h.sum(axis=axis + 1), m.sum(axis=axis + 2)
        return _r(h.sum(axis=1)[:, None] - h, m.sum(axis=2)[:, :, None] - m)

    whole = _r(of_people.sum(axis=1)[:, None], of_metrics.sum(axis=2)[:, :, None])[:, 0]
    return DeleteOne(whole, left(1), left(0), left(None))


def delete_one_systems(human: SystemSums, metrics: Sequence[SystemSums | FloatArray]) -> DeleteOne:
    """Pearson's r over system means, with one system or dialogue left out at a time.

    For other dialogues only: what a system shares with no other is in its mean already, so that
    leaving out systems speaks of both, and PERM-SYS does so better.

    Args:
        human: Sums of the human scores, (systems, dialogues).
        metrics: One entry per metric: its sums, (systems, dialogues), or, for a metric of systems
            alone, its (systems,) scores, which stay the same when a dialogue is left out.

    Returns:
        r of each metric over all systems, and without each system and dialogue, in [-1, 1]; no
        cells, (m, 0). NaN where what is left is constant, or where a system has no score left
        without a dialogue.
    """
    people, people_without = human.means(), _without_each(human)
    rows = [one if isinstance(one, np.ndarray) else one.means() for one in metrics]
    without = [
        np.broadcast_to(one, people_without.shape)
        if isinstance(one, np.ndarray)
        else _without_each(one)
        for one in metrics
    ]
    dialogues = [
        [_pearson(h, m) for h, m in zip(people_without, one, strict=True)] for one in without
    ]
    retained = ~np.eye(len(people), dtype=bool)
    systems = [[_pearson(people[one], row[one]) for one in retained] for row in rows]
    return DeleteOne(
        np.array([_pearson(people, row) for row in rows]),
        np.array(systems),
        np.array(dialogues),
        np.empty((len(rows), 0)),
    )


def difference_tests(
    found: DeleteOne, first: IntArray, second: IntArray, population: Population
) -> tuple[FloatArray, FloatArray]:
    """Student's t-tests of r(first) − r(second), with jackknife standard errors.

    Args:
        found: Correlations of m metrics, with one cluster left out at a time.
        first: (pairs,) rows of ``found``.
        second: (pairs,) rows of ``found``.
        population: "dialogues": variance over dialogues, with G − 1 degrees of freedom for G
            dialogues. "both": variance of two-way clusters, V over systems + V over dialogues − V
            over cells, at least the larger of the first two, with one degree of freedom less than
            the fewer of systems and dialogues.

    Returns:
        (pairs,) standard errors and (pairs,) two-sided p. Both are NaN where the jackknife is
        undefined (fewer than 2 clusters, or r undefined without one); p is 1 where the two
        coefficients are equal, and NaN where they differ by the same whatever is left out: clusters
        that happen to agree are no certainty.

    Sources: Efron & Tibshirani (1993), chapter 11; Cameron, Gelbach & Miller (2011), Robust
    Inference with Multiway Clustering.
    """
    difference = found.whole[first] - found.whole[second]
    variance = _variance(found.dialogues, first, second)
    freedom = found.dialogues.shape[1] - 1
    if population == "both":
        over_systems = _variance(found.systems, first, second)
        over_cells = _variance(found.cells, first, second) if found.cells.shape[1] else 0.0
        # The difference of estimates can fall below either of them, even below 0, by chance alone.
        variance = np.maximum(
            np.maximum(variance, over_systems), variance + over_systems - over_cells
        )
        freedom = min(freedom, found.systems.shape[1] - 1)
    if freedom < 1:
        return np.full(len(first), np.nan), np.full(len(first), np.nan)
    error = np.sqrt(variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(difference) / error
    p = np.where(np.abs(difference) < ROUNDING, 1.0, 2.0 * stdtr(freedom, -t))
    without_spread = (np.abs(difference) >= ROUNDING) & (error <= ROUNDING)
    return error, np.where(np.isfinite(variance) & ~without_spread, p, np.nan)


def _variance(without: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """(pairs,): the jackknife's variance of a difference, (G − 1)/G · Σ (d₍₋g₎ − mean)²."""
    clusters = without.shape[1]
    if clusters < 2:
        return np.full(len(first), np.nan)
    centred = without - without.mean(axis=1, keepdims=True)
    # The differences' sums of squares, without writing the differences down
    products = centred @ centred.T
    squares = np.diag(products)
    total = squares[first] + squares[second] - 2.0 * products[first, second]
    return np.asarray((clusters - 1) / clusters * np.maximum(total, 0.0))


def _r(human: FloatArray, metrics: FloatArray) -> FloatArray:
    """``human``: (3, k) n, Σh, Σh²; ``metrics``: (m, 3, k) Σm, Σm², Σhm → (m, k)."""
    n, total, squares = human
    with np.errstate(invalid="ignore", divide="ignore"):
        shared = metrics[:, 2] - metrics[:, 0] * total / n
        spread = (squares - total**2 / n) * (metrics[:, 1] - metrics[:, 0] ** 2 / n)
        return np.asarray(
            np.where(spread > ROUNDING, shared / np.sqrt(np.maximum(spread, ROUNDING)), np.nan)
        )


def _without_each(sums: SystemSums) -> FloatArray:
    """(dialogues, systems) means without each dialogue; NaN where nothing is left."""
    retained: FloatArray = 1.0 - np.eye(sums.total.shape[1])
    return sums.resampled_means(retained)


def _pearson(one: FloatArray, other: FloatArray) -> float:
    one, other = _deviations(one), _deviations(other)
    lengths = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / lengths if lengths > 0 else float("nan")


def _deviations(scores: FloatArray) -> FloatArray:
    """From the mean, the largest being 1, so that no unit of the scores makes their squares vanish
    or overflow; all 0 where the scores are equal but for rounding."""
    scores = _of_unit_size(scores)
    away = scores - scores.mean()
    largest = np.abs(away).max(initial=0.0)
    return np.zeros_like(scores) if largest <= ROUNDING else np.asarray(away / largest)


def _of_unit_size(scores: FloatArray) -> FloatArray:
    largest = np.abs(scores).max(initial=0.0)
    return scores if largest == 0 else np.asarray(scores / largest)


def _standardised(scores: FloatArray) -> FloatArray:
    scores = _of_unit_size(scores)
    spread = scores.std()
    return np.asarray((scores - scores.mean()) / spread) if spread > 0 else np.zeros_like(scores)
