"""Where the next ratings go, and when enough are there."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.campaigns.plan.allocation import (
    FLOOR,
    Reached,
    allocation_weights,
    interim_analyses_due,
    ratings_left,
    reached,
)
from annotations.campaigns.plan.draw import Candidate, draw_by_system
from annotations.campaigns.plan.evidence import Standing, cells_of, standing_of


def made(means: list[float], counts: list[int], spreads: list[float] | None = None) -> Standing:
    """Systems with exactly these means: half of their ratings above, half below, a dialogue
    each."""
    system = np.repeat(np.arange(len(means)), counts)
    dialogue = np.concatenate([np.arange(count) for count in counts])
    spread = np.repeat(spreads or [1.0] * len(means), counts)
    # each system's signs have a rhythm of their own, so that dialogues tie no two together
    sign = np.concatenate(
        [
            np.where((np.arange(count) // (place + 1)) % 2, 1.0, -1.0)
            for place, count in enumerate(counts)
        ]
    )
    score = np.repeat(means, counts) + spread * sign
    return standing_of(
        cells_of(system, dialogue, np.ones(system.size), score, (len(means), max(counts)))
    )


def test_the_two_systems_whose_order_is_open_get_most() -> None:
    weights = allocation_weights(made([1.0, 3.0, 3.1, 5.0], [48] * 4), 20)
    assert weights.sum() == pytest.approx(1)
    assert weights[1] > 0.4
    assert weights[2] > 0.3
    assert weights[[0, 3]] == pytest.approx([FLOOR / 4] * 2)  # far from everybody


def test_every_system_keeps_its_part_of_the_floor() -> None:
    for target, value in (("none", None), ("pairs", 100.0), ("pairs", 50.0), ("width", 0.5)):
        weights = allocation_weights(
            made([1.0, 3.0, 3.1, 5.0], [48, 24, 96, 48]), 20, target, value
        )
        assert weights.min() >= FLOOR / 4 - 1e-12
        assert weights.sum() == pytest.approx(1)


def test_for_narrow_intervals_the_one_that_varies_most_gets_most() -> None:
    weights = allocation_weights(made([2.0, 3.0, 4.0], [48] * 3, [0.2, 0.2, 1.5]), 20, "width", 0.5)
    assert weights.argmax() == 2
    assert weights[2] > 0.8


def test_for_a_share_of_pairs_those_nearly_apart_come_before_those_that_never_will_be() -> None:
    """Of the pairs of neighbours, 3.0 and 3.0 will never be apart; 4.0 and 4.55 nearly are."""
    weights = allocation_weights(made([3.0, 3.0, 4.0, 4.55], [48] * 4), 20, "pairs", 50.0)
    assert min(weights[2], weights[3]) > max(weights[0], weights[1])


def test_systems_of_which_too_little_is_known_come_first() -> None:
    weights = allocation_weights(made([1.0, 3.0, 5.0], [24, 24, 2]), 10)
    assert weights[2] > 0.8


def test_equal_scores_throughout_leave_the_split_even() -> None:
    weights = allocation_weights(made([3.0, 3.0], [12, 12], [0.0, 0.0]), 10)
    assert weights == pytest.approx([0.5, 0.5])


def test_no_system_and_one_system_are_no_crash() -> None:
    nothing = standing_of(
        cells_of(np.empty(0, int), np.empty(0, int), np.empty(0), np.empty(0), (0, 1))
    )
    assert allocation_weights(nothing, 10).size == 0
    assert reached(nothing) == Reached(0, 0, None)
    alone = made([3.0], [12])
    assert allocation_weights(alone, 10) == pytest.approx([1.0])
    assert reached(alone).pairs == 0
    assert not reached(alone).meets("pairs", 100)


@pytest.mark.parametrize(
    ("found", "target", "value", "met"),
    [
        (Reached(10, 7, 0.5), "pairs", 70.0, True),
        (Reached(10, 7, 0.5), "pairs", 71.0, False),
        (Reached(3, 2, 0.5), "pairs", 66.0, True),
        (Reached(3, 2, 0.5), "pairs", 67.0, False),
        (Reached(10, 7, 0.5), "width", 0.5, True),
        (Reached(10, 7, 0.51), "width", 0.5, False),
        (Reached(10, 7, None), "width", 4.0, False),
        (Reached(10, 10, 0.1), "none", None, False),
    ],
)
def test_a_target_is_met_or_not(
    found: Reached, target: str, value: float | None, met: bool
) -> None:
    assert found.meets(target, value) is met  # type: ignore[arg-type]


def test_a_look_is_due_after_each_twentieth() -> None:
    assert [interim_analyses_due(done, 100) for done in (0, 4, 5, 9, 10, 99, 100, 120)] == [
        0,
        0,
        1,
        1,
        2,
        19,
        20,
        20,
    ]
    assert interim_analyses_due(3, 0) == 0


def test_half_the_width_takes_four_times_the_ratings() -> None:
    standing = made([3.0, 4.0], [24, 24])
    width = 2 * float(standing.half_width.max())
    assert ratings_left(standing, 48, 1000, "width", width / 2) == pytest.approx(48 * 4 - 48, abs=1)
    assert ratings_left(standing, 48, 100, "width", width / 2) is None  # more than the campaign has
    assert ratings_left(standing, 48, 1000, "width", width) == 0


def test_equal_systems_are_never_promised_to_come_apart() -> None:
    assert ratings_left(made([3.0, 3.0], [24, 24]), 48, 10**6, "pairs", 100) is None


# --- the draw -------------------------------------------------------------------------------------


def places(*of: tuple[int, int, int]) -> list[Candidate]:
    """(system, item, dialogue) of each free slot."""
    return [
        Candidate(100 + n, item, dialogue, n, system)
        for n, (system, item, dialogue) in enumerate(of)
    ]


def test_a_system_is_drawn_by_its_weight_however_many_slots_it_has() -> None:
    free = places((1, 1, 1), (2, 2, 2), (2, 3, 3), (2, 4, 4))
    drawn = [draw_by_system(free, [], {1: 0.8, 2: 0.2}, seed=3, position=n) for n in range(4000)]
    first = [one for one in drawn if one.candidate.system == 1]
    assert 0.77 < len(first) / 4000 < 0.83  # 0.8 ± 4.7 standard deviations of 0.0063
    assert {one.system_propensity for one in first} == {0.8}
    assert {one.propensity for one in first} == {0.8}


def test_the_propensity_is_that_of_the_system_times_that_of_the_item() -> None:
    free = places((1, 1, 1), (2, 2, 2), (2, 2, 2), (2, 3, 3))
    for position in range(30):
        drawn = draw_by_system(free, [], {1: 0.4, 2: 0.6}, seed=3, position=position)
        assert drawn.propensity == pytest.approx(
            {1: 0.4, 2: 0.6 * 2 / 3, 3: 0.6 / 3}[drawn.candidate.item]
        )


def test_systems_without_an_eligible_slot_leave_their_chance_to_the_others() -> None:
    free = places((1, 1, 1), (2, 2, 2), (3, 3, 9))
    drawn = draw_by_system(free, [9], {1: 0.2, 2: 0.3, 3: 0.4, 4: 0.1}, seed=3, position=0)
    assert drawn.system_propensity == pytest.approx({1: 0.4, 2: 0.6}[drawn.candidate.system or 0])


def test_without_weights_all_systems_have_the_same_chance() -> None:
    drawn = draw_by_system(places((1, 1, 1), (2, 2, 2), (2, 3, 3)), [], {}, seed=1, position=4)
    assert drawn.system_propensity == 0.5


def test_the_same_seed_and_position_draw_the_same_slot() -> None:
    free = places(*((n % 5, n, n) for n in range(40)))
    weights = dict.fromkeys(range(5), 0.2)
    assert draw_by_system(free, [], weights, 3, 9) == draw_by_system(free, [], weights, 3, 9)


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        draw_by_system([], [], {}, 1, 0)
