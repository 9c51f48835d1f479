"""The pace that all workers share: a row, changed by compare-and-swap."""

from __future__ import annotations

import pytest

from workers.judges.models import Pace
from workers.judges.rate_limit import SharedRateLimit

pytestmark = pytest.mark.django_db


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def pace(
    clock: Clock, requests: int = 0, tokens: int = 0, endpoint: str = "https://one/v1 a-model"
) -> SharedRateLimit:
    return SharedRateLimit(endpoint, requests, tokens, clock)


def test_after_the_burst_each_request_waits_for_its_second() -> None:
    """60 requests a minute are one a second; a burst is two seconds' worth."""
    one = pace(Clock(), requests=60)
    assert [one.reserve(1, 0) for _ in range(5)] == [0, 0, 1, 2, 3]


def test_workers_share_one_line() -> None:
    clock = Clock()
    one, other = pace(clock, requests=60), pace(clock, requests=60)
    assert [holder.reserve(1, 0) for holder in (one, other, one, other)] == [0, 0, 1, 2]


def test_endpoints_have_lines_of_their_own() -> None:
    clock = Clock()
    one, other = (
        pace(clock, requests=60),
        pace(clock, requests=60, endpoint="https://other/v1 a-model"),
    )
    assert [one.reserve(2, 0), one.reserve(1, 0), other.reserve(1, 0)] == [0, 1, 0]


def test_tokens_make_wait_too_and_what_was_not_used_is_given_back() -> None:
    """6,000 tokens a minute are 100 a second."""
    one = pace(Clock(), tokens=6_000)
    assert [one.reserve(1, 200), one.reserve(1, 100)] == [0, 1]
    one.correct(-100)
    assert one.reserve(1, 100) == 1


def test_a_pause_is_everybodys() -> None:
    clock = Clock()
    one, other = pace(clock, requests=60), pace(clock, requests=60)
    one.pause(30)
    assert other.reserve(1, 0) == 31  # a second after the pause: the burst is used up
    clock.now += 60
    assert other.reserve(1, 0) == 0


def test_a_worker_that_was_away_reads_what_others_reserved() -> None:
    clock = Clock()
    one, other = pace(clock, requests=60), pace(clock, requests=60)
    one.reserve(1, 0)
    other.reserve(10, 0)
    assert one.reserve(1, 0) == 10
    assert Pace.objects.count() == 1
