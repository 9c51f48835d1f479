from __future__ import annotations

from leaderboard.challenges.board.choice import Candidate, best_of_each, latest_of_each

NAN = float("nan")


def candidates(*values: float) -> list[Candidate]:
    """Of team 1, in the order in which they came; their keys count from 10."""
    return [Candidate(10 + place, 1, place, value) for place, value in enumerate(values)]


def test_the_best_is_the_highest_where_higher_is_better() -> None:
    assert best_of_each(candidates(0.2, 0.5, 0.4), higher_is_better=True) == {1: 11}


def test_the_best_is_the_lowest_where_lower_is_better() -> None:
    assert best_of_each(candidates(0.2, 0.5, 0.1), higher_is_better=False) == {1: 12}


def test_of_equal_ones_the_first_stays() -> None:
    assert best_of_each(reversed(candidates(0.5, 0.5)), higher_is_better=True) == {1: 10}


def test_a_defined_value_beats_an_undefined_one_in_either_direction() -> None:
    for higher in (True, False):
        assert (
            best_of_each(candidates(0.0, NAN), higher)
            == best_of_each(candidates(0.0), higher)
            == {1: 10}
        )
        assert best_of_each(candidates(NAN, 0.0), higher) == {1: 11}


def test_where_none_is_defined_the_latest_stands() -> None:
    assert best_of_each(candidates(NAN, NAN), higher_is_better=True) == {1: 11}


def test_every_team_has_one() -> None:
    both = [Candidate(1, 7, 0, 0.1), Candidate(2, 8, 1, 0.9), Candidate(3, 7, 2, 0.2)]
    assert best_of_each(both, higher_is_better=True) == {7: 3, 8: 2}
    assert latest_of_each(both) == {7: 3, 8: 2}


def test_the_latest_is_the_one_that_came_last_whatever_it_scored() -> None:
    assert latest_of_each(reversed(candidates(0.9, 0.1))) == {1: 11}
