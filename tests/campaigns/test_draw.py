"""Drawing a rater's next slot: uniform, reproducible, away from the dialogues just seen."""

from __future__ import annotations

from collections import Counter

import pytest

from annotations.campaigns.plan.draw import Candidate, attention_is_due, draw, pick


def candidates(*places: tuple[int, int]) -> list[Candidate]:
    """(item, dialogue) of each free slot."""
    return [
        Candidate(100 + ordinal, item, dialogue, ordinal)
        for ordinal, (item, dialogue) in enumerate(places)
    ]


def test_the_same_seed_and_position_draw_the_same_slot() -> None:
    places = candidates(*((item, item) for item in range(50)))
    assert draw(places, [], seed=3, position=9) == draw(places, [], seed=3, position=9)


def test_every_slot_is_drawn_equally_often() -> None:
    places = candidates((1, 1), (2, 2), (3, 3), (4, 4))
    drawn = Counter(
        draw(places, [], seed=5, position=position).candidate.item for position in range(4000)
    )
    assert sorted(drawn) == [1, 2, 3, 4]
    # 1000 ± 4.4 standard deviations of 27
    assert all(880 < times < 1120 for times in drawn.values())


def test_propensity_is_the_share_of_the_items_slots() -> None:
    places = candidates((1, 1), (2, 2), (2, 2), (2, 2))  # item 2 has three of four slots
    for position in range(20):
        drawn = draw(places, [], seed=5, position=position)
        assert drawn.propensity == {1: 0.25, 2: 0.75}[drawn.candidate.item]


def test_the_latest_dialogues_are_avoided() -> None:
    places = candidates((1, 10), (2, 20), (3, 30))
    drawn = {
        draw(places, [20, 10], seed=1, position=position).candidate.dialogue
        for position in range(30)
    }
    assert drawn == {30}


def test_avoided_dialogues_do_not_count_in_the_propensity() -> None:
    places = candidates((1, 10), (2, 20), (3, 30), (4, 30))
    assert draw(places, [20], seed=1, position=0).propensity == pytest.approx(1 / 3)


def test_where_only_seen_dialogues_are_left_the_oldest_comes_again_first() -> None:
    places = candidates((1, 10), (2, 20))
    drawn = {
        draw(places, [20, 10], seed=1, position=position).candidate.dialogue
        for position in range(30)
    }
    assert drawn == {10}


def test_one_dialogue_only_is_no_obstacle() -> None:
    assert draw(candidates((1, 10)), [10, 10, 10], seed=1, position=3).propensity == 1


def test_the_ninth_dialogue_back_is_forgotten() -> None:
    places = candidates((1, 99), (2, 50))
    latest = [1, 2, 3, 4, 5, 6, 7, 8, 99]
    drawn = {
        draw(places, latest, seed=1, position=position).candidate.dialogue for position in range(30)
    }
    assert drawn == {99, 50}


def test_nothing_to_draw_from() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        draw([], [], seed=1, position=0)


def test_attention_comes_as_often_as_asked() -> None:
    due = sum(attention_is_due(10, seed=4, position=position) for position in range(5000))
    assert 400 < due < 600  # 500 ± 4.7 standard deviations of 21


def test_no_attention_items_where_none_are_asked() -> None:
    assert not any(attention_is_due(None, seed=4, position=position) for position in range(100))


def test_attention_item_is_picked_by_seed() -> None:
    assert {pick([1, 2, 3], seed=4, position=position) for position in range(50)} == {1, 2, 3}
    assert pick([1, 2, 3], seed=4, position=7) == pick([1, 2, 3], seed=4, position=7)
