"""The generic cell rate algorithm, with a clock of the test's own."""

from __future__ import annotations

import pytest

from workers.judges.core.rate_limit import (
    BURST_SECONDS,
    InProcessRateLimit,
    corrected,
    paused,
    reserve,
    seconds_for,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_request_takes_its_share_of_a_minute() -> None:
    assert seconds_for(3, 120) == 1.5
    assert seconds_for(3, 0) == 0.0


def test_what_goes_at_once_after_a_quiet_time_is_the_burst() -> None:
    """60 a minute is one a second; the burst is 2 s, so that two go at once and the third waits a
    second."""
    pace = InProcessRateLimit(requests_a_minute=60, clock=Clock())
    assert [pace.reserve(1, 0) for _ in range(4)] == [0.0, 0.0, 1.0, 2.0]


def test_over_a_minute_no_more_go_than_the_rate_and_the_burst() -> None:
    """120 a minute: 4 at once (2 s), then one each half second, the last of 119 before the minute
    is over."""
    clock = Clock()
    pace = InProcessRateLimit(requests_a_minute=120, clock=clock)
    sent, end = 0, clock.now + 60
    while True:
        wait = pace.reserve(1, 0)
        clock.now += wait
        if clock.now >= end:
            break
        sent += 1
    assert sent == 4 + 119


def test_tokens_and_requests_both_have_room() -> None:
    """6,000 tokens a minute are 100 a second: the first 200 fill the burst, the next 100 wait a
    second."""
    pace = InProcessRateLimit(requests_a_minute=6000, tokens_a_minute=6000, clock=Clock())
    assert pace.reserve(1, 200) == 0.0
    assert pace.reserve(1, 100) == pytest.approx(1.0)


def test_a_request_larger_than_the_burst_waits_only_for_what_is_before_it() -> None:
    """It takes 10 s of the endpoint's time. Alone it goes at once; the next one of its kind 10 s
    later."""
    pace = InProcessRateLimit(tokens_a_minute=6000, clock=Clock())
    assert pace.reserve(1, 1000) == 0.0
    assert pace.reserve(1, 1000) == pytest.approx(10.0)


def test_tokens_that_were_not_used_let_the_next_go_sooner() -> None:
    pace = InProcessRateLimit(tokens_a_minute=6000, clock=Clock())
    pace.reserve(1, 1000)
    pace.correct(-900)
    assert pace.reserve(1, 200) == pytest.approx(1.0)  # 100 + 200 are 3 s, less the burst of 2 s


def test_tokens_that_were_not_used_are_no_burst_on_top_of_the_burst() -> None:
    now = 100.0
    assert corrected(now - 1.0, now, -50.0) == now - BURST_SECONDS
    assert reserve(now - BURST_SECONDS, now, 2.0).wait == 0.0
    assert reserve(now - BURST_SECONDS, now, 2.5).wait == 0.0  # larger than the burst
    assert reserve(reserve(now - BURST_SECONDS, now, 2.0).arrival, now, 1.0).wait == 1.0


def test_tokens_used_too_much_are_paid_back() -> None:
    assert corrected(90.0, 100.0, 3.0) == 103.0


def test_during_a_pause_nobodys_turn_comes() -> None:
    clock = Clock()
    pace = InProcessRateLimit(requests_a_minute=6000, clock=clock)
    pace.pause(30)
    assert pace.reserve(1, 0) == pytest.approx(30.01)
    assert paused(200.0, 100.0, 5.0) == 200.0  # a longer line stays as long


def test_a_pause_counts_where_there_is_no_rate() -> None:
    pace = InProcessRateLimit(clock=Clock())
    assert pace.reserve(5, 500) == 0.0
    pace.pause(7)
    assert pace.reserve(5, 500) == 7.0
