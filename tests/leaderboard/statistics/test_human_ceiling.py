"""The ceiling that is drawn: a perfect metric reaches it, and agreement between raters lies below
it."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from common.estimates import Estimate
from leaderboard.statistics.correlation.human_ceiling import correlation_ceiling
from leaderboard.statistics.correlation.leave_one_out import leave_one_out_agreement
from leaderboard.statistics.correlation.reliability import split_half

VAR_OF_TRUTH = 1.25
CORPORA = range(12)


def rated(
    seed,
    raters,
    noise,
    *,
    kind="identified",
    severity=0.0,
    missing=0.0,
    shape=(60, 6),
    coarse=False,
):
    """(ratings, the true score of each response, its system). A rating is truth + severity + noise;
    a fifth of the variance of the truth is between systems. ``shape``: dialogues and systems."""
    random = np.random.default_rng(seed)
    dialogues, systems = shape
    system = np.tile(np.arange(systems), dialogues)
    quality = np.linspace(-1, 1, systems)
    truth = random.normal(size=len(system)) + 0.5 * (quality / quality.std())[system]
    scores = (
        truth
        + severity * random.normal(size=(raters, 1))
        + noise * random.normal(size=(raters, len(system)))
    )
    if coarse:
        scores = np.clip(np.rint(3 + scores), 1, 5)
    scores[random.random(scores.shape) < missing] = np.nan
    held = ~np.isnan(scores).all(axis=0)
    names = tuple(f"r{number}" for number in range(raters))
    matrix = RatingMatrix(
        scores[:, held], np.repeat(np.arange(dialogues), systems)[held], names, rater_kind=kind
    )
    return matrix, truth[held], system[held]


def ceiling_of(matrix, system, level="turn", name="pearson"):
    found = split_half(matrix, system, (level,), splits=10, intervals=False)[level][name]
    return correlation_ceiling(found).value


def reached_by_the_truth(matrix, truth, system, level="turn", ranks=False):
    means = np.nanmean(matrix.scores, axis=0)
    if level == "system":
        truth, means = (np.bincount(system, one) / np.bincount(system) for one in (truth, means))
    if ranks:
        truth, means = (np.unique(one, return_inverse=True)[1] for one in (truth, means))
    return np.corrcoef(truth, means)[0, 1]


@pytest.mark.parametrize("kind", ["identified", "anonymous"])
@pytest.mark.parametrize("raters", [2, 3, 4, 5])
def test_a_perfect_metric_reaches_the_ceiling_and_agreement_of_raters_lies_below_it(raters, kind):
    # Var(noise) = 2.25: the mean of k raters has reliability 1.25 / (1.25 + 2.25 / k), and its root
    # is the ceiling.
    known = np.sqrt(VAR_OF_TRUTH / (VAR_OF_TRUTH + 2.25 / raters))
    corpora = [rated(seed, raters, 1.5, kind=kind) for seed in CORPORA]
    drawn = np.mean([ceiling_of(matrix, system) for matrix, _, system in corpora])
    assert drawn == pytest.approx(known, abs=0.02)
    assert drawn == pytest.approx(
        np.mean([reached_by_the_truth(*one) for one in corpora]), abs=0.02
    )
    matrix, _truth, system = corpora[0]
    reliability = split_half(matrix, system, ("turn",), intervals=False)["turn"]["pearson"].value
    assert reliability == pytest.approx(known**2, abs=0.1)
    assert reliability < drawn
    if kind == "identified":
        assert (
            leave_one_out_agreement(matrix, system, ("turn",), 0)["turn"]["pearson"].value
            < drawn - 0.1
        )


def test_the_ceiling_s_interval_holds_the_known_ceiling():
    matrix, _truth, system = rated(1, 3, 1.5)
    found = correlation_ceiling(split_half(matrix, system, ("turn",))["turn"]["pearson"])
    assert found.ci[0] < np.sqrt(VAR_OF_TRUTH / (VAR_OF_TRUTH + 2.25 / 3)) < found.ci[1]
    assert found.ci[0] < found.value < found.ci[1]


def test_strict_raters_who_rate_everything_do_not_lower_the_ceiling():
    """Their severity is in every mean alike: a perfect metric loses nothing by it."""
    corpora = [rated(seed, 3, 1.0, severity=2.0) for seed in CORPORA]
    drawn = np.mean([ceiling_of(matrix, system) for matrix, _, system in corpora])
    assert drawn == pytest.approx(
        np.mean([reached_by_the_truth(*one) for one in corpora]), abs=0.02
    )


@pytest.mark.parametrize("kind", ["identified", "anonymous"])
def test_where_the_number_of_raters_varies_the_ceiling_is_that_of_the_means_as_they_are(kind):
    """From one rating a response to five; metrics are correlated with the means of all of them."""
    corpora = [rated(seed, 5, 1.5, kind=kind, missing=0.6) for seed in CORPORA]
    assert ((~np.isnan(corpora[0][0].scores)).sum(axis=0) == 1).mean() > 0.2
    drawn = np.mean([ceiling_of(matrix, system) for matrix, _, system in corpora])
    assert drawn == pytest.approx(
        np.mean([reached_by_the_truth(*one) for one in corpora]), abs=0.03
    )


@pytest.mark.parametrize("raters", [2, 3, 4])
def test_a_perfect_metric_s_rank_correlation_comes_near_the_ceiling_of_ranks(raters):
    """ρ is the r of ranks, for which the formula is an approximation; on a scale of five points."""
    corpora = [rated(seed, raters, 1.0, coarse=True) for seed in CORPORA]
    drawn = np.mean([ceiling_of(matrix, system, name="spearman") for matrix, _, system in corpora])
    assert drawn == pytest.approx(
        np.mean([reached_by_the_truth(*one, ranks=True) for one in corpora]), abs=0.03
    )


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_at_system_level_a_perfect_metric_reaches_the_ceiling(missing):
    """With few dialogues, so that raters' noise is left in the means of systems."""
    corpora = [rated(seed, 3, 2.5, shape=(10, 40), missing=missing) for seed in CORPORA]
    drawn = np.mean([ceiling_of(matrix, system, "system") for matrix, _, system in corpora])
    reached = np.mean([reached_by_the_truth(*one, "system") for one in corpora])
    assert drawn == pytest.approx(reached, abs=0.05)
    assert reached < 0.9


