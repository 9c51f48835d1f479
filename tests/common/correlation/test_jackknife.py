import numpy as np
import pytest
from scipy import stats

from common.correlation import correlation_estimates, jackknife_interval, left_out_weights
from common.correlation.jackknife import MOST_GROUPS, group_of_cluster
from common.correlation.resampling import Redraws
from common.estimates import Undefined
from tests.common.correlation.resampled import SCIPY

RANDOM = np.random.default_rng(3)
CLUSTER = np.repeat(np.arange(8), 5)
HUMAN = RANDOM.normal(size=40) + RANDOM.normal(size=8)[CLUSTER]
METRIC = HUMAN + RANDOM.normal(size=40)


def test_of_a_mean_it_is_student_s_t():
    values = np.array([1.0, 4.0, 2.0, 7.0, 3.0])
    left_out = (values.sum() - values) / 4
    expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert jackknife_interval(values.mean(), left_out) == pytest.approx(expected)
    # A mean has no bias
    assert jackknife_interval(values.mean(), left_out, corrected=True) == pytest.approx(expected)


def test_the_correction_takes_the_bias_of_one_over_n_away():
    # The variance with divisor n has the bias −σ²/n: pseudo-values average to the one with divisor
    # n − 1.
    values = np.array([1.0, 4.0, 2.0, 7.0, 3.0])
    left_out = np.array([np.var(np.delete(values, number)) for number in range(5)])
    low, high = jackknife_interval(np.var(values), left_out, corrected=True)
    assert (low + high) / 2 == pytest.approx(np.var(values, ddof=1))


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_correlations_without_each_cluster_are_scipy_s_on_fisher_s_scale(name):
    found = correlation_estimates(HUMAN, METRIC, CLUSTER, Redraws.jackknife(8))[name]
    left_out = [
        SCIPY[name](HUMAN[number != CLUSTER], METRIC[number != CLUSTER])[0] for number in range(8)
    ]
    z = np.arctanh(left_out)
    reach = stats.t.ppf(0.975, 7) * np.sqrt(7 / 8 * np.square(z - z.mean()).sum())
    centre = np.arctanh(found.value)
    assert found.ci == pytest.approx((np.tanh(centre - reach), np.tanh(centre + reach)))
    t = centre / np.sqrt(7 / 8 * np.square(z - z.mean()).sum())
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 7))


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("seed", range(8))
def test_p_and_interval_of_a_cell_never_contradict_each_other(name, seed):
    """Dialogues that differ as a whole: counted as independent responses they read as significant
    far too often."""
    random = np.random.default_rng(seed)
    human, metric = (
        np.repeat(random.normal(size=8), 10) + 0.3 * random.normal(size=80) for _ in range(2)
    )
    found = correlation_estimates(human, metric, np.repeat(np.arange(8), 10), Redraws.jackknife(8))[
        name
    ]
    assert (found.p < 0.05) == (found.ci[0] > 0.0 or found.ci[1] < 0.0)


def test_a_cluster_without_data_counts_for_nothing():
    with_empty = correlation_estimates(HUMAN, METRIC, CLUSTER + (CLUSTER > 3), Redraws.jackknife(9))
    assert with_empty["kendall"].ci == pytest.approx(
        correlation_estimates(HUMAN, METRIC, CLUSTER, Redraws.jackknife(8))["kendall"].ci
    )


@pytest.mark.parametrize(
    ("point", "left_out", "reason"),
    [
        (0.5, [0.5], "at least 2 dialogues"),
        (0.5, [0.5, np.nan, 0.4], "undefined where one of the dialogues is left out"),
        (1.0, [1.0, 1.0, 1.0], "1 or −1"),
        (0.9, [0.9, -1.0, 0.9], "1 or −1"),
        (0.8, [0.8, 0.8], "the same whichever dialogue is left out"),
    ],
)
def test_where_there_is_none_it_says_why(point, left_out, reason):
    found = jackknife_interval(point, np.array(left_out), "fisher")
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_each_is_left_out_once_and_many_go_in_groups():
    assert (left_out_weights(3) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]).all()
    many = left_out_weights(3 * MOST_GROUPS)
    assert many.shape == (MOST_GROUPS, 3 * MOST_GROUPS)
    assert ((many == 0).sum(axis=1) == 3).all()
    assert (np.bincount(group_of_cluster(1001)) >= 1001 // MOST_GROUPS).all()


def test_an_average_of_coefficients_ends_at_one():
    """θ = 0.9, left out 0.8 and 1.0: se = √(½ · (0.1² + 0.1²)) = 0.1, t(1) = 12.7."""
    assert jackknife_interval(0.9, np.array([0.8, 1.0]), "bounded") == pytest.approx(
        (0.9 - 1.27062047, 1.0)
    )


def test_other_statistics_may_be_the_same_whichever_of_ten_dialogues_is_left_out():
    assert jackknife_interval(5.0, np.full(10, 5.0)) == (5.0, 5.0)


@pytest.mark.parametrize("value", [5.0, 0.0, -2.0])
def test_fewer_dialogues_that_agree_to_the_digit_are_no_certainty(value):
    found = jackknife_interval(value, np.full(9, value))
    assert found == Undefined("the dialogues agree to the digit, as fewer than 10 may do by chance")


def test_scores_that_differ_in_the_last_bit_agree():
    found = jackknife_interval(0.3, np.array([0.1 + 0.2, 0.3]))
    assert isinstance(found, Undefined)


def test_few_small_scores_that_differ_have_an_interval():
    """θ = 2·10⁻¹¹, left out 1·10⁻¹¹ and 3·10⁻¹¹: se = √(½ · 2) · 10⁻¹¹, t(1) = 12.7."""
    found = jackknife_interval(2e-11, np.array([1e-11, 3e-11]))
    assert found == pytest.approx((2e-11 - 12.7062047e-11, 2e-11 + 12.7062047e-11), abs=1e-17)
