"""Preferences by hand."""

from __future__ import annotations

import numpy as np
import pytest

from common.estimates import Undefined
from leaderboard.statistics.preferences.battles import (
    Battles,
    battles_of_names,
    transitivity,
    win_rates,
)
from leaderboard.statistics.preferences.bradley_terry import elo, resampled_strengths, strengths
from leaderboard.statistics.preferences.connectivity import is_strongly_connected, why_undefined
from leaderboard.statistics.preferences.covariates import (
    CovariateFit,
    Style,
    fit_with_covariates,
    relative_difference,
    scaled,
    style_of,
)
from leaderboard.statistics.preferences.davidson import davidson
from leaderboard.statistics.preferences.metric_pairs import (
    NO_DECISIVE,
    ONE_WINNER,
    compare_accuracies,
    metric_on_pairs,
    score_differences,
)
from leaderboard.statistics.preferences.uncertainty import (
    clustered,
    pairwise_p,
    rank_ranges,
    two_way,
)
from leaderboard.statistics.preferences.vote_agreement import vote_agreement


def battles_between(*votes: tuple[str, str, str]) -> Battles:
    return battles_of_names(*(list(column) for column in zip(*votes, strict=True)))[1]


def test_log_odds_are_those_of_the_wins() -> None:
    found = strengths([[0, 7], [3, 0]])
    assert found[0] - found[1] == pytest.approx(np.log(7 / 3))


def test_both_bad_is_half_a_win_each() -> None:
    battles = battles_between(("x", "y", "both_bad"), ("x", "y", "a"), ("y", "x", "tie"))
    assert battles.wins().tolist() == [[0, 2], [1, 0]]
    assert battles.ties().tolist() == [[0, 2], [2, 0]]


def test_a_system_does_not_meet_itself() -> None:
    with pytest.raises(ValueError, match="itself"):
        battles_between(("x", "x", "a"))


def test_lists_have_one_length() -> None:
    one, two = np.zeros(1, dtype=np.int64), np.ones(2, dtype=np.int64)
    with pytest.raises(ValueError, match="one length"):
        Battles(2, one, two, np.ones(1), one, one)


def test_strengths_are_found_where_whole_newton_steps_run_away() -> None:
    wins = np.array([[0, 0, 0, 1], [10_000, 0, 0, 100_000], [100_000, 0, 0, 0], [0, 100, 10, 0]])
    found = strengths(wins)
    games = wins + wins.T
    expected = games / (1 + np.exp(found[np.newaxis, :] - found[:, np.newaxis]))
    assert expected.sum(axis=1) == pytest.approx(wins.sum(axis=1))


def test_tables_are_fitted_together_as_alone() -> None:
    tables = np.array([[[0, 7], [3, 0]], [[0, 1], [0, 0]], [[0, 2], [4, 0]]], dtype=np.float64)
    found = strengths(tables)
    assert np.isnan(found[1]).all()
    assert found[0] == pytest.approx(strengths(tables[0]))
    assert found[2] == pytest.approx(strengths(tables[2]))


def test_a_long_circle_is_strongly_connected() -> None:
    circle = np.roll(np.eye(9), 1, axis=1)[np.newaxis]
    line = circle.copy()
    line[0, 8, 0] = 0
    assert is_strongly_connected(np.concatenate((circle, line))).tolist() == [True, False]


