"""Precision and recall over clusters, and PRD's figure: by hand, and from clusters of the released
code."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from workers.metrics.common import precision_recall
from workers.metrics.common.precision_recall import (
    ANGLES,
    CLUSTERS,
    Curves,
    curve,
    precision_recall_curves,
    shares,
)

CASE = json.loads(
    (Path(__file__).parents[2] / "cases" / "prd_clusters.json").read_text(encoding="utf-8")
)


def over(*counts: int) -> NDArray[np.float64]:
    return np.array([*counts, *[0] * (CLUSTERS - len(counts))]) / sum(counts)


def score_of(system: NDArray[np.float64], people: NDArray[np.float64]) -> float:
    precision, recall = curve(system, people)
    return Curves(precision[None], recall[None]).score


def points(count: int, shift: float, seed: int) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).standard_normal((count, 12)) + shift).astype(np.float32)


def test_the_curve_and_the_score_of_the_released_codes_clusters() -> None:
    runs = [
        curve(np.array(system) / CASE["points"], np.array(people) / CASE["points"])
        for system, people in CASE["counts"]
    ]
    curves = Curves(*(np.array(side) for side in zip(*runs, strict=True)))
    places = [0, 250, 500, 750, 1000]
    assert curves.precision.mean(axis=0)[places] == pytest.approx(
        CASE["precision_at_0_250_500_750_1000"], rel=1e-12
    )
    assert curves.recall.mean(axis=0)[places] == pytest.approx(
        CASE["recall_at_0_250_500_750_1000"], rel=1e-12
    )
    assert curves.score == pytest.approx(CASE["prd"], abs=1e-14)


def test_equal_distributions_score_1_up_to_the_term_that_keeps_from_0() -> None:
    assert score_of(over(3, 5), over(3, 5)) == pytest.approx(2 / (2 + 1e-6), abs=1e-12)


def test_distributions_without_a_common_cluster_score_0() -> None:
    assert score_of(over(0, 7), over(7)) == 0.0


def test_half_of_people_covered_is_precision_1_recall_a_half() -> None:
    # G = (1, 0), R = (½, ½). α(λ) = min(λ/2, 1), β = α/λ: (1, ½) at λ = 2 and (½, ½) at λ = 1; F is
    # largest at λ = 2.
    precision, recall = curve(over(6), over(3, 3))
    assert precision.max() == 1.0
    assert recall.max() == pytest.approx(0.5)
    assert score_of(over(6), over(3, 3)) == pytest.approx(2 / 3, abs=2e-3)
    at_slope_1 = ANGLES // 2
    assert (precision[at_slope_1], recall[at_slope_1]) == pytest.approx((0.5, 0.5))


def test_the_sides_change_places_with_precision_and_recall() -> None:
    precision, recall = curve(over(1, 4, 2), over(5, 1, 3))
    other_precision, other_recall = curve(over(5, 1, 3), over(1, 4, 2))
    assert precision == pytest.approx(other_recall[::-1], abs=1e-9)
    assert recall == pytest.approx(other_precision[::-1], abs=1e-9)


def test_shares_count_empty_clusters_too() -> None:
    assert shares(np.array([0, 0, 3, 19])).tolist() == [0.5, 0, 0, 0.25, *[0.0] * 15, 0.25]


def test_a_seed_gives_the_same_curves_again_and_another_one_others() -> None:
    system, people = points(60, 0.0, 1), points(60, 0.3, 2)
    first, again, other = (precision_recall_curves(system, people, seed) for seed in (7, 7, 8))
    assert (first.precision == again.precision).all()
    assert (first.recall == again.recall).all()
    assert (first.precision != other.precision).any()


def test_clusters_runs_and_angles_are_those_asked_for() -> None:
    system, people = points(4, 0.0, 1), points(4, 0.3, 2)
    curves = precision_recall_curves(system, people, 0, clusters=3, runs=2, angles=11)
    assert curves.precision.shape == curves.recall.shape == (2, 11)


def test_the_global_generator_is_left_alone() -> None:
    before = np.random.get_state()[1].tolist()
    precision_recall_curves(points(30, 0, 1), points(30, 0, 2), 0)
    assert np.random.get_state()[1].tolist() == before


def test_nearer_clouds_score_higher() -> None:
    people = points(80, 0.0, 1)
    near, far = (
        precision_recall_curves(points(80, shift, 2), people, 0).score for shift in (0.2, 1.5)
    )
    assert 0 < far < near < 1


@pytest.mark.slow
def test_the_spread_is_about_what_seeds_really_move_the_score_by() -> None:
    system, people = points(60, 0.0, 1), points(60, 0.2, 2)
    by_seed = [precision_recall_curves(system, people, seed) for seed in range(30)]
    between_seeds = float(np.std([curves.score for curves in by_seed], ddof=1))
    estimated = float(np.mean([curves.spread for curves in by_seed]))
    assert 0.6 * between_seeds < estimated < 1.6 * between_seeds


def test_the_spread_of_two_runs_by_hand() -> None:
    # Leaving one of two runs out leaves the other: F of 1 and of ½; jackknife: √((2−1)/2 · Σ(F−¾)²)
    # = √(½ · ⅛) = ¼.
    curves = Curves(np.array([[1.0], [0.5]]), np.array([[1.0], [0.5]]))
    assert curves.spread == pytest.approx(math.sqrt(0.5 * (0.25**2 + 0.25**2)), abs=1e-6)
    assert Curves(np.array([[1.0]]), np.array([[1.0]])).spread is None


def test_more_points_than_a_mini_batch_go_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same draws there: with the bound lowered both ways give the same curves."""
    system, people = points(100, 0.0, 1), points(110, 0.5, 2)
    ours = precision_recall_curves(system, people, 3)
    monkeypatch.setattr(precision_recall, "MOST_POINTS", 209)
    theirs = precision_recall_curves(system, people, 3)
    assert ours.precision == pytest.approx(theirs.precision)
    assert ours.recall == pytest.approx(theirs.recall)
