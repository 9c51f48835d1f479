"""Who may be sent when, and how many at once: with times of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.judges.calls import call_for
from workers.judges.core.rate_limit import InProcessRateLimit, Limits, Places, Unlimited
from workers.judges.core.sender import Attempt, Line


@dataclass
class Counted(InProcessRateLimit):
    reserved: list[tuple[int, int]] = field(default_factory=list)
    """Requests and tokens of each reservation."""

    def reserve(self, requests: int, tokens: int) -> float:
        self.reserved.append((requests, tokens))
        return super().reserve(requests, tokens)


def attempts(count: int, tokens: int = 10) -> list[Attempt]:
    return [Attempt(call_for(number), tokens) for number in range(count)]


def filled(line: Line, count: int) -> list[Attempt]:
    made = attempts(count)
    for attempt in made:
        line.add(attempt, 0.0)
    return made


def test_first_come_first_served_and_no_more_than_there_is_room_for() -> None:
    line = Line(Unlimited(), Limits())
    made = filled(line, 5)
    assert line.ready(3, 0.0) == made[:3]
    assert line.ready(3, 0.0) == made[3:]
    assert line.next_time() is None


def test_a_pause_is_waited_for() -> None:
    line = Line(Unlimited(), Limits())
    first, second = attempts(2)
    line.add(first, 5.0)
    line.add(second, 2.0)
    assert line.ready(9, 1.0) == []
    assert line.next_time() == 2.0
    assert line.ready(9, 2.0) == [second]
    assert line.ready(9, 5.0) == [first]


def test_without_rates_all_that_there_is_room_for_take_their_places_together() -> None:
    pace = Counted()
    line = Line(pace, Limits())
    filled(line, 6)
    line.ready(4, 0.0)
    assert pace.reserved == [(4, 40)]


def test_with_rates_a_quarter_of_a_second_takes_its_places_together() -> None:
    """480 a minute are 8 a second, two in a quarter of one."""
    pace = Counted(requests_a_minute=480, clock=lambda: 0.0)
    line = Line(pace, Limits(requests_a_minute=480))
    filled(line, 5)
    assert len(line.ready(5, 0.0)) == 5
    assert [requests for requests, _ in pace.reserved] == [2, 2, 1]


def test_nobody_takes_a_place_before_those_who_wait_for_theirs() -> None:
    """60 a minute: two at once, and the third a second later. The fourth's place is not taken
    before that."""
    pace = Counted(requests_a_minute=60, clock=lambda: 0.0)
    line = Line(pace, Limits(requests_a_minute=60))
    made = filled(line, 4)
    assert line.ready(4, 0.0) == made[:2]
    assert line.next_time() == 1.0
    assert line.ready(4, 0.9) == []
    assert len(pace.reserved) == 3
    assert line.ready(4, 1.0)[0] is made[2]


def test_what_was_taken_back_keeps_its_place() -> None:
    pace = Counted()
    line = Line(pace, Limits())
    made = filled(line, 3)
    line.put_back(line.ready(2, 0.0))
    assert line.ready(3, 0.0) == made
    assert pace.reserved == [(2, 20), (1, 10)]


def test_after_trouble_half_as_many_go_and_one_more_for_each_round_of_answers() -> None:
    places = Places(16)
    places.slow_down(until=10.0)
    assert (places.now, places.quiet_until, places.episodes) == (8, 10.0, 1)
    for _ in range(9):
        places.answered()
    assert (places.now, places.episodes) == (9, 0)
    for _ in range(1000):
        places.answered()
    assert places.now == 16


def test_there_is_always_one() -> None:
    places = Places(3)
    for until in range(5):
        places.slow_down(until)
    assert places.now == 1


def test_trouble_of_calls_that_began_before_the_pause_ended_is_known() -> None:
    places = Places(4)
    assert not places.is_known(begun=1.0)
    places.slow_down(until=5.0)
    assert places.is_known(begun=4.9)
    assert not places.is_known(begun=5.1)
