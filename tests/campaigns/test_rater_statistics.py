"""How one rater rates beside the others, with numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.campaigns.rater_statistics.others import (
    NOBODY_ELSE,
    beside_others,
    widest_disagreements,
)
from annotations.campaigns.rater_statistics.own_ratings import (
    NO_TIMES,
    checks_passed,
    longest_run,
    pace,
    scale_use,
    second_thoughts,
)
from common.correlation.identical import IDENTICAL_DIALOGUES

NAN = float("nan")
SCALE = (1, 2, 3, 4, 5)


def test_pace_is_the_median_and_a_pause_of_an_hour_changes_little() -> None:
    """4, 6 and 3600 s: the median is 6 s, so 3600 / 6 = 600 an hour; the item without a time is
    left out."""
    found = pace([4000, None, 3_600_000, 6000])
    assert (found.seconds, found.per_hour, found.timed) == (6.0, 600.0, 3)


def test_pace_without_times_is_undefined() -> None:
    assert (pace([None]).seconds, pace([None]).per_hour, pace([None]).reason) == (
        None,
        None,
        NO_TIMES,
    )


def test_entropy_of_two_scores_half_each_is_one_bit() -> None:
    """−2 · ½ · log₂ ½ = 1."""
    used = scale_use([1, 5, 5, 1], SCALE)
    assert (used.shares, used.entropy) == ((0.5, 0.0, 0.0, 0.0, 0.5), 1.0)


@pytest.mark.parametrize(
    ("scores", "entropy"), [([3, 3], 0.0), ([1, 2, 3, 4, 5], math.log2(5)), ([], None)]
)
def test_entropy_at_its_ends(scores: list[int], entropy: float | None) -> None:
    assert scale_use(scores, SCALE).entropy == (None if entropy is None else pytest.approx(entropy))


def test_a_score_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="not on the scale"):
        scale_use([6], SCALE)


def test_longest_run_counts_neighbours_only() -> None:
    assert [longest_run(scores) for scores in ([4, 4, 2, 4, 4, 4, 4], [1, 2], [])] == [4, 1, 0]


def test_second_thoughts_count_changed_scores() -> None:
    """Of three items two changed, by 2 and by 1: mean 1.5. A rating sent again unchanged is no
    change."""
    found = second_thoughts([(1, 3), (4, 4), (5, 4)])
    assert (found.items, found.changed, found.mean_change) == (3, 2, 1.5)
    assert second_thoughts([(2, 2)]).mean_change is None


def test_both_ends_of_a_checks_range_pass() -> None:
    found = checks_passed([(1, 1, 2), (2, 1, 2), (3, 1, 2)])
    assert (found.passed, found.judged) == (2, 3)


def test_severity_is_the_mean_difference_to_the_others() -> None:
    """Rater 0 gives 1, 2, 3; the others' means are (3+5)/2 = 4, 4, 3: differences −3, −2, 0, mean
    −5/3."""
    scores = np.array([[1, 2, 3], [3, 4, 3], [5, NAN, NAN]])
    found = beside_others(scores, np.array([0, 1, 2]), np.ones(3, dtype=bool))
    assert found[0].severity.value == pytest.approx(-5 / 3)
    assert found[0].items == 3


def test_a_rater_always_one_lower_agrees_fully_and_has_severity_minus_one() -> None:
    scores = np.array([[1, 2, 3, 4], [2, 3, 4, 5]], dtype=float)
    low, high = beside_others(scores, np.array([0, 0, 1, 1]), np.ones(2, dtype=bool))
    assert (low.severity.value, low.severity.ci) == (-1.0, None)
    assert low.severity.reason == IDENTICAL_DIALOGUES
    assert (high.severity.value, low.agreement.value) == (1.0, pytest.approx(1.0))


def test_severity_has_the_jackknifes_interval_over_dialogues() -> None:
    """Differences −1, 0, −1, −2 of four dialogues: mean −1, standard error √(⅔ / 4) = 0.408, times
    t₃ = 3.182."""
    scores = np.array([[1, 2, 3, 2], [2, 2, 4, 4]], dtype=float)
    (first, _) = beside_others(scores, np.arange(4), np.ones(2, dtype=bool))
    assert first.severity.value == -1.0
    assert first.severity.ci == pytest.approx((-1 - 1.2992, -1 + 1.2992), abs=1e-4)


def test_agreement_with_the_others_is_the_agreement_pages_number() -> None:
    """Three raters, six dialogues of two items: value and interval are leave-one-out's, which every
    other page shows."""
    scores = np.random.default_rng(4).integers(1, 6, (3, 12)).astype(float)
    scores[2, 5] = NAN
    dialogue = np.arange(12) // 2
    expected = agreement_report(RatingMatrix(scores, dialogue, ("a", "b", "c")))
    found = beside_others(scores, dialogue, np.ones(3, dtype=bool))
    for one, other in zip(found, expected.leave_one_out["pearson"].raters, strict=True):
        assert one.agreement.value == pytest.approx(other.correlation.value)
        assert one.agreement.ci == pytest.approx(other.correlation.ci)


def test_an_excluded_rater_is_nobodys_other_but_is_held_against_them() -> None:
    """Raters 0 and 1 agree; 2, excluded, gives 5 throughout: 0's others are 1 alone, 2's others are
    both."""
    scores = np.array([[1, 2, 3], [1, 2, 3], [5, 5, 5]], dtype=float)
    found = beside_others(scores, np.array([0, 1, 2]), np.array([True, True, False]))
    assert [one.severity.value for one in found] == [0.0, 0.0, 3.0]  # (4 + 3 + 2) / 3 = 3


def test_beside_nobody_all_is_undefined() -> None:
    found = beside_others(
        np.array([[1.0, NAN], [NAN, 2.0]]), np.array([0, 1]), np.ones(2, dtype=bool)
    )
    assert [(one.items, one.severity.value, one.severity.reason) for one in found] == [
        (0, None, NOBODY_ELSE)
    ] * 2


@pytest.mark.parametrize(
    ("own", "others", "reason"),
    [
        ([1.0, 2.0], [1.0, 2.0], "fewer than 3 items judged by this rater and another"),
        ([3.0, 3.0, 3.0], [1.0, 2.0, 3.0], "all scores of this rater are equal"),
        ([1.0, 2.0, 3.0], [3.0, 3.0, 3.0], "all mean scores of the other raters are equal"),
    ],
)
def test_agreement_is_undefined_with_its_reason(
    own: list[float], others: list[float], reason: str
) -> None:
    scores = np.array([own, others])
    (first, _) = beside_others(scores, np.arange(len(own)), np.ones(2, dtype=bool))
    assert (first.agreement.value, first.agreement.reason) == (None, reason)
    assert first.severity.value is not None


def test_items_of_one_dialogue_have_no_interval() -> None:
    scores = np.array([[1, 2, 3], [1, 3, 3]], dtype=float)
    (first, _) = beside_others(scores, np.zeros(3, dtype=np.int64), np.ones(2, dtype=bool))
    assert (first.severity.ci, first.severity.reason) == (
        None,
        "an interval over dialogues needs at least 2 dialogues",
    )


def test_the_widest_disagreement_comes_first_and_of_equal_ranges_the_larger_deviation() -> None:
    """Ranges 1, 4, 4, 0 and one score alone. Item 1 (1, 5, 5) deviates less than item 2 (1, 5, and
    nobody: ±2)."""
    scores = np.array([[3, 1, 1, 2, 5], [4, 5, 5, 2, NAN], [NAN, 5, NAN, 2, NAN]])
    found = widest_disagreements(scores, most=10)
    assert [(one.item, one.spread) for one in found] == [(2, 4.0), (1, 4.0), (0, 1.0)]
    assert found[0].scores == ((0, 1.0), (1, 5.0))


def test_no_more_disagreements_than_asked_for() -> None:
    assert len(widest_disagreements(np.array([[1.0, 1, 1], [2, 2, 2]]), most=2)) == 2
