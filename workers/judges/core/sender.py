"""A thread with an event loop that sends attempts, so many at once, and puts what comes of them
into a queue; before that, claimed calls wait for their time there: after a pause, and for the
endpoint's rate limits. Pure.

The thread knows nothing of caches, budgets and retries: the scheduler does. So a database is only
ever spoken to from the thread that owns it, and nothing waits for a database while the endpoint
could take a call.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from workers.inference.language_models.asynchronous import Reply
from workers.judges.core.calls import Call
from workers.judges.core.dialects import PLAIN, Dialect
from workers.judges.core.rate_limit import Limits, Pace, seconds_for

T = TypeVar("T")
TOGETHER_SECONDS = 0.25
"""Calls take their places together, up to so many seconds' worth: a shared pace is a write to a
database."""


class Line:
    """First come, first served, but for calls that wait for their next time. Times are the caller's
    clock's."""

    def __init__(self, pace: Pace, limits: Limits) -> None:
        self._pace, self._limits = pace, limits
        self._due: list[tuple[float, int, Attempt]] = []
        self._placed: deque[Attempt] = deque()
        """Their place in the endpoint's rates is taken, and comes at ``_placed_at``."""
        self._placed_at = float("-inf")
        self._serial = itertools.count()

    def __len__(self) -> int:
        return len(self._due) + len(self._placed)

    def add(self, attempt: Attempt, when: float) -> None:
        heapq.heappush(self._due, (when, next(self._serial), attempt))

    def put_back(self, attempts: list[Attempt]) -> None:
        """Taken from the line, but not sent: their places are still theirs."""
        self._placed.extendleft(reversed(attempts))

    def ready(self, capacity: int, now: float) -> list[Attempt]:
        """At most ``capacity`` attempts that may be sent now. Takes their places."""
        going: list[Attempt] = []
        while len(going) < capacity:
            if self._placed:
                if self._placed_at > now:
                    break
                going.append(self._placed.popleft())
            elif self._due and self._due[0][0] <= now:
                self._take_slots(capacity - len(going), now)
            else:
                break
        return going

    def next_time(self) -> float | None:
        """When ``ready`` may have something; None where the line is empty."""
        if self._placed:
            return self._placed_at
        return self._due[0][0] if self._due else None

    def take_all(self) -> list[Attempt]:
        """Everything that waits, in its order; the line is empty then."""
        waiting = [*self._placed, *(attempt for _, _, attempt in sorted(self._due))]
        self.drain()
        return waiting

    def drain(self) -> None:
        self._due.clear()
        self._placed.clear()

    def _take_slots(self, capacity: int, now: float) -> None:
        tokens = takes = 0.0
        while self._due and self._due[0][0] <= now and len(self._placed) < capacity:
            attempt = self._due[0][2]
            takes = max(
                seconds_for(len(self._placed) + 1, self._limits.requests_a_minute),
                seconds_for(int(tokens) + attempt.tokens, self._limits.tokens_a_minute),
            )
            if self._placed and takes > TOGETHER_SECONDS:
                break
            tokens += attempt.tokens
            self._placed.append(heapq.heappop(self._due)[2])
        self._placed_at = now + self._pace.reserve(len(self._placed), int(tokens))


CLOSE_SECONDS = 5.0


class Model(Protocol):
    async def complete(self, body: bytes) -> Reply: ...
    async def close(self) -> None: ...


@dataclass(slots=True)
class Attempt:
    """A call on its way, once or several times. ``body`` is made when it is first sent."""

    call: Call
    tokens: int
    """Reserved for it."""
    number: int = 1
    failures: int = 0
    """Of its own; a 429 is the whole endpoint's."""
    dialect: Dialect = PLAIN
    """The form in which it is sent: that for which its tokens were reserved."""
    lessons: int = 0
    """Refusals that something was learned from."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One of ``reply`` and ``problem``."""

    attempt: Attempt
    reply: Reply | None
    problem: Exception | None
    begun: float
    """``time.monotonic()``."""
    seconds: float


class AttemptSender:
    """``make_model`` is called in the loop, once. ``body_of``: what is sent for an attempt.

    After an attempt that came to nothing none begins until ``allow`` is called: an endpoint that
    has too much to do should not get another call before somebody has heard what it said.
    """

    def __init__(
        self, make_model: Callable[[], Model], body_of: Callable[[Attempt], bytes], at_once: int
    ) -> None:
        self._body_of, self._allowed = body_of, at_once
        self._waiting: deque[Attempt] = deque()
        self._is_halted = False
        self._running: set[asyncio.Task[None]] = set()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="judge's calls", daemon=True)
        self._thread.start()
        self.load = 0
        """Attempts handed over whose outcome was not fetched. Of the thread that hands over."""
        try:
            self._model = self._in_loop(self._made(make_model))
        except BaseException:
            self._end_thread()
            raise

    def hand_over(self, attempts: Sequence[Attempt]) -> None:
        self.load += len(attempts)
        self._loop.call_soon_threadsafe(self._take, list(attempts))

    def outcomes(self, wait: float, gather: float = 0.0) -> list[Outcome]:
        """What came since, waiting for the first so many seconds, and then a little for others to
        come with it."""
        try:
            came = [
                self._outcomes.get(timeout=max(wait, 0.0))
                if wait > 0
                else self._outcomes.get_nowait()
            ]
        except queue.Empty:
            return []
        if gather > 0 and self.load > 1 and came[0].problem is None:
            time.sleep(gather)
        while True:
            try:
                came.append(self._outcomes.get_nowait())
            except queue.Empty:
                break
        self.load -= len(came)
        return came

    def recall(self) -> list[Attempt]:
        """Takes back what has not begun."""

        async def take_back() -> list[Attempt]:
            waiting = list(self._waiting)
            self._waiting.clear()
            return waiting

        back = self._in_loop(take_back())
        self.load -= len(back)
        return back

    def allow(self, at_once: int) -> None:
        """So many may be under way from now on."""

        def change() -> None:
            self._allowed, self._is_halted = at_once, False
            self._begin()

        self._loop.call_soon_threadsafe(change)

    def close(self) -> None:
        """Breaks off what is still under way. Bounded."""

        async def end() -> None:
            self._waiting.clear()
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
            await self._model.close()

        if self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(CLOSE_SECONDS)
        # A connection that cannot be closed well is closed all the same.
        except Exception:  # noqa: S110
            pass
        finally:
            self._end_thread()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @staticmethod
    async def _made(make_model: Callable[[], Model]) -> Model:
        return make_model()

    # In the loop.

    def _take(self, attempts: list[Attempt]) -> None:
        self._waiting.extend(attempts)
        self._begin()

    def _begin(self) -> None:
        while self._waiting and len(self._running) < self._allowed and not self._is_halted:
            task = self._loop.create_task(self._send(self._waiting.popleft()))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._begin()

    async def _send(self, attempt: Attempt) -> None:
        begun, reply, problem = time.monotonic(), None, None
        try:
            reply = await self._model.complete(self._body_of(attempt))
        except Exception as error:  # judged by whoever fetches the outcome
            problem, self._is_halted = error, True
        self._outcomes.put(Outcome(attempt, reply, problem, begun, time.monotonic() - begun))