def test_a_ceiling_s_interval_stays_between_nothing_and_one():
    found = correlation_ceiling(Estimate(0.2, ci=(-0.3, 0.6)))
    assert found.ci == pytest.approx((0.0, np.sqrt(0.6)))
    assert found.value == pytest.approx(np.sqrt(0.2))


def test_halves_that_do_not_agree_have_no_ceiling_but_a_reason():
    found = correlation_ceiling(Estimate(-0.1, ci=(-0.3, 0.1)))
    assert found.value is None
    assert "do not agree with each other (reliability −0.10)" in found.reason


@pytest.mark.parametrize(
    ("scores", "kind", "reason"),
    [
        (np.arange(8.0)[None], "identified", "no response has two raters: nothing can be split"),
        (np.arange(8.0)[None], "aggregate", "the corpus holds mean scores, not raters"),
    ],
)
def test_one_rating_a_response_has_no_ceiling_but_a_reason(scores, kind, reason):
    matrix = RatingMatrix(scores, np.arange(8), ("a",), rater_kind=kind)
    found = correlation_ceiling(
        split_half(matrix, np.zeros(8, dtype=int), ("turn",))["turn"]["pearson"]
    )
    assert (found.value, found.reason) == (None, reason)


def test_kendall_s_tau_has_no_ceiling_but_a_reason():
    matrix, _truth, system = rated(0, 2, 1.0)
    assert (
        "none for τ"
        in correlation_ceiling(split_half(matrix, system, ("turn",))["turn"]["kendall"]).reason
    )
