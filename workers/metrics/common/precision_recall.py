"""Precision and recall of one distribution against another (Sajjadi et al., 2018), PRD's one figure
of them, and its scorer: the score of one seed or the mean over several, and how far it moves
between seeds.

The points of system and human references are put into clusters together; each is then a
distribution over clusters. For a slope λ, α(λ) = Σ min(λ R, G) is the precision and
β(λ) = α(λ) / λ the recall: how much of the system's distribution G the human R covers, and the
other way round. PRD is the largest harmonic mean of the two over all λ (equation 3 of Xiang et
al., 2021). The clusters are found by chance, so both curves are means over several runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from common.estimates import Undefined
from workers.metrics.base import OptionValue
from workers.metrics.common.k_means import MOST_POINTS, Products, mini_batch_k_means
from workers.metrics.common.pair_features import AgainstPeople, Comparison, Points

EVERY_ANGLE_OF_A_PLOT = 10


def prd_scorer(options: Mapping[str, OptionValue]) -> AgainstPeople:
    """Build PRD's scorer.

    Args:
        options: ``model``, ``layer``, ``seed`` (the first) and ``seeds`` (how many, one after
            another), ``clusters``, ``runs`` and ``angles``.

    Returns:
        A scorer whose score is the mean over the seeds, in [0, 1]; ``Undefined`` where both
        together have fewer responses than there are clusters.

    Raises:
        ValueError: a seed is not between 0 and 2³² − 1, or the number of seeds not between 1 and
            1,000.
    """
    first, count = int(options["seed"]), int(options["seeds"])
    if first < 0 or first + count > 2**32:
        raise ValueError(f"prd: seeds are 0 to 4294967295, not {first} to {first + count - 1}")
    if not 1 <= count <= 1000:
        raise ValueError(f"prd: seeds must be 1 to 1000, not {count}")

    clusters, runs, angles = (int(options[name]) for name in ("clusters", "runs", "angles"))

    def compare(system: Points, people: Points) -> Comparison:
        points = len(system) + len(people)
        if points < clusters:
            return Comparison(
                Undefined(
                    f"system and human references together have {points} responses: {clusters} "
                    "clusters need more"
                )
            )
        by_seed = [
            precision_recall_curves(system, people, seed, clusters, runs, angles)
            for seed in range(first, first + count)
        ]
        scores = [curves.score for curves in by_seed]
        return Comparison(float(np.mean(scores)), _details(first, scores, by_seed))

    return AgainstPeople(str(options["model"]), int(options["layer"]), compare)


def _details(first: int, scores: Sequence[float], by_seed: Sequence[Curves]) -> dict[str, Any]:
    if len(scores) > 1:
        spread = {
            "sd_between_seeds": float(np.std(scores, ddof=1)),
            "sd_from": f"{len(scores)} seeds",
        }
    else:
        spread = {
            "sd_between_seeds": by_seed[0].spread,
            "sd_from": f"jackknife over the {len(by_seed[0].precision)} runs of one seed",
        }
    return {
        "seed": first,
        "seeds": len(scores),
        "runs": len(by_seed[0].precision),
        **spread,
        "seed_scores": list(scores),
        "curve": {
            "precision": _of_a_plot([curves.precision for curves in by_seed]),
            "recall": _of_a_plot([curves.recall for curves in by_seed]),
        },
    }


def _of_a_plot(curves: Sequence[Any]) -> list[float]:
    mean = np.mean(curves, axis=(0, 1))[::EVERY_ANGLE_OF_A_PLOT]
    return [round(float(value), 5) for value in mean]


Float64Array = NDArray[np.float64]

CLUSTERS = 20
STARTS = 10
RUNS = 10
ANGLES = 1001
_FROM_THE_AXES = 1e-10
"""The first and the last angle, in radians from 0 and π/2."""
_NEVER_ZERO = 1e-6
"""In the released code's denominator; a perfect F is 0.9999995."""


