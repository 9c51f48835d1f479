import numpy as np

from common.correlation.scores import DIGITS_OF_PARTS, round_off


def test_equal_means_stay_equal_whatever_the_order_of_the_sum():
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    low, high = round_off(np.array([(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3]))
    assert low == high


def test_a_single_score_ties_with_an_equal_mean_of_several():
    several = (10 / 3 + 10 / 3 + 10 / 3 + 10 / 3 + 10 / 3 + 10 / 3 + 10 / 3) / 7
    assert several != 10 / 3
    one, mean = round_off(np.array([10 / 3, several]))
    assert one == mean


def test_settling_keeps_twelve_digits_of_each_value_however_small_beside_the_largest():
    means = np.array([123456.7890123, 1.23456789e-9, 1.23456788e-9, -8.0322e-11, 1e-200, 0.0, 1e18])
    np.testing.assert_allclose(round_off(means), means, rtol=1e-11)
    assert len(set(round_off(means))) == len(means)


def test_settling_leaves_short_decimals_as_they_are_and_missing_ones_missing():
    np.testing.assert_array_equal(round_off(np.array([3.3, 0.1, np.nan])), [3.3, 0.1, np.nan])


def test_means_of_settled_parts_still_tie():
    """(11/3 + 11/3 + 8/3) / 3 = (10/3 + 10/3 + 10/3) / 3; of parts of twelve digits the first would
    be larger."""
    thirds = np.array([[11.0, 11.0, 8.0], [10.0, 10.0, 10.0]]) / 3
    uneven, even = round_off(round_off(thirds, DIGITS_OF_PARTS).mean(axis=1))
    assert uneven == even
    uneven, even = round_off(round_off(thirds).mean(axis=1))
    assert uneven > even
