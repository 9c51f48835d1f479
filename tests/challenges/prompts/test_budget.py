"""What a dialogue may use, and what it costs."""

from __future__ import annotations

from decimal import Decimal

import pytest

from leaderboard.challenges.prompts.budget import Limits, cost_of, exceeded, longest_answer, used_up
from workers.inference.language_models.usage import Usage

LIMITS = Limits(10_000, 1_000)


@pytest.mark.parametrize(
    ("used", "over"),
    [
        (Usage(3, 10_000, 1_000), ""),  # exactly the limit is within it
        (Usage(3, 10_001, 0), "10,001 of 10,000 input tokens"),
        (Usage(3, 0, 1_001), "1,001 of 1,000 output tokens"),
    ],
)
def test_a_limit_is_exceeded_by_one_token_more(used: Usage, over: str) -> None:
    assert exceeded(used, LIMITS) == over


@pytest.mark.parametrize(
    ("used", "full"),
    [
        (Usage(3, 9_999, 999), ""),
        (Usage(3, 10_000, 0), "10,000 of 10,000 input tokens"),  # no call takes less than one
        (Usage(3, 0, 1_000), "1,000 of 1,000 output tokens"),
    ],
)
def test_where_nothing_is_left_no_call_is_made(used: Usage, full: str) -> None:
    assert used_up(used, LIMITS) == full


@pytest.mark.parametrize(
    ("wanted", "used", "room"), [(120, 0, 120), (120, 900, 100), (120, 1_000, 0), (120, 1_200, 0)]
)
def test_an_answer_may_take_what_is_wanted_or_what_is_left(
    wanted: int, used: int, room: int
) -> None:
    assert longest_answer(wanted, Usage(1, 0, used), LIMITS) == room


def test_usages_add_up() -> None:
    assert Usage(1, 20, 3) + Usage(2, 5, 4) == Usage(3, 25, 7)


def test_a_cost_is_tokens_times_prices_for_a_million() -> None:
    # 34,000 × 0.15 + 5,000 × 0.60 = 5,100 + 3,000 = 8,100; / 1,000,000 = 0.0081
    assert cost_of(Usage(7, 34_000, 5_000), Decimal("0.15"), Decimal("0.60")) == Decimal("0.008100")


def test_a_cost_is_exact_to_a_millionth() -> None:
    # 0.00000015
    assert cost_of(Usage(1, 1, 0), Decimal("0.1500"), Decimal(0)) == Decimal("0.000000")
    # 0.00000105
    assert cost_of(Usage(1, 7, 0), Decimal("0.1500"), Decimal(0)) == Decimal("0.000001")


@pytest.mark.parametrize("prices", [(None, None), (Decimal(1), None), (None, Decimal(1))])
def test_without_both_prices_there_is_no_cost(
    prices: tuple[Decimal | None, Decimal | None],
) -> None:
    assert cost_of(Usage(1, 5, 5), *prices) is None
