import numpy as np
import pytest

from common.correlation import (
    COEFFICIENTS,
    cluster_resamples,
    correlation_estimates,
    correlation_estimates_of_many,
    correlation_replicates,
    kendall,
)
from tests.common.correlation.resampled import SCIPY, scipy_replicates

ONE_CLUSTER = np.zeros(4, dtype=int)


def scores_like(kind, n, clusters, seed=0):
    """(human, metric, cluster) of every shape that the fast paths treat differently."""
    random = np.random.default_rng(seed)
    cluster = random.integers(0, clusters, n)
    cluster[:clusters] = np.arange(clusters)
    human = random.integers(1, 6, n).astype(float)
    metric = human + random.normal(scale=2.0, size=n)
    if kind == "both discrete":
        metric = np.round(metric)
    elif kind == "both continuous":
        human = human + random.normal(size=n)
    elif kind == "mostly zero":
        metric = np.where(random.random(n) < 0.7, 0.0, metric)
    elif kind == "one far outlier":
        metric[0] = 1e7
    return human, metric, cluster


def test_small_case_by_hand():
    found = correlation_estimates([1, 2, 3, 4], [1, 3, 2, 4], ONE_CLUSTER)
    # Deviations (−1.5, −.5, .5, 1.5) and (−1.5, .5, −.5, 1.5): products 2.25 − .25 − .25 + 2.25 =
    # 4; squares 5 and 5.
    assert found["pearson"].value == pytest.approx(0.8)
    # ρ = 1 − 6·Σd²/(n(n²−1)) = 1 − 6·2/60.
    assert found["spearman"].value == pytest.approx(0.8)
    # 5 concordant pairs, 1 discordant, of 6.
    assert found["kendall"].value == pytest.approx(4 / 6)


def test_ties_lower_the_denominator_of_tau_b():
    # Pairs: (1,1)-(1,2) tied for people; the other five concordant or tied: human 1,1,2,3; metric
    # 1,2,3,3. Concordant 4, discordant 0; untied for people 6 − 1 = 5, for the metric 6 − 1 = 5:
    # τ-b = 4/5.
    assert correlation_estimates([1, 1, 2, 3], [1, 2, 3, 3], ONE_CLUSTER)[
        "kendall"
    ].value == pytest.approx(0.8)


@pytest.mark.parametrize("size", [2.0**1000, 2.0**330, 2.0**-330, 2.0**-1000])
def test_scores_of_any_size_have_the_same_coefficients(size):
    """A power of two changes no digit of a score, and so none of r; their squares would be infinite
    or nothing."""
    human, metric, cluster = scores_like("both continuous", 60, 8)
    drawn = cluster_resamples(8, 200, seed=1)
    assert correlation_estimates(human, metric * size, cluster, drawn) == correlation_estimates(
        human, metric, cluster, drawn
    )


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("kind", ["both discrete", "both continuous", "mostly zero"])
def test_point_and_p_equal_scipy(name, kind):
    human, metric, cluster = scores_like(kind, 120, 10)
    estimate = correlation_estimates(human, metric, cluster)[name]
    value, p = SCIPY[name](human, metric)
    assert estimate.value == pytest.approx(value, abs=1e-12)
    assert estimate.p == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    "kind", ["both discrete", "both continuous", "mostly zero", "one far outlier"]
)
@pytest.mark.parametrize(
    ("n", "clusters"),
    [(700, 9), (260, 40), (300, 60), (150, 150), (12, 3)],
    ids=lambda size: str(size),
)
def test_replicates_equal_scipy_on_the_resample_written_down(kind, n, clusters):
    human, metric, cluster = scores_like(kind, n, clusters)
    weights = cluster_resamples(clusters, 15, seed=1)
    found = correlation_replicates(human, metric, cluster, weights)
    for name in COEFFICIENTS:
        expected = scipy_replicates(name, human, metric, cluster, weights)
        np.testing.assert_allclose(found[name], expected, atol=1e-9, err_msg=name)


def test_both_ways_to_count_concordant_pairs_agree(monkeypatch):
    human, metric, cluster = scores_like("mostly zero", 900, 12)
    weights = cluster_resamples(12, 30, seed=2)
    by_blocks = correlation_replicates(human, metric, cluster, weights)["kendall"]
    monkeypatch.setattr(kendall, "MAX_CLUSTERS_FOR_BLOCKS", 1)
    by_pairs = correlation_replicates(human, metric, cluster, weights)["kendall"]
    np.testing.assert_allclose(by_blocks, by_pairs, atol=1e-12)


