from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leaderboard.challenges.board.split import Part
from leaderboard.challenges.board.standing import BoardMetric, BoardScores, places_of, scores_of

NAN = float("nan")
DIALOGUES = 6


def board(
    *entries: list[float],
    metric: BoardMetric | None = None,
    system: list[float] | None = None,
    **kwargs,
) -> BoardScores:
    """One metric; each entry's scores turn by turn, two turns in each of the six dialogues."""
    turn = np.array([entries], dtype=float)
    whole = np.zeros(turn.shape[:2]) if system is None else np.array([system], dtype=float)
    dialogue = np.repeat(np.arange(turn.shape[2] // 2), 2)
    return BoardScores([metric or BoardMetric()], turn, whole, dialogue, kwargs.get("why", {}))


def everything(dialogues: int = DIALOGUES) -> Part:
    return Part(np.ones(dialogues, dtype=bool))


def only(*dialogues: int) -> Part:
    counted = np.zeros(DIALOGUES, dtype=bool)
    counted[list(dialogues)] = True
    return Part(counted)


def places(of: BoardScores, part: Part | None = None, unranked: dict[int, str] | None = None):
    part = part or everything()
    return places_of(of, 0, scores_of(of, part)[0], unranked or {}, part)


UNEVEN = np.array([0.1, 0.2, 0.09, 0.19, 0.11, 0.21] * 2)
"""Two turns a dialogue: means 0.15, 0.14, 0.16, and the same again."""
LOW, MIDDLE, HIGH = (list(UNEVEN + higher) for higher in (0.0, 0.3, 0.7))


def test_the_mean_counts_the_turns_of_the_part_alone() -> None:
    scores = [0.0, 0.2, 0.4, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    [[score]] = scores_of(board(scores), only(0, 1))
    assert score.mean.value == pytest.approx((0.0 + 0.2 + 0.4 + 0.6) / 4)
    assert (score.scored, score.turns) == (4, 4)


def test_an_undefined_turn_is_left_out_and_told_as_coverage() -> None:
    [[score]] = scores_of(board([0.2, NAN, 0.4, 0.6, *[NAN] * 8]), everything())
    assert score.mean.value == pytest.approx((0.2 + 0.4 + 0.6) / 3)
    assert score.as_json()["scored"] == 3
    assert score.as_json()["turns"] == 12


def test_an_entry_without_a_score_is_undefined_and_not_ranked() -> None:
    of = board([NAN] * 12, LOW, why={(0, 0): "not computed for this system"})
    [scores] = scores_of(of, everything())
    assert scores[0].as_json()["value"] is None
    assert scores[0].mean.reason == "not computed for this system"
    first, second = places(of)
    assert (first.rank, first.order, first.reason) == (None, None, "not computed for this system")
    assert (second.rank, second.worst_rank, second.order) == (1, 1, 1)


def test_who_lies_clear_of_the_others_has_a_rank_of_its_own() -> None:
    found = places(board(MIDDLE, HIGH, LOW))
    assert [(one.rank, one.worst_rank, one.band, one.order) for one in found] == [
        (2, 2, 2, 2),
        (1, 1, 1, 1),
        (3, 3, 3, 3),
    ]


def test_where_lower_is_better_the_order_turns_round() -> None:
    found = places(board(MIDDLE, HIGH, LOW, metric=BoardMetric(higher_is_better=False)))
    assert [(one.rank, one.band, one.order) for one in found] == [(2, 2, 2), (3, 3, 3), (1, 1, 1)]


def test_lower_is_better_does_not_change_the_sign_of_what_is_shown() -> None:
    [[score]] = scores_of(board(LOW, metric=BoardMetric(higher_is_better=False)), everything())
    assert score.mean.value == pytest.approx(0.15)
    assert score.mean.ci is not None
    assert score.mean.ci[0] > 0


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_no_interval_of_an_entry_leaves_the_range_of_the_metric(higher_is_better: bool) -> None:
    nearly_all, nearly_none = [1.0] * 10 + [0.4, 1.0], [0.0, 0.6] + [0.0] * 10
    bounded = BoardMetric(higher_is_better=higher_is_better, bounds=(0.0, 1.0))
    plain, shown = (
        scores_of(board(nearly_all, nearly_none, metric=metric), everything())[0]
        for metric in (BoardMetric(higher_is_better=higher_is_better), bounded)
    )
    ends = [score.mean.ci or (0.5, 0.5) for score in plain]
    assert ends[0][1] > 1
    assert ends[1][0] < 0
    for score in shown:
        assert score.mean.ci is not None
        assert 0 <= score.mean.ci[0] <= score.mean.value <= score.mean.ci[1] <= 1
    ranks = [one.rank for one in places(board(nearly_all, nearly_none, metric=bounded))]
    assert ranks == ([1, 2] if higher_is_better else [2, 1])


def test_entries_whose_intervals_overlap_share_rank_and_band_but_not_their_order() -> None:
    rising, falling = (
        [0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7, 0.9, 0.9, 1.0, 1.0],
        [0.99, 0.99, *[0.5] * 10],
    )
    found = places(board(rising, falling))
    assert [(one.rank, one.worst_rank, one.band) for one in found] == [(1, 2, 1), (1, 2, 1)]
    assert [one.order for one in found] == [1, 2]  # 3.5 / 6 and 3.49 / 6


def test_equal_means_share_their_place_and_the_next_one_is_left_out() -> None:
    assert [one.order for one in places(board(MIDDLE, MIDDLE, LOW))] == [1, 1, 3]


def test_who_does_not_compete_takes_no_rank_from_others() -> None:
    found = places(board(HIGH, MIDDLE), unranked={0: "a baseline"})
    assert (found[0].rank, found[0].order, found[0].reason) == (None, None, "a baseline")
    assert (found[1].rank, found[1].order) == (1, 1)


def test_one_dialogue_has_a_mean_and_no_interval_and_so_no_rank() -> None:
    of = board(HIGH, LOW)
    [scores] = scores_of(of, only(2))
    assert scores[0].mean.ci is None
    found = places(of, only(2))
    assert [one.rank for one in found] == [None, None]
    assert [one.order for one in found] == [1, 2]
    assert (
        found[0].reason
        == "no interval: an interval over dialogues needs at least 2 scored dialogues"
    )


def test_an_entry_whose_few_dialogues_agree_is_ranked_with_the_spread_of_the_others() -> None:
    of = board([0.5] * 12, LOW)
    [scores] = scores_of(of, everything())
    assert scores[0].mean.reason.startswith("the dialogues agree to the digit")
    assert [(one.rank, one.order) for one in places(of)] == [(1, 1), (2, 2)]


def test_a_part_that_counts_nothing_has_no_scores_and_says_why() -> None:
    nothing = Part(np.zeros(DIALOGUES, dtype=bool), "nothing before the release")
    [[score]] = scores_of(board(HIGH), nothing)
    assert score.mean.value is None
    assert score.mean.reason == "nothing before the release"
    assert places(board(HIGH), nothing)[0].rank is None


WHOLE = BoardMetric(exists_below_system_level=False)


def test_a_metric_of_whole_systems_has_no_score_on_a_part() -> None:
    of = board(HIGH, metric=WHOLE, system=[3.5])
    [[score]] = scores_of(of, only(0, 1))
    assert score.mean.value is None
    assert (
        score.mean.reason
        == "the metric scores whole systems: it has no score on a part of the dialogues"
    )


def test_a_metric_of_whole_systems_has_one_where_every_dialogue_counts() -> None:
    of = board(HIGH, LOW, metric=WHOLE, system=[3.5, NAN])
    [[score, without]] = scores_of(of, everything())
    assert score.mean.value == 3.5
    assert score.mean.ci is None
    assert without.mean.value is None
    first, second = places(of)
    assert (first.rank, first.order) == (None, 1)
    assert (second.rank, second.order) == (None, None)


def left_out_interval(dialogues: list[list[float]]) -> tuple[float, float]:
    """mean ± t · standard error: the mean is made anew without each of the G dialogues, the
    standard error is √((G − 1)/G · Σ (mean without one − their mean)²), t the 97.5 % quantile of
    Student's t with G − 1 degrees of freedom."""
    groups = len(dialogues)
    without = [
        np.mean(np.concatenate(dialogues[:one] + dialogues[one + 1 :])) for one in range(groups)
    ]
    error = np.sqrt((groups - 1) / groups * sum((one - np.mean(without)) ** 2 for one in without))
    mean = np.mean(np.concatenate(dialogues))
    reach = stats.t.ppf(0.975, groups - 1) * error
    return mean - reach, mean + reach


def test_the_interval_leaves_out_one_dialogue_at_a_time() -> None:
    dialogues = [[0.1, 0.3], [0.2, 0.2], [0.5, 0.9], [0.4, 0.8], [0.0, 0.1], [0.6, 0.6]]
    [[score]] = scores_of(
        board([turn for dialogue in dialogues for turn in dialogue]), everything()
    )
    assert score.mean.ci == pytest.approx(left_out_interval(dialogues))


def test_only_scored_turns_of_the_part_are_left_out() -> None:
    """Four of six dialogues count, one of these has no score and one a single one: three are left
    out in turn, with the t of 2 degrees of freedom."""
    turns = [0.1, 0.3, 0.9, 0.9, 0.5, NAN, NAN, NAN, 0.2, 0.8, 0.7, 0.7]
    [[score]] = scores_of(board(turns), only(0, 2, 3, 4))
    assert score.mean.ci == pytest.approx(left_out_interval([[0.1, 0.3], [0.5], [0.2, 0.8]]))


def test_two_dialogues_have_a_very_wide_interval() -> None:
    """Means of 0.2 and 0.4: 0.3 ± 12.706 · 0.1, beyond the ends of most metrics."""
    [[score]] = scores_of(board([0.1, 0.3, 0.3, 0.5]), everything(2))
    assert score.mean.ci == pytest.approx((0.3 - 1.2706, 0.3 + 1.2706), abs=1e-4)


def test_entries_are_apart_where_the_intervals_of_student_s_t_are() -> None:
    """Six dialogues with a standard error e: each interval reaches 2.571 e (t of 5 degrees of
    freedom). Entries 4.9 e apart overlap, entries 5.4 e apart do not; by the normal 1.96 e both
    pairs would be apart."""
    wobble = np.repeat([-0.03, 0.03] * 3, 2)
    error = 0.03 / np.sqrt(DIALOGUES - 1)
    near, far = ([0.5 + wobble, 0.5 + apart * error + wobble] for apart in (4.9, 5.4))
    assert [one.rank for one in places(board(*near))] == [1, 1]
    assert [one.rank for one in places(board(*far))] == [2, 1]


def test_a_metric_of_dialogues_has_its_interval_over_dialogues_and_counts_these() -> None:
    """Its scores stand at the dialogues' first turns: 4 and 2 of three dialogues, so the mean is 3
    and the third is missing."""
    turns = np.full((1, 1, DIALOGUES * 2), NAN)
    turns[0, 0, :4] = [4.0, NAN, 2.0, NAN]
    metric = BoardMetric(of_dialogues=True)
    of = BoardScores([metric], turns, np.full((1, 1), NAN), np.repeat(np.arange(DIALOGUES), 2), {})
    [[score]] = scores_of(of, only(0, 1, 2))
    assert score.mean.value == 3.0
    assert score.mean.ci == pytest.approx(left_out_interval([[4.0], [2.0]]))
    assert (score.scored, score.turns, score.as_json()["unit"]) == (2, 3, "dialogues")
