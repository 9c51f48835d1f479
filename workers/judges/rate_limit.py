"""One pace for all workers that ask an endpoint: its theoretical arrival times stand in a row,
changed by compare-and-swap. The arithmetic is ``workers.judges.core.rate_limit``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from common.clock import seconds
from workers.judges.call_rows import stored_text
from workers.judges.core.rate_limit import corrected, paused, reserve, seconds_for
from workers.judges.models import Pace

Arrivals = tuple[float, float]
"""Of requests and of tokens, in seconds since 1970."""


@dataclass
class SharedRateLimit:
    """``endpoint``: base address and model. 0: no limit. ``clock``: seconds since 1970, the same
    for all workers but for their clocks' differences, which the burst of two seconds allows for."""

    endpoint: str
    requests_a_minute: int = 0
    tokens_a_minute: int = 0
    clock: Callable[[], float] = seconds
    _known: Arrivals = field(default=(0.0, 0.0), init=False)

    def reserve(self, requests: int, tokens: int) -> float:
        """Seconds until so many requests with so many tokens in all may be sent. Their place is
        taken."""
        wait = 0.0

        def taken(arrivals: Arrivals) -> Arrivals:
            nonlocal wait
            now = self.clock()
            by_requests = reserve(arrivals[0], now, seconds_for(requests, self.requests_a_minute))
            by_tokens = reserve(arrivals[1], now, seconds_for(tokens, self.tokens_a_minute))
            wait = max(by_requests.wait, by_tokens.wait)
            return by_requests.arrival, by_tokens.arrival

        self._change(taken)
        return wait

    def correct(self, tokens: int) -> None:
        if not self.tokens_a_minute or not tokens:
            return
        takes = seconds_for(tokens, self.tokens_a_minute)
        self._change(lambda arrivals: (arrivals[0], corrected(arrivals[1], self.clock(), takes)))

    def pause(self, seconds: float) -> None:
        self._change(lambda arrivals: (paused(arrivals[0], self.clock(), seconds), arrivals[1]))

    def _change(self, change: Callable[[Arrivals], Arrivals]) -> None:
        """What is known may be old: then the row is read, and the change made anew from what it
        says."""
        row = Pace.objects.filter(endpoint=self._name)
        while True:
            requests_from, tokens_from = self._known
            new = change(self._known)
            if row.filter(requests_from=requests_from, tokens_from=tokens_from).update(
                requests_from=new[0], tokens_from=new[1]
            ):
                self._known = new
                return
            self._known = self._read()

    def _read(self) -> Arrivals:
        row, _ = Pace.objects.get_or_create(endpoint=self._name)
        return row.requests_from, row.tokens_from

    @property
    def _name(self) -> str:
        return stored_text(self.endpoint, 500)
