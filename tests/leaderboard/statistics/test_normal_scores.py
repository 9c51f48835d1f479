"""Normal scores of means, and how far errors move them; reference: SciPy's normal quantiles."""

import numpy as np
import pytest
from scipy.stats import norm

from leaderboard.statistics.correlation.true_means import _imputed_ratings, normal_scores


def test_scores_are_blom_s_and_equal_means_share_theirs():
    """Ranks 4, 1, 2.5, 2.5 of four: Φ⁻¹((rank − 3/8) / 4.25)."""
    scores, _ = normal_scores(np.array([3.0, 1.0, 2.0, 2.0]), 0.1)
    assert scores == pytest.approx(norm.ppf([3.625 / 4.25, 0.625 / 4.25, 0.5, 0.5]))


def test_a_slope_is_taken_over_two_errors_to_either_side():
    """Means 0, 1, 3 have the scores −q, 0, q with q = Φ⁻¹(2.625 / 3.25): lines of slope q and q / 2
    between, and of 2q / 3 beyond. From 1 − 0.5 to 1 + 0.5 a score grows by 0.5 q + 0.25 q; from
    −0.5 to 0.5 by q / 3 + 0.5 q; from 2.5 to 3.5 by 0.25 q + q / 3."""
    q = norm.ppf(2.625 / 3.25)
    _, slopes = normal_scores(np.array([0.0, 1.0, 3.0]), 0.25)
    assert slopes == pytest.approx([q / 3 + 0.5 * q, 0.75 * q, 0.25 * q + q / 3])


def test_an_error_moves_a_system_among_others_farther_than_one_by_itself():
    means = np.array([0.0, 0.1, 0.2, 0.3, 5.0])
    _, slopes = normal_scores(means, 0.1)
    assert slopes[:4].min() > 5 * slopes[4]


def test_without_an_error_nothing_moves_a_score():
    scores, slopes = normal_scores(np.array([0.0, 1.0, 3.0]), 0.0)
    assert scores[2] == pytest.approx(norm.ppf(2.625 / 3.25))
    assert slopes.tolist() == [0.0, 0.0, 0.0]


def test_true_means_are_drawn_around_the_shrunk_means_with_the_rest_of_the_variance():
    """Mean Σ(Σ + C)⁻¹x, covariance Σ − Σ(Σ + C)⁻¹Σ: without chance the mean comes, and each normal
    number of 1 adds its column of the covariance's Cholesky root."""
    true, error = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[0.5, 0.1], [0.1, 1.0]])
    seen = np.array([[0.7], [-0.4]])  # one system
    normal = np.array([[[0.0], [1.0], [0.0]], [[0.0], [0.0], [1.0]]])  # three draws
    drawn = _imputed_ratings(seen, error[None], np.stack([true] * 3), np.ones(3), normal)
    weight = true @ np.linalg.inv(true + error)
    mean, root = (weight @ seen)[:, 0], np.linalg.cholesky(true - weight @ true)
    assert drawn[:, 0, 0] == pytest.approx(mean)
    assert drawn[:, 1, 0] == pytest.approx(mean + root[:, 0])
    assert drawn[:, 2, 0] == pytest.approx(mean + root[:, 1])
