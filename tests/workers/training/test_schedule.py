from __future__ import annotations

import pytest

from workers.training.core.loop import Pace, share_of_rate, steps_that_fit, warm_up_of


def test_the_rate_goes_up_and_down_in_straight_lines() -> None:
    """Four steps up to the height, eight down: 12 steps, the first is 0."""
    shares = [share_of_rate(step, 12, 4) for step in range(13)]
    assert shares == [0, 0.25, 0.5, 0.75, *(rest / 8 for rest in range(8, -1, -1))]


def test_it_is_the_schedule_of_transformers() -> None:
    import torch
    from transformers import get_linear_schedule_with_warmup

    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = get_linear_schedule_with_warmup(optimiser, num_warmup_steps=7, num_training_steps=30)
    for step in range(30):
        assert share_of_rate(step, 30, 7) == pytest.approx(schedule.get_last_lr()[0])
        optimiser.step()
        schedule.step()


def test_without_warm_up_it_begins_at_its_height() -> None:
    assert share_of_rate(0, 10, 0) == 1


@pytest.mark.parametrize(("steps", "expected"), [(47_000, 1_000), (600, 60), (5, 0)])
def test_warm_up_is_a_tenth_at_most(steps: int, expected: int) -> None:
    assert warm_up_of(steps, 1_000, 0.1) == expected


def test_the_pace_is_that_after_the_first_steps() -> None:
    """The first three take ten seconds each, the next ten two."""
    pace = Pace()
    times = [10.0 * step if step <= 3 else 30 + 2.0 * (step - 3) for step in range(1, 20)]
    said = [pace.seconds_a_step(step, now) for step, now in enumerate(times, 1)]
    assert [one for one in said if one is not None] == [2.0]


@pytest.mark.parametrize(
    ("seconds_left", "validation", "between", "expected"),
    [
        (100.0, 0.0, 10, 63),  # 13 done, 50 of two seconds
        (110.0, 10.0, 10, 46),  # ten for the last validation, then 100 / (2 + 10 / 10) = 33
        (10_000.0, 0.0, 10, 1_000),  # all that were planned
        (-5.0, 10.0, 10, 14),  # at least one more
    ],
)
def test_as_many_steps_as_fit(
    seconds_left: float, validation: float, between: int, expected: int
) -> None:
    assert steps_that_fit(13, 1_000, seconds_left, 2.0, validation, between) == expected
