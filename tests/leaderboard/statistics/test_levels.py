import numpy as np
import pytest

from common.correlation import COEFFICIENTS, cluster_resamples
from leaderboard.statistics.correlation.levels import (
    SYSTEM_ONLY_NOTE,
    correlate_items,
    correlate_systems,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from tests.common.correlation.resampled import SCIPY, drawn_items
from tests.leaderboard.statistics.campaign import campaign


def placed(c, scores):
    return PlacedScores(scores, c.system, c.dialogue)


def system_means(scores, system, systems):
    return np.array([scores[system == number].mean() for number in range(systems)])


def test_items_equal_scipy_metric_by_metric():
    c = campaign()
    for metric, found in zip(
        c.metrics, correlate_items(c.human, c.metrics, c.dialogue, resamples=20), strict=True
    ):
        for name in COEFFICIENTS:
            assert getattr(found, name).value == pytest.approx(
                SCIPY[name](c.human, metric)[0], abs=1e-12
            )
        assert (found.n, found.coverage) == (len(c.human), 1.0)


def test_items_with_missing_scores_are_dropped_for_that_metric_only_and_counted():
    c = campaign(metrics=3)
    human, metrics = c.human.copy(), c.metrics.copy()
    human[:20] = np.nan
    metrics[1, 10:50] = np.nan
    found = correlate_items(human, metrics, c.dialogue, resamples=20)
    assert [one.n for one in found] == [300, 270, 300]
    assert found[1].coverage == pytest.approx(270 / 300)
    assert found[1].pearson.value == pytest.approx(SCIPY["pearson"](human[50:], metrics[1, 50:])[0])
    assert found[2].pearson.value == pytest.approx(SCIPY["pearson"](human[20:], metrics[2, 20:])[0])


def test_a_metric_without_any_score_is_undefined_with_coverage_zero():
    c = campaign(metrics=1)
    found = correlate_items(c.human, np.full((1, len(c.human)), np.nan), c.dialogue)[0]
    assert (found.n, found.coverage) == (0, 0.0)
    assert found.kendall.reason == "a correlation needs at least 3 pairs of scores, there are 0"


def test_nothing_rated_is_undefined_and_no_error():
    found = correlate_items(np.full(5, np.nan), np.ones((1, 5)), np.arange(5))[0]
    assert found.pearson.value is None
    assert found.coverage is None


def test_the_seed_decides_the_interval():
    c = campaign(metrics=1)
    one, same, other = (_by_draws(c, seed).ci for seed in (1, 1, 2))
    assert one == same
    assert one != other


def _by_draws(c, seed):
    return correlate_items(c.human, c.metrics, c.dialogue, 50, seed, method="percentile")[0].pearson


def test_system_level_correlates_means():
    c = campaign()
    found = correlate_systems(placed(c, c.human), placed(c, c.metrics), c.systems, resamples=20)
    human = system_means(c.human, c.system, c.systems)
    for metric, one in zip(c.metrics, found, strict=True):
        for name in COEFFICIENTS:
            expected = SCIPY[name](human, system_means(metric, c.system, c.systems))
            assert getattr(one, name).value == pytest.approx(expected[0], abs=1e-9)
            low, high = getattr(one, name).ci
            assert (getattr(one, name).p < 0.05) == (low > 0.0 or high < 0.0)
        assert (one.n, one.coverage, one.note) == (8, 1.0, "")


def test_system_level_interval_redraws_dialogues_and_recomputes_both_means():
    c = campaign(metrics=2)
    found = correlate_systems(
        placed(c, c.human),
        placed(c, c.metrics),
        c.systems,
        resamples=60,
        seed=4,
        method="percentile",
    )
    weights = cluster_resamples(c.dialogues, 60, 4)
    for metric, one in zip(c.metrics, found, strict=True):
        for name in ("pearson", "spearman"):
            replicates = []
            for multiplicity in weights:
                items = drawn_items(c.dialogue, multiplicity)
                human_means = np.round(system_means(c.human[items], c.system[items], c.systems), 10)
                metric_means = np.round(system_means(metric[items], c.system[items], c.systems), 10)
                replicates.append(SCIPY[name](human_means, metric_means)[0])
            assert getattr(one, name).ci == pytest.approx(
                tuple(np.percentile(replicates, [2.5, 97.5])), abs=1e-8
            )


def test_system_only_metric_redraws_the_human_side_only_and_says_so():
    c = campaign(metrics=1)
    fixed = np.arange(c.systems, dtype=float) ** 2
    found = correlate_systems(
        placed(c, c.human), placed(c, c.metrics), c.systems, fixed, 60, 4, method="percentile"
    )
    replicates = []
    for multiplicity in cluster_resamples(c.dialogues, 60, 4):
        items = drawn_items(c.dialogue, multiplicity)
        replicates.append(
            SCIPY["pearson"](system_means(c.human[items], c.system[items], c.systems), fixed)[0]
        )
    assert len(found) == 2
    assert found[1].note == SYSTEM_ONLY_NOTE
    assert found[1].pearson.ci == pytest.approx(
        tuple(np.percentile(replicates, [2.5, 97.5])), abs=1e-9
    )


def test_a_system_that_the_metric_has_not_scored_is_dropped_for_it_and_counted():
    c = campaign(metrics=2)
    fixed = np.array([np.nan, 1, 2, 3, 4, 5, 6, 7.0])
    metrics = c.metrics.copy()
    metrics[1, c.system < 2] = np.nan
    found = correlate_systems(
        placed(c, c.human), placed(c, metrics), c.systems, fixed, resamples=20
    )
    assert [one.n for one in found] == [8, 6, 7]
    assert found[1].coverage == pytest.approx(6 / 8)
    assert found[1].note.startswith("80 of 320 responses have no score")


def test_metric_scores_of_unrated_responses_count_in_its_system_means():
    # People rated one response a system; the metric scored a second one of system 0 too: mean (0 +
    # 10)/2 = 5.
    human = PlacedScores(np.array([1.0, 2.0, 3.0]), np.arange(3), np.zeros(3, dtype=int))
    metric = PlacedScores(
        np.array([0.0, 1.0, 2.0, 10.0]), np.array([0, 1, 2, 0]), np.array([0, 0, 0, 1])
    )
    found = correlate_systems(human, metric, 3, resamples=10)[0]
    assert found.pearson.value == pytest.approx(SCIPY["pearson"]([1, 2, 3], [5, 1, 2])[0])


def test_ratings_of_one_dialogue_give_no_interval():
    human = PlacedScores(np.array([1.0, 2.0, 3.0]), np.arange(3), np.zeros(3, dtype=int))
    found = correlate_systems(human, human, 3, resamples=10)[0]
    assert found.pearson.value == pytest.approx(1.0)
    assert found.pearson.ci is None
    assert "2 dialogues" in found.pearson.reason


def test_two_systems_are_too_few():
    c = campaign(systems=2, metrics=1)
    found = correlate_systems(placed(c, c.human), placed(c, c.metrics), 2, resamples=10)[0]
    assert found.pearson.reason == "a correlation needs at least 3 pairs of scores, there are 2"
