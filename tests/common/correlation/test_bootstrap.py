import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from common.correlation.resampling import (
    cluster_resamples,
    percentile_interval,
    percentile_p,
    with_interval,
)
from common.estimates import Estimate, Undefined


def test_every_resample_draws_as_many_clusters_as_there_are():
    assert (cluster_resamples(7, 50, seed=3).sum(axis=1) == 7).all()


def test_a_seed_gives_the_same_resamples_and_another_seed_gives_others():
    assert (cluster_resamples(7, 50, seed=3) == cluster_resamples(7, 50, seed=3)).all()
    assert (cluster_resamples(7, 50, seed=3) != cluster_resamples(7, 50, seed=4)).any()


def test_a_cluster_is_missing_from_a_resample_as_often_as_drawing_with_replacement_says():
    # P(not drawn in 5 draws from 5) = (4/5)^5 = 0.32768; sd of the share over 20,000 × 5 cells is
    # below 0.002.
    missing = (cluster_resamples(5, 20_000, seed=0) == 0).mean()
    assert missing == pytest.approx(0.32768, abs=0.01)


@pytest.mark.parametrize(("clusters", "resamples"), [(0, 10), (3, 0)])
def test_nothing_to_draw_is_an_error(clusters, resamples):
    with pytest.raises(ValueError, match="at least one"):
        cluster_resamples(clusters, resamples, seed=0)


def test_the_interval_runs_between_interpolated_percentiles():
    # 0..100: the 2.5th percentile of 101 evenly spaced values is 2.5, the 97.5th is 97.5.
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert percentile_interval(np.arange(101.0), level=0.5) == pytest.approx((25.0, 75.0))


def test_ten_percent_undefined_replicates_are_dropped():
    replicates = np.concatenate((np.arange(90.0), np.full(10, np.nan)))
    # 0..89: 2.5 % of 89 = 2.225.
    assert percentile_interval(replicates) == pytest.approx((2.225, 86.775))


def test_more_undefined_replicates_leave_no_interval_and_say_how_many():
    interval = percentile_interval(np.concatenate((np.arange(88.0), np.full(12, np.nan))))
    assert isinstance(interval, Undefined)
    assert "12%" in interval.reason


def test_one_dialogue_gives_no_interval_instead_of_a_certain_one():
    estimate = with_interval(Estimate(0.4, p=0.1), np.full(100, 0.4), clusters_used=1)
    assert estimate.ci is None
    assert "2 dialogues" in estimate.reason
    assert (estimate.value, estimate.p) == (0.4, 0.1)


@pytest.mark.parametrize(("dialogues", "interval"), [(9, None), (10, (1.0, 1.0))])
def test_fewer_than_ten_dialogues_that_agree_to_the_digit_give_no_interval(dialogues, interval):
    estimate = with_interval(Estimate(1.0, p=0.1), np.full(100, 1.0), dialogues)
    assert (estimate.value, estimate.ci) == (1.0, interval)
    assert ("the same in every draw" in estimate.reason) == (interval is None)


def test_p_is_twice_the_share_of_the_draws_beyond_nothing():
    """Of −1, 0, 1, 2, 3 the second is 0, a quarter of the way up: p = 2 · 1/4. Without a draw
    beyond 0: 1 / (5 + 1)."""
    assert percentile_p(np.array([3.0, 0.0, -1.0, 2.0, 1.0, np.nan])) == pytest.approx(0.5)
    assert (
        percentile_p(np.arange(1.0, 6.0))
        == percentile_p(-np.arange(1.0, 6.0))
        == pytest.approx(1 / 6)
    )
    assert percentile_p(np.zeros(5)) == 1.0


@given(st.lists(st.floats(-1, 1), min_size=100, max_size=120), st.floats(-1, 1))
def test_p_and_interval_never_contradict_each_other(draws, shift):
    estimate = with_interval(Estimate(0.1, p=0.5), np.array(draws) + shift, clusters_used=20)
    assume(estimate.ci is not None)  # none where the draw does not hold the estimate
    low, high = estimate.ci
    assert (estimate.p < 0.05) == (low > 0.0 or high < 0.0)


def test_an_undefined_estimate_gets_no_interval():
    assert with_interval(Estimate.undefined("why"), np.arange(100.0), 5) == Estimate.undefined(
        "why"
    )
