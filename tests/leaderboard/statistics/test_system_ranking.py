import numpy as np
import pytest

from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.ranking.system_ranking import rank_systems
from tests.common.correlation.resampled import drawn_items
from tests.leaderboard.statistics.campaign import campaign

DIALOGUES = 12


def steady(*centres):
    """One system per centre; its dialogues alternate 0.3 below and above, so every mean's interval
    is narrow."""
    wobble = np.tile([-0.3, 0.3], DIALOGUES // 2)
    return PlacedScores(
        scores=np.concatenate([centre + wobble for centre in centres]),
        system=np.repeat(np.arange(len(centres)), DIALOGUES),
        dialogue=np.tile(np.arange(DIALOGUES), len(centres)),
    )


def test_mean_and_interval_over_redrawn_dialogues():
    c = campaign(systems=4, dialogues=9)
    found = rank_systems(
        PlacedScores(c.human, c.system, c.dialogue), 4, resamples=80, seed=2, method="percentile"
    )
    for number in range(4):
        replicates = []
        for multiplicity in cluster_resamples(9, 80, 2):
            items = drawn_items(c.dialogue, multiplicity)
            replicates.append(c.human[items][c.system[items] == number].mean())
        assert found[number].mean.value == pytest.approx(c.human[c.system == number].mean())
        assert found[number].mean.ci == pytest.approx(
            tuple(np.percentile(replicates, [2.5, 97.5])), abs=1e-9
        )
        assert (found[number].items, found[number].dialogues) == (36, 9)


def test_clearly_apart_systems_have_one_rank_each():
    found = rank_systems(steady(2.0, 4.0, 3.0), 3)
    assert [(one.rank, one.worst_rank, one.band) for one in found] == [
        (3, 3, 3),
        (1, 1, 1),
        (2, 2, 2),
    ]


def test_equal_systems_share_the_first_rank_and_a_band():
    found = rank_systems(steady(4.0, 4.0, 2.0), 3)
    assert [(one.rank, one.worst_rank, one.band) for one in found] == [
        (1, 2, 1),
        (1, 2, 1),
        (3, 3, 2),
    ]


def test_a_chain_of_overlaps_is_one_band_though_its_ends_are_apart():
    # All systems wobble together, so every interval is centre ± h with one h < 0.3; centres 1.2 h
    # apart make neighbours overlap (1.2 h < 2 h) and the ends not (2.4 h > 2 h).
    half = rank_systems(steady(3.0), 1)[0].mean.ci[1] - 3.0
    found = rank_systems(steady(3.0 + 2.4 * half, 3.0 + 1.2 * half, 3.0), 3)
    assert [one.rank for one in found] == [1, 1, 2]
    assert [one.worst_rank for one in found] == [2, 3, 3]
    assert [one.band for one in found] == [1, 1, 1]


def test_a_system_without_ratings_is_never_ranked_nor_counted():
    found = rank_systems(steady(2.0, 4.0), 3)
    assert found[2].mean.reason == "the system has no human ratings"
    assert (found[2].rank, found[2].worst_rank, found[2].band, found[2].items) == (
        None,
        None,
        None,
        0,
    )
    assert [one.worst_rank for one in found[:2]] == [2, 1]


def test_a_system_rated_in_one_dialogue_is_ranked_with_the_spread_of_the_others():
    """The other system's dialogue means are 2 ± 0.3: s² = 12 · 0.09 / 11 = 0.0982, t(11) = 2.201,
    so 3.7 ± 2.201 · 0.3133 = [3.01, 4.39] lies clear of the other's interval, [1.8, 2.2]."""
    two = steady(2.0, 4.0)
    scores = two.scores.copy()
    scores[0, (two.system == 1) & (two.dialogue > 0)] = np.nan
    found = rank_systems(PlacedScores(scores, two.system, two.dialogue), 2)
    assert found[1].mean.value == pytest.approx(3.7)
    assert "at least 2 rated dialogues" in found[1].mean.reason
    assert [(one.rank, one.worst_rank) for one in found] == [(2, 2), (1, 1)]


def in_eight_dialogues(*rows):
    return PlacedScores(
        scores=np.concatenate(rows),
        system=np.repeat(np.arange(len(rows)), 8),
        dialogue=np.tile(np.arange(8), len(rows)),
    )


@pytest.mark.parametrize("method", ["jackknife", "percentile"])
def test_nobody_stands_above_a_better_mean_by_its_being_too_certain(method):
    """1.000 in each of eight dialogues has no interval; .927 has one, and is not sure to be
    worse."""
    almost = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.516])
    found = rank_systems(in_eight_dialogues(np.ones(8), almost), 2, method=method)
    assert found[0].mean.ci is None
    assert "agree to the digit" in found[0].mean.reason
    assert [(one.rank, one.worst_rank, one.band) for one in found] == [(1, 2, 1), (1, 2, 1)]


def test_a_system_that_is_alike_in_all_dialogues_and_clearly_worse_is_ranked_below():
    """0 in each of eight dialogues, beside means of 3 ± 0.3: s = 0.32, t(7) = 2.36, ± 0.27."""
    wobble = 3.0 + np.tile([-0.3, 0.3], 4)
    found = rank_systems(in_eight_dialogues(np.zeros(8), wobble), 2)
    assert [(one.rank, one.worst_rank, one.band) for one in found] == [(2, 2, 2), (1, 1, 1)]


def test_where_no_system_varies_nothing_is_ranked():
    found = rank_systems(in_eight_dialogues(np.zeros(8), np.ones(8)), 2)
    assert [one.rank for one in found] == [None, None]


@pytest.mark.parametrize("method", ["jackknife", "percentile"])
def test_dialogues_that_all_agree_do_not_make_a_mean_certain(method):
    """Of other dialogues a share of 1 − .05^(1/10) = .2589 may be rated otherwise, at either end of
    1…5: 2 − .2589 · (2 − 1) = 1.741 to 2 + .2589 · (5 − 2) = 2.777."""
    two = steady(2.0, 4.0)
    scores = np.where(two.system == 0, 2.0, two.scores)
    keep = two.dialogue < 10
    placed = PlacedScores(scores[..., keep], two.system[keep], two.dialogue[keep])
    found = rank_systems(placed, 2, method=method, bounds=(1.0, 5.0))
    assert found[0].mean.ci == pytest.approx((1.741, 2.777), abs=5e-4)
    assert [one.rank for one in found] == [2, 1]


def test_on_a_scale_without_ends_dialogues_that_all_agree_have_no_interval_but_a_rank():
    """Ranked by the spread of the other system, as where fewer than ten agree."""
    two = steady(2.0, 4.0)
    scores = np.where(two.system == 0, 2.0, two.scores)
    found = rank_systems(PlacedScores(scores, two.system, two.dialogue), 2)
    assert found[0].mean.ci is None
    assert "nothing says how far others may lie" in found[0].mean.reason
    assert [one.rank for one in found] == [2, 1]


def test_a_higher_level_widens_the_interval():
    narrow, wide = (rank_systems(steady(3.0), 1, level=level)[0].mean.ci for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_no_ratings_at_all():
    empty = PlacedScores(np.empty(0), np.empty(0, dtype=int), np.empty(0, dtype=int))
    assert [one.rank for one in rank_systems(empty, 2)] == [None, None]


def test_no_systems_have_no_ranks():
    empty = PlacedScores(np.empty(0), np.empty(0, dtype=int), np.empty(0, dtype=int))
    assert rank_systems(empty, 0) == []
