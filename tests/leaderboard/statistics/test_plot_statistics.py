"""The statistics that only plots need: bands of regression lines, scores by human score, maps on a
plane."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.statistics.correlation.regression_band import regression_band
from leaderboard.statistics.distribution import scores_by_human
from leaderboard.statistics.embedding_map import cosines_to_references, plane_map


def test_the_t_band_is_that_of_the_textbook():
    """x = 1, 2, 3, 4, y = 1, 3, 2, 4: ȳ = 2.5, slope 4 / 5 = 0.8, residuals −0.3, 0.9, −0.9, 0.3,
    s² = 1.8 / 2 = 0.9; at x̄ the half width is 4.302653 · √(0.9 / 4) = 2.040927, at x = 1 it is
    4.302653 · √(0.9 · (1/4 + 2.25/5)) = 3.415124."""
    band = regression_band(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    assert (band.method, band.clusters) == ("t", 0)
    middle = len(band.human) // 2
    assert (band.high - band.low)[middle] / 2 == pytest.approx(2.040927, abs=1e-5)
    assert (band.high - band.low)[0] / 2 == pytest.approx(3.415124, abs=1e-5)


def test_the_bootstrap_band_redraws_dialogues_not_points():
    source = np.random.default_rng(3)
    shift = np.repeat(source.normal(size=20), 10)
    human = source.normal(size=200)
    metric = 0.5 * human + shift
    by_dialogue = regression_band(human, metric, np.repeat(np.arange(20), 10))
    by_point = regression_band(human, metric, np.arange(200))
    assert (by_dialogue.method, by_dialogue.clusters) == ("bootstrap", 20)
    assert (by_dialogue.high - by_dialogue.low)[12] > 2 * (by_point.high - by_point.low)[12]


def test_the_band_is_where_polyfit_of_each_redraw_says():
    source = np.random.default_rng(5)
    human, metric, dialogue = (
        source.normal(1e6, 1, 40),
        source.normal(size=40),
        np.repeat(np.arange(8), 5),
    )
    band = regression_band(human, metric, dialogue, resamples=50)
    from common.correlation import cluster_resamples

    lines = []
    for weights in cluster_resamples(8, 50, 0):
        slope, start = np.polyfit(human - 1e6, metric, 1, w=np.sqrt(weights[dialogue]))
        lines.append(start + slope * (band.human - 1e6))
    low, high = np.percentile(lines, [2.5, 97.5], axis=0)
    assert band.low == pytest.approx(low, abs=1e-6)
    assert band.high == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize(
    ("human", "reason"),
    [([1.0, 2.0], "at least 3 points"), ([2.0, 2.0, 2.0], "all human scores are equal")],
)
def test_no_band_has_a_reason(human, reason):
    assert reason in regression_band(np.array(human), np.arange(len(human), dtype=float))


def test_three_dialogues_cannot_be_redrawn_and_the_band_is_students():
    band = regression_band(np.arange(9.0), np.arange(9.0) % 4, np.repeat(np.arange(3), 3))
    assert band.method == "t"


def test_scores_are_gathered_at_whole_human_scores_with_halves_going_up():
    human = np.array([1.0, 1.4, 1.5, 2.0, 3.3, np.nan, 2.0])
    step, groups = scores_by_human(human, np.array([0.0, 0.2, 0.4, 0.6, 0.9, 0.5, np.nan]))
    assert step == 1.0
    assert [(one.human, one.n) for one in groups] == [(1.0, 2), (2.0, 2), (3.0, 1)]
    assert (groups[1].median, groups[1].lower_quartile) == (pytest.approx(0.5), pytest.approx(0.45))


def test_a_scale_from_nought_to_one_is_cut_finer_and_a_question_of_yes_or_no_is_not():
    fine, groups = scores_by_human(np.linspace(0, 1, 11), np.arange(11.0))
    assert (fine, len(groups)) == (0.5, 3)
    coarse, groups = scores_by_human(np.array([0.0, 1, 0, 1]), np.arange(4.0))
    assert (coarse, [one.human for one in groups]) == (1.0, [0.0, 1.0])


def test_no_score_at_all_is_no_group():
    assert scores_by_human(np.array([np.nan]), np.array([1.0])) == (1.0, [])


def vectors(count: int) -> np.ndarray:
    source = np.random.default_rng(1)
    centres = np.zeros((2, 20))
    centres[1, 0] = 10.0
    return centres[np.arange(count) % 2] + source.normal(size=(count, 20))


def test_two_clouds_are_two_clouds_on_both_maps():
    points = vectors(60)
    found = plane_map(points)
    for places in (found.pca, found.tsne):
        first, second = places[::2], places[1::2]
        within = np.linalg.norm(first - first.mean(axis=0), axis=1).max()
        assert np.linalg.norm(first.mean(axis=0) - second.mean(axis=0)) > within


def test_the_explained_share_is_that_of_the_covariances_eigenvalues():
    points = vectors(60)
    values = np.sort(np.linalg.eigvalsh(np.cov(points.T)))[::-1]
    assert plane_map(points).explained == pytest.approx(tuple(values[:2] / values.sum()), abs=1e-9)


def test_the_same_seed_gives_the_same_map():
    points = vectors(40)
    assert np.array_equal(plane_map(points, 3).tsne, plane_map(points, 3).tsne)


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (np.zeros((3, 5)), "at least 4 texts, there are 3"),
        (np.zeros((9, 5)), "4 different texts, there are 1"),
        (np.full((9, 5), np.nan), "not finite"),
    ],
)
def test_no_map_has_a_reason(points, reason):
    assert reason in plane_map(points)


def test_a_response_like_its_reference_has_the_cosine_one():
    found = cosines_to_references(
        np.array([[1.0, 0], [1, 1], [0, 0]]), np.array([[2.0, 0], [1, 0], [1, 0]])
    )
    assert found[:2] == pytest.approx([1.0, np.sqrt(0.5)])
    assert np.isnan(found[2])
