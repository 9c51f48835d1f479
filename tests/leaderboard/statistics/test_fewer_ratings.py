"""What if fewer dialogues had been rated: widths with and without the metric."""

import numpy as np
import pytest

from leaderboard.statistics.ranking.fewer_ratings import only_rated_in, what_if
from leaderboard.statistics.ranking.prediction_powered import part_of_dialogues


def system(goes_with, seed, dialogues=40, turns=2, rated=None):
    random = np.random.default_rng(seed)
    quality = random.standard_normal(dialogues * turns)
    metric = goes_with * quality + np.sqrt(1 - goes_with**2) * random.standard_normal(
        dialogues * turns
    )
    dialogue = np.repeat(np.arange(dialogues), turns)
    human = np.where(dialogue < (dialogues if rated is None else rated), 3 + quality, np.nan)
    return part_of_dialogues(human, metric, dialogue, dialogues)


def test_more_rated_dialogues_narrow_both_intervals_and_leave_less_to_gain():
    found = what_if([system(0.9, 1), system(0.9, 2)])
    assert [one.dialogues for one in found] == [10, 12, 15, 20, 25, 30]
    alone, powered = [one.width_alone for one in found], [one.width for one in found]
    assert alone == sorted(alone, reverse=True)
    assert powered == sorted(powered, reverse=True)
    assert found[0].gain > 2
    assert found[0].gain > found[-1].gain > 1


def test_a_metric_that_says_nothing_gains_nothing():
    (first, *_) = what_if([system(0.0, 3), system(0.0, 4)])
    assert 1 <= first.gain < 1.08  # the narrower of two intervals is kept


def test_each_system_has_its_own_widths_and_the_seed_decides():
    parts = [system(0.95, 5), system(0.0, 6)]
    (first, *_), (again, *_), (other, *_) = what_if(parts), what_if(parts), what_if(parts, seed=1)
    gains = first.by_system[2]
    assert gains[0] > 1.5 > gains[1]
    assert first == again
    assert first.width != other.width


def test_a_drawn_dialogue_keeps_its_ratings_and_another_keeps_its_scores():
    part = system(0.5, 7, dialogues=3, turns=2)
    kept = np.array([[True, False, True]])
    left = only_rated_in(part, kept)
    assert left.rated.tolist() == [[2, 0, 2]]
    assert left.unrated.tolist() == [[0, 2, 0]]
    assert left.metric_unrated[0, 1] == pytest.approx(part.metric[1])
    assert left.human[0].tolist() == [part.human[0], 0, part.human[2]]


def test_what_nobody_rated_stays_unrated():
    (first, *_) = what_if([system(0.9, 8, rated=15)])
    assert first.dialogues == 10
    assert [one.dialogues for one in what_if([system(0.9, 8, rated=15)])] == [10, 12]


def test_too_few_dialogues_or_no_system_leave_no_point():
    assert what_if([system(0.9, 9, dialogues=11)]) == []
    assert what_if([]) == []


def test_a_system_of_equal_ratings_is_left_out_of_the_means():
    flat = part_of_dialogues(np.full(40, 3.0), np.arange(40.0), np.arange(40), 40)
    (first, *_) = what_if([flat, system(0.9, 10)])
    assert first.by_system[0][0] is None
    assert first.width_alone == first.by_system[0][1]
    assert what_if([flat]) == []