def test_a_resample_with_a_constant_side_is_undefined():
    # Cluster 0 holds one metric value only: drawing it three times leaves nothing to correlate.
    human = np.array([1.0, 2, 3, 1, 2, 3, 1, 2, 3])
    metric = np.array([0.1, 0.1, 0.1, 1, 2, 3, 2, 1, 3])
    cluster = np.repeat([0, 1, 2], 3)
    found = correlation_replicates(human, metric, cluster, np.array([[3, 0, 0], [0, 3, 0]]))
    for name in COEFFICIENTS:
        assert np.isnan(found[name][0]), name
        assert found[name][1] == pytest.approx(1.0), name


def test_the_interval_is_that_of_the_replicates():
    human, metric, cluster = scores_like("both continuous", 100, 8)
    weights = cluster_resamples(8, 200, seed=5)
    found = correlation_estimates(human, metric, cluster, weights)
    for name in COEFFICIENTS:
        expected = np.percentile(
            scipy_replicates(name, human, metric, cluster, weights), [2.5, 97.5]
        )
        assert found[name].ci == pytest.approx(tuple(expected), abs=1e-9)


def test_no_weights_mean_no_interval_was_asked_for():
    assert (
        "ci"
        not in correlation_estimates([1, 2, 3, 4], [1, 3, 2, 4], ONE_CLUSTER)["pearson"].as_json()
    )


def test_clusters_that_hold_no_pair_change_nothing_but_the_weights():
    human, metric, cluster = scores_like("both discrete", 60, 5)
    weights = cluster_resamples(9, 20, seed=0)
    assert weights[:, :5].sum(axis=1).min() > 0
    found = correlation_replicates(human, metric, cluster, weights)
    for name in COEFFICIENTS:
        expected = scipy_replicates(name, human, metric, cluster, weights[:, :5])
        np.testing.assert_allclose(found[name], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([1, 2], [2, 1], "at least 3 pairs of scores, there are 2"),
        ([], [], "there are 0"),
        ([3, 3, 3, 3], [1, 2, 3, 4], "all human scores are equal"),
        ([1, 2, 3, 4], [0.1, 0.1, 0.1, 0.1], "all metric scores are equal"),
    ],
)
def test_undefined_says_why(human, metric, reason):
    cluster = np.zeros(len(human), dtype=int)
    for estimate in correlation_estimates(
        human, metric, cluster, cluster_resamples(1, 10, 0)
    ).values():
        assert estimate.value is None
        assert reason in estimate.reason


def test_missing_scores_are_an_error_because_the_caller_must_count_them():
    with pytest.raises(ValueError, match="finite"):
        correlation_estimates([1, 2, float("nan")], [1, 2, 3], [0, 0, 0])


def test_many_metrics_at_once_equal_one_at_a_time():
    human, metric, cluster = scores_like("both discrete", 200, 20)
    metrics = [metric, -metric, np.zeros(200), metric**2]
    weights = cluster_resamples(20, 100, seed=0)
    together = correlation_estimates_of_many(human, metrics, cluster, weights)
    assert together == [correlation_estimates(human, one, cluster, weights) for one in metrics]
    assert together[2]["kendall"].reason == "all metric scores are equal"


def test_an_interval_over_dialogues_is_wider_than_one_over_rows_when_a_dialogue_repeats_itself():
    # 10 dialogues of 20 copies each hold 10 independent pairs, not 200.
    random = np.random.default_rng(0)
    human, metric = random.normal(size=(2, 10)).repeat(20, axis=1)
    dialogue = np.arange(10).repeat(20)
    over_dialogues = correlation_estimates(human, metric, dialogue, cluster_resamples(10, 500, 0))[
        "pearson"
    ].ci
    over_rows = correlation_estimates(
        human, metric, np.arange(200), cluster_resamples(200, 500, 0)
    )["pearson"].ci
    assert over_dialogues[1] - over_dialogues[0] > 2 * (over_rows[1] - over_rows[0])


def test_a_95_percent_interval_covers_the_true_correlation_about_95_times_in_100():
    # 60 clusters of one pair, true r = 0.5, 200 data sets: the percentile interval's coverage is
    # near 0.93; below 0.88 or above 0.99 has a chance under 1 %.
    random = np.random.default_rng(7)
    cluster = np.arange(60)
    covered = 0
    for seed in range(200):
        shared, own, other = random.normal(size=(3, 60))
        weights = cluster_resamples(60, 200, seed)
        found = correlation_estimates(shared + own, shared + other, cluster, weights)["pearson"]
        covered += found.ci[0] <= 0.5 <= found.ci[1]
    assert 0.88 <= covered / 200 <= 0.99
