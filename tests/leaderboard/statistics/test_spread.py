"""Summaries and histograms, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.statistics.distribution import MOST_BINS, Bin, histogram, round_width, summary_of


def test_the_summary_of_five_scores() -> None:
    """1, 2, 3, 4, 10: mean 4, deviations −3, −2, −1, 0, 6, squares 50, sd √10; quartiles are the
    2nd and 4th."""
    found = summary_of(np.array([3.0, 1.0, 10.0, 2.0, 4.0]))
    assert (found.n, found.mean, found.median) == (5, 4.0, 3.0)
    assert found.sd == pytest.approx(10**0.5)
    assert (found.least, found.lower_quartile, found.upper_quartile, found.greatest) == (
        1.0,
        2.0,
        4.0,
        10.0,
    )


@pytest.mark.parametrize(
    ("spread", "width"),
    [
        (1.0, 0.05),
        (29.0, 1.0),
        (30.0, 2.0),
        (60.0, 2.5),
        (0.0029, 0.0001),
        (0.0, 0.0),
        (float("inf"), 0.0),
    ],
)
def test_bins_have_a_round_width(spread: float, width: float) -> None:
    """The least of 1, 2, 2.5, 5 times a power of ten of which 29 reach over the spread: 1 / 29 =
    0.034 gives 0.05."""
    assert round_width(spread) == pytest.approx(width)


def test_every_score_is_in_one_bin_the_last_end_included() -> None:
    """From 0 to 1 in steps of 0.05: 20 bins. 0.05 begins the second bin, 1 ends the last."""
    bins = histogram(np.array([0.0, 0.02, 0.05, 1.0]))
    assert len(bins) == 20
    assert bins[0] == Bin(0.0, 0.05, 2)
    assert bins[1] == Bin(0.05, 0.1, 1)
    assert bins[-1] == Bin(0.95, 1.0, 1)
    # As they are read, 0.3 and not 0.30…04
    assert [one.low for one in bins[2:8]] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]


def test_equal_scores_are_one_bin_of_no_width() -> None:
    assert histogram(np.array([0.4, 0.4])) == [Bin(0.4, 0.4, 2)]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6, 1e300])
def test_no_score_is_lost_and_no_bin_too_many_whatever_the_scale(scale: float) -> None:
    scores = np.random.default_rng(0).normal(size=1000) * scale
    bins = histogram(scores)
    assert sum(one.count for one in bins) == 1000
    assert len(bins) <= MOST_BINS
    assert bins[0].low <= scores.min()
    assert bins[-1].high >= scores.max()


def test_scores_that_hardly_differ_are_counted_all_the_same() -> None:
    scores = np.array([1.0, 1.0 + 1e-15, 1.0 + 2e-15])
    assert sum(one.count for one in histogram(scores)) == 3
