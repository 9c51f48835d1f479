import json
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics.many_comparisons import benjamini_hochberg, holm
from leaderboard.statistics.metric_bands import metric_bands

CASE = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())["many_comparisons"]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjusted_p_are_those_of_statsmodels(adjust):
    np.testing.assert_allclose(adjust(CASE["p"]), CASE[adjust.__name__], rtol=1e-12)


def test_holm_by_hand():
    # Three: 3 · 0.01, 2 · 0.02, 1 · 0.04; the last may not be below the one before it.
    assert holm([0.04, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    # 2 · 0.03 = 0.06 and 1 · 0.031, which the step before holds at 0.06.
    assert holm([0.03, 0.031]).tolist() == pytest.approx([0.06, 0.06])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_comparison_that_does_not_exist_is_not_counted(adjust):
    adjusted = adjust([0.01, np.nan, 0.02])
    assert np.isnan(adjusted[1])
    assert adjusted[[0, 2]].tolist() == adjust([0.01, 0.02]).tolist()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("p", [[], [np.nan]])
def test_nothing_to_compare(adjust, p):
    assert np.isnan(adjust(p)).all()
    assert len(adjust(p)) == len(p)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_is_refused(adjust):
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([0.5, 1.5])


def symmetric(pairs, metrics):
    p = np.full((metrics, metrics), np.nan)
    for (i, j), value in pairs.items():
        p[i, j] = p[j, i] = value
    return p


def lead(*coefficients):
    """Differences of these coefficients, where every metric scored all."""
    values = np.array([np.nan if one is None else one for one in coefficients])
    return values[:, None] - values


def test_a_band_begins_below_any_of_the_band_above():
    # 1 is like 0; 2 is like 1 but below 0: it opens the second band. 3 is like 2: the same band, though below 0 and 1.
    p = symmetric({(0, 1): 0.5, (0, 2): 0.01, (1, 2): 0.4, (0, 3): 0.01, (1, 3): 0.01, (2, 3): 0.3}, 4)
    assert metric_bands([0.9, 0.8, 0.7, 0.6], lead(0.9, 0.8, 0.7, 0.6), p) == [1, 1, 2, 2]


def test_bands_follow_the_coefficient_and_not_the_order_given():
    p = symmetric({(0, 1): 0.01, (0, 2): 0.01, (1, 2): 0.6}, 3)
    assert metric_bands([0.2, 0.8, 0.9], lead(0.2, 0.8, 0.9), p) == [2, 1, 1]


def test_a_metric_without_a_coefficient_has_no_band_and_splits_none():
    p = symmetric({(0, 2): 0.6}, 3)
    assert metric_bands([0.9, None, 0.2], lead(0.9, None, 0.2), p) == [1, None, 1]


def test_equal_coefficients_share_a_band_whatever_p_says():
    assert metric_bands([0.5, 0.5], lead(0.5, 0.5), symmetric({(0, 1): 0.001}, 2)) == [1, 1]


def test_a_metric_that_is_ahead_on_what_both_scored_is_not_below():
    # The second has the lower coefficient on all it scored, and is the better one where both have scores.
    differences = np.array([[0.0, -0.44], [0.44, 0.0]])
    p = symmetric({(0, 1): 1e-7}, 2)
    assert metric_bands([0.85, 0.80], differences, p) == [1, 1]
    assert metric_bands([0.85, 0.80], -differences, p) == [1, 2]
