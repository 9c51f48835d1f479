"""How much is asked of an endpoint at once, how fast, how long, and how often again. Pure.

How fast: requests and tokens a minute, kept by the generic cell rate algorithm. Each request takes
60 / (requests a minute) seconds of the endpoint's time, each token 60 / (tokens a minute). The
theoretical arrival time is the moment at which all that was reserved so far is over; a caller may
be at most the burst ahead of it. One number is the whole state, so that workers can share it in a
row. How many at once follows from what the endpoint bears.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """As the settings ``DIALEVAL_LLM_…`` give them."""

    at_once: int = 8
    seconds: float = 60.0
    """How long one attempt may take."""
    retries: int = 6
    """Times that a call is tried again; and times that the endpoint may say 429 with no answer in
    between."""
    requests_a_minute: int = 0
    """0: no limit; the same for tokens. ``Pace`` keeps them; here they say how many calls are
    reserved together."""
    tokens_a_minute: int = 0


class Places:
    """All, until the endpoint says that it has too much to do: then none for a while, half as many
    after that, and one more each time that as many as there are have been answered."""

    def __init__(self, at_once: int) -> None:
        self.most = at_once
        self.episodes = 0
        """Times that the endpoint had too much to do, since the last answer."""
        self.quiet_until = float("-inf")
        self._exactly = float(at_once)

    @property
    def now(self) -> int:
        return int(self._exactly)

    def is_known(self, begun: float) -> bool:
        """Whether a call that began then met the same trouble as the one before it, and is no new
        episode."""
        return begun <= self.quiet_until

    def slow_down(self, until: float) -> None:
        self._exactly = float(max(1, self.now // 2))
        self.episodes += 1
        self.stay_quiet(until)

    def stay_quiet(self, until: float) -> None:
        self.quiet_until = max(self.quiet_until, until)

    def answered(self) -> None:
        self.episodes = 0
        self._exactly = min(float(self.most), self._exactly + 1 / self.now)


BURST_SECONDS = 2.0
"""What may go at once after a quiet time: two seconds' worth."""


class Pace(Protocol):
    """One endpoint's and model's. Used from the thread that owns the response cache."""

    def reserve(self, requests: int, tokens: int) -> float:
        """Take a place in the line for so many requests with so many tokens in all. Seconds until
        they may be sent, 0 for now; the place is taken either way."""

    def correct(self, tokens: int) -> None:
        """More tokens were used than reserved, or fewer (negative)."""

    def pause(self, seconds: float) -> None:
        """The endpoint wants to be left alone for so long: nobody's turn comes before."""


class Unlimited:
    def reserve(self, requests: int, tokens: int) -> float:  # noqa: ARG002 - the Protocol's names
        return 0.0

    def correct(self, tokens: int) -> None:
        pass

    def pause(self, seconds: float) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Place:
    """``wait``: seconds until the reservation's turn. ``arrival``: the new theoretical arrival
    time."""

    wait: float
    arrival: float


def reserve(arrival: float, now: float, takes: float, burst: float = BURST_SECONDS) -> Place:
    """A reservation that ``takes`` so many seconds of the endpoint's time, made now. What takes
    longer than the burst waits only for what is before it: it could never be sent otherwise."""
    after = max(arrival, now) + takes
    return Place(max(0.0, after - max(burst, takes) - now), after)


def corrected(arrival: float, now: float, takes: float, burst: float = BURST_SECONDS) -> float:
    """The arrival time when a reservation turned out to take so many seconds more (or fewer). What
    was used too much is paid back later; what was reserved too much lets others go sooner, but is
    no burst on top of the burst."""
    return max(arrival + takes, now - burst) if takes < 0 else max(arrival, now) + takes


def paused(arrival: float, now: float, seconds: float, burst: float = BURST_SECONDS) -> float:
    """The arrival time when nobody's turn may come within so many seconds; the burst is used up
    then, too."""
    return max(arrival, now + seconds + burst)


def seconds_for(amount: int, a_minute: int) -> float:
    """0 where there is no limit."""
    return amount * 60.0 / a_minute if a_minute > 0 else 0.0


@dataclass
class InProcessRateLimit:
    """For one process alone. 0: no limit."""

    requests_a_minute: int = 0
    tokens_a_minute: int = 0
    clock: Callable[[], float] = time.monotonic
    _requests: float = field(default=float("-inf"), init=False)
    _tokens: float = field(default=float("-inf"), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def reserve(self, requests: int, tokens: int) -> float:
        with self._lock:
            now = self.clock()
            by_requests = reserve(
                self._requests, now, seconds_for(requests, self.requests_a_minute)
            )
            by_tokens = reserve(self._tokens, now, seconds_for(tokens, self.tokens_a_minute))
            self._requests, self._tokens = by_requests.arrival, by_tokens.arrival
            return max(by_requests.wait, by_tokens.wait)

    def correct(self, tokens: int) -> None:
        if self.tokens_a_minute:
            with self._lock:
                takes = seconds_for(tokens, self.tokens_a_minute)
                self._tokens = corrected(self._tokens, self.clock(), takes)

    def pause(self, seconds: float) -> None:
        with self._lock:
            self._requests = paused(self._requests, self.clock(), seconds)