@pytest.mark.parametrize(
    ("wins", "reason"),
    [
        ([[0, 2], [1, 0]], ""),
        ([[0]], "one system only"),
        ([[0, 3, 3], [0, 0, 1], [0, 1, 0]], "x won every battle against the others"),
        ([[0, 1, 3], [1, 0, 2], [0, 0, 0]], "z lost every battle against the others"),
        (
            [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
            "groups that never met, whose strengths do not compare: {x, y}; {z, w}",
        ),
    ],
)
def test_the_reason_names_the_groups(wins: list[list[int]], reason: str) -> None:
    found = why_undefined(wins, "xyzw"[: len(wins)])
    assert reason in found
    assert bool(found) == bool(reason)


def test_elo_of_odds_of_ten_is_400_apart() -> None:
    assert elo(np.log([10.0, 1.0])) == pytest.approx([1400, 1000])


def test_two_that_never_met_have_no_win_rate() -> None:
    rates = win_rates([[0, 3, 0], [1, 0, 0], [0, 0, 0]])
    assert rates[0, 1] == 0.75
    assert np.isnan(rates[[0, 1, 2, 0], [0, 2, 2, 2]]).all()


def test_a_circle_of_three_is_found() -> None:
    # x beats y 3:1, y beats z 3:1, z beats x 2:1; w loses to all.
    wins = np.array([[0, 3, 1, 2], [1, 0, 3, 2], [2, 1, 0, 2], [0, 0, 0, 0]])
    found = transitivity(wins)
    assert (found.triples, found.cyclic) == (4, 1)
    assert found.examples == ((0, 1, 2),)


def test_equals_make_no_triple() -> None:
    wins = np.array([[0, 1, 1], [1, 0, 3], [1, 0, 0]])
    assert (transitivity(wins).triples, transitivity(wins).cyclic) == (0, 0)


def test_resamples_drawn_in_parts_are_those_of_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    battles = battles_between(*[("x", "y", verdict) for verdict in ("a", "b", "tie", "a", "b")])
    whole = resampled_strengths(battles, 40, seed=3)
    monkeypatch.setattr("leaderboard.statistics.preferences.bradley_terry.DRAWS_AT_ONCE", 15)
    assert resampled_strengths(battles, 40, seed=3) == pytest.approx(whole, nan_ok=True)


def test_clusters_of_raters_widen_and_of_both_widen_more() -> None:
    # Each rater is of one mind in every conversation: 3 votes a rater are one.
    votes = [("x", "y", verdict) for verdict in ("a", "a", "b", "a", "b", "b", "a", "a") * 3]
    votes_by = np.tile(np.arange(8), 3)
    plain = battles_between(*votes)
    battles = Battles(2, plain.a, plain.b, plain.won, np.repeat(np.arange(3), 8), votes_by)
    fit = CovariateFit(strengths(battles.wins()), np.empty(0))
    alone = clustered(battles, fit, np.arange(24)).covariance[0, 0]
    by_rater = clustered(battles, fit, battles.rater)
    assert by_rater.covariance[0, 0] == pytest.approx(3 * alone)
    # Conversations have the same votes, so their scores sum to 0; V = 0 + 3v − v.
    both = two_way(battles, fit)
    assert both.covariance[0, 0] == pytest.approx(2 * alone)
    assert both.clusters == 3


def test_one_conversation_has_no_error() -> None:
    battles = battles_between(("x", "y", "a"), ("x", "y", "b"))
    fit = CovariateFit(strengths(battles.wins()), np.empty(0))
    found = clustered(battles, fit, [0, 0])
    assert np.isnan(found.standard_errors).all()
    assert np.isnan(pairwise_p(fit.strength, found)[0]).all()


def test_p_of_two_systems_is_students() -> None:
    # 7 : 3 in ten conversations: .8473 / √(1/(10·.21) · 10/9) = 1.165, t of 9: p = .274.
    battles = battles_between(*[("x", "y", "a")] * 7, *[("x", "y", "b")] * 3)
    fit = CovariateFit(strengths(battles.wins()), np.empty(0))
    p, adjusted = pairwise_p(fit.strength, clustered(battles, fit, battles.conversation))
    assert p[0, 1] == pytest.approx(0.27402, abs=1e-4)
    assert adjusted[0, 1] == p[1, 0]


def test_rank_ranges_by_hand() -> None:
    best, worst = rank_ranges([3, 1, 0, -9], [4, 3.5, 2, -8])
    assert (best.tolist(), worst.tolist()) == ([1, 1, 2, 4], [2, 3, 3, 4])


@pytest.mark.parametrize(
    ("wins", "ties", "reason"),
    [
        ([[0, 1], [1, 0]], [[0, 0], [0, 0]], "no battle is a tie"),
        ([[0, 0], [0, 0]], [[0, 3], [3, 0]], "every battle is a tie"),
        ([[0, 2], [0, 0]], [[0, 1], [1, 0]], "no finite maximum"),
        ([[0, 0, 3], [0, 0, 3], [0, 0, 0]], [[0, 1, 0], [1, 0, 0], [0, 0, 0]], "no finite maximum"),
    ],
)
def test_davidson_without_a_maximum(
    wins: list[list[int]], ties: list[list[int]], reason: str
) -> None:
    found = davidson(wins, ties)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_a_covariate_that_separates_is_undefined() -> None:
    battles = battles_between(("x", "y", "a"), ("x", "y", "b"), ("x", "y", "a"), ("x", "y", "b"))
    found = fit_with_covariates(battles, battles.won - 0.5)
    assert isinstance(found, Undefined)
    assert "separate" in found.reason


def test_a_slot_that_always_wins_is_undefined() -> None:
    # x and y meet in both orders, and A always wins: the slot's log odds have no end.
    battles = battles_between(("x", "y", "a"), ("y", "x", "a"), ("x", "y", "a"), ("y", "x", "a"))
    found = fit_with_covariates(battles, np.ones((4, 1)))
    assert isinstance(found, Undefined)
    assert "separate" in found.reason


def test_a_covariate_that_is_a_system_is_undefined() -> None:
    battles = battles_between(("x", "y", "a"), ("x", "y", "b"), ("x", "y", "a"))
    assert isinstance(fit_with_covariates(battles, np.ones(3)), Undefined)


def test_a_feature_that_is_everywhere_the_same_is_none() -> None:
    assert scaled(relative_difference([3, 3], [3, 3])) is None
    assert relative_difference([3], [0]).tolist() == [0.75]


def test_style_is_counted() -> None:
    text = "# Title\n\n* **one two** 😀\n2. two\n```\ncode\n```\n5 * 3 * 2 is no list © 1"
    # A heading, two list items, a bold passage, two fences.
    assert style_of(text) == Style(words=21, markdown=6, emoji=1)
    assert style_of("") == Style(0, 0, 0)


def test_a_pattern_of_marks_is_read_in_linear_time() -> None:
    assert style_of("**" * 20_000).words == 1


def test_a_tie_of_the_metric_is_half_right() -> None:
    # Differences 1, 0, −1 on votes for A, A, A: right, half, wrong.
    found = metric_on_pairs([1.0, 0.0, -1.0], [1.0, 1.0, 1.0], [0, 1, 2])
    assert found.accuracy.value == 0.5
    assert found.ties_wrong.value == pytest.approx(1 / 3)
    assert found.ties_left_out.value == 0.5
    assert (found.auc.value, found.auc.reason) == (None, ONE_WINNER)


def test_a_missing_score_is_no_vote() -> None:
    found = metric_on_pairs([np.nan, 1.0], [1.0, 0.5], [0, 1])
    assert (found.votes, found.decisive) == (1, 0)
    assert found.accuracy.reason == NO_DECISIVE


def test_equal_differences_are_equal_after_rounding() -> None:
    found = score_differences([0.8, 1.3, np.nan, 0.0], [0.5, 1.0, 1.0, 0.0])
    assert found[0] == found[1] == 0.3
    assert np.isnan(found[2])
    assert found[3] == 0


def test_two_metrics_are_compared_over_conversations() -> None:
    # On 8 votes of 4 conversations the first is right where the second is wrong but in one
    # conversation: differences 1, 1, 1, −1 twice each: mean .5, sums of residuals 1, 1, 1, −3,
    # error √(4/3 · 12)/8 = .5, t = 1 with 3 degrees of freedom: p = .391.
    first = np.array([1, 1, 1, 1, 1, 1, -1, -1], dtype=np.float64)
    found = compare_accuracies([first, -first], np.ones(8), [0, 0, 1, 1, 2, 2, 3, 3])
    assert found.difference.tolist() == [0.5]
    assert found.p[0] == pytest.approx(0.391002, abs=1e-5)
    assert found.matrix(2)[1, 0] == found.p_holm[0]


def test_the_same_metric_twice_is_not_different() -> None:
    found = compare_accuracies([[1.0, -1.0]] * 2, [1.0, 1.0], [0, 1])
    assert (found.difference[0], found.p[0]) == (0.0, 1.0)


def test_votes_of_three_people_on_one_pair() -> None:
    # a, a, tie: one of three pairs of votes agrees; without the tie 1 of 1. A vote says another's
    # decisive one: a→a twice, the tie says each of two half: (2 + 2·½)/4.
    found = vote_agreement([0, 0, 0], [1.0, 1.0, 0.5], [0, 0, 0])
    assert (found.pairs, found.decisive_pairs) == (3, 1)
    assert found.with_ties.value == pytest.approx(1 / 3)
    assert found.without_ties.value == 1
    assert found.accuracy.value == pytest.approx(3 / 4)


def test_one_voter_agrees_with_nobody() -> None:
    assert vote_agreement([0, 1], [1.0, 0.0], [0, 1]).with_ties.value is None