@dataclass(frozen=True)
class Curves:
    """One row for each run, one column for each angle."""

    precision: Float64Array
    recall: Float64Array

    @property
    def score(self) -> float:
        """PRD: the largest F of the mean curves, in [0, 1]."""
        return _largest_f(self.precision.mean(axis=0), self.recall.mean(axis=0))

    @property
    def spread(self) -> float | None:
        """How far the score would move with other seeds.

        Returns:
            Standard deviation of the score, 0 or more, by the jackknife: from leaving out one run
            at a time. None for a single run.
        """
        runs = len(self.precision)
        if runs < 2:
            return None
        left_out = [
            _largest_f(
                np.delete(self.precision, run, axis=0).mean(axis=0),
                np.delete(self.recall, run, axis=0).mean(axis=0),
            )
            for run in range(runs)
        ]
        return float(np.std(left_out) * math.sqrt(runs - 1))


def precision_recall_curves(
    system: NDArray[np.floating],
    people: NDArray[np.floating],
    seed: int,
    clusters: int = CLUSTERS,
    runs: int = RUNS,
    angles: int = ANGLES,
) -> Curves:
    """Precision and recall of a system's points against people's, over several clusterings.

    One generator serves all runs, and each call starts it anew, as with NumPy's global seed set
    before each system.

    Args:
        system: (n, d) points, n at least 1.
        people: (m, d) points, m at least 1; n + m at least ``clusters``.
        seed: of the clusterings, 0 to 2³² − 1.
        clusters: how many, at least 2.
        runs: clusterings, at least 1.
        angles: at which the curves are taken, at least 3.

    Returns:
        Curves: a row for each run, a column for each angle.
    """
    draws = RandomState(seed)
    find = _clustering(np.concatenate([system, people]), clusters)
    curves = []
    with _one_thread():
        for _ in range(runs):
            found = find(draws)
            of_system = shares(found[: len(system)], clusters)
            of_people = shares(found[len(system) :], clusters)
            curves.append(curve(of_system, of_people, angles))
    precision, recall = zip(*curves, strict=True)
    return Curves(np.array(precision), np.array(recall))


def shares(clusters: NDArray[np.intp], count: int = CLUSTERS) -> Float64Array:
    """Distribution of one set of points over the clusters.

    Args:
        clusters: (n,) cluster of each point, 0 to ``count`` − 1; n at least 1.
        count: of the clusters.

    Returns:
        (count,), each in [0, 1]; sums to 1.
    """
    return np.bincount(clusters, minlength=count) / len(clusters)


def curve(
    system: Float64Array, people: Float64Array, angles: int = ANGLES
) -> tuple[Float64Array, Float64Array]:
    """Precision and recall of a distribution at each angle.

    Args:
        system: (k,) distribution G over clusters, sums to 1.
        people: (k,) distribution R over the same clusters, sums to 1.
        angles: how many, at least 3.

    Returns:
        Precision and recall, (angles,) each, in [0, 1], from the slope near 0 to the one near
        infinity.

    α(λ) = Σ min(λ R, G) is the precision, β(λ) = α(λ) / λ the recall (Sajjadi et al., 2018).
    """
    slopes = np.tan(np.linspace(_FROM_THE_AXES, math.pi / 2 - _FROM_THE_AXES, angles))
    precision = np.minimum(slopes[:, None] * people, system).sum(axis=1)
    return np.clip(precision, 0.0, 1.0), np.clip(precision / slopes, 0.0, 1.0)


def _largest_f(precision: Float64Array, recall: Float64Array) -> float:
    return float((2 * precision * recall / (precision + recall + _NEVER_ZERO)).max())


def _clustering(points: NDArray[np.floating], clusters: int) -> Any:
    """From a generator to each point's cluster: scikit-learn's mini-batch k-means, by ``k_means``
    where it can."""
    if len(points) <= MOST_POINTS:
        products = Products.of(points)
        return lambda draws: mini_batch_k_means(products, clusters, STARTS, draws)
    from sklearn.cluster import MiniBatchKMeans

    return lambda draws: (
        MiniBatchKMeans(clusters, n_init=STARTS, random_state=draws).fit(points).labels_
    )


def _one_thread() -> Any:
    """For matrices this small a second thread costs more than it gives."""
    return _thread_pools().limit(limits=1)


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
