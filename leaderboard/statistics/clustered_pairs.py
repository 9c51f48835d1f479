"""The clustered test of every pair of metrics at once: ``difference_tests``, with pairs held to
what both scored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from common.correlation.pearson import pearson_estimate
from common.estimates import Estimate
from leaderboard.statistics.all_pairs import PairTests, correlation_of_means, means_of, tied_pairs
from leaderboard.statistics.clustered_differences import (
    DeleteOne,
    Population,
    delete_one_items,
    delete_one_systems,
    difference_tests,
)
from leaderboard.statistics.placed_scores import (
    FloatArray,
    IntArray,
    PlacedScores,
    SystemSums,
    system_sums,
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
