"""One asking of many calls, from the first claim to the last answer. Pure.

Every attempt is charged before it is sent. One that came to nothing but that the endpoint may
charge for stays charged, at the most it can have cost, and its call is claimed anew: the budget
must have room for another attempt.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from workers.inference.language_models.asynchronous import Reply
from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.refusals import why_not_taken
from workers.judges.core.calls import (
    NO_PRICE,
    Answer,
    Call,
    CallKey,
    Follow,
    Price,
    answer_of,
    estimate,
    likely_tokens,
    refusal_of,
    tokens_used,
)
from workers.judges.core.dialects import MOST_LESSONS, PLAIN, Dialect, Learner
from workers.judges.core.endpoints import host_of
from workers.judges.core.rate_limit import Limits, Pace, Places
from workers.judges.core.response_cache import BudgetSpent, EndpointFailed, ResponseCache, Stopped
from workers.judges.core.retries import (
    MAX_RETRY_AFTER,
    Again,
    Refused,
    Verdict,
    may_be_charged,
    pause_before,
    verdict,
)
from workers.judges.core.sender import Attempt, AttemptSender, Line, Outcome

log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""Between two looks at whether somebody stops the run."""
RETENTION_SECONDS = 5.0
GATHER_SECONDS = 0.05
"""Answers that come within this are put down in one transaction."""
MIN_INTERIM_STEP, MAX_CHECK_SECONDS = 0.2, 3.0
"""Seconds between two looks at calls that somebody else asks."""
IMPATIENT_SECONDS = 5.0
"""What is in flight is waited for so long where the process is told to end, or something broke."""
MOST_LOOKED_UP = 256
"""Calls looked up together while the store answers all of them."""
MOST_HELD = 16
"""Windows of calls that others ask, before no more are read."""


@dataclass
class Scheduler:
    """Use it once. What happens to a call: read, claimed, in line, sent, answered, put down,
    followed."""

    endpoint: Endpoint
    response_cache: ResponseCache
    limits: Limits
    pace: Pace
    watch: Callable[[], None]
    sender: AttemptSender
    follow: Follow
    progress: Callable[[int], None]
    price: Price = NO_PRICE
    learner: Learner | None = None
    answered: int = 0

    _following: deque[Call] = field(default_factory=deque)
    """Read next, before those to come: what follows from answers, and what could not be paid for a
    moment ago."""
    _claimed: dict[CallKey, Call] = field(default_factory=dict)
    """Ours, and not put down."""
    _held: list[Call] = field(default_factory=list)
    _same: dict[CallKey, list[Call]] = field(default_factory=dict)
    """For every call that is claimed or held: further ones that ask the same, and share its
    answer."""
    _lost: list[tuple[Attempt, float]] = field(default_factory=list)
    """Came to nothing, but may be charged for; and when to ask again."""
    _attempts: dict[CallKey, tuple[Attempt, float]] = field(default_factory=dict)
    """The same, given back, and to be claimed anew: another attempt is more money."""
    _arrived: list[tuple[Call, Answer]] = field(default_factory=list)
    """Not put down yet."""
    _probes: dict[str, CallKey] = field(default_factory=dict)
    """By kind of request, the one call that is asked until an answer of its kind holds a number."""
    _behind: list[Attempt] = field(default_factory=list)
    """Further calls of these kinds. They were in line, and wait for what the probe teaches."""
    _failure: str = ""

    def __post_init__(self) -> None:
        self._window = self._reach = 2 * self.limits.at_once
        self._line = Line(self.pace, self.limits)
        self._places = Places(self.limits.at_once)
        self._all_read = self._is_short = False
        self._next_look = self._next_keep = self._next_watch = float("-inf")
        self._look_pause = MIN_INTERIM_STEP
        self._correction = 0
        self._claimed_for = self._dialect

    @property
    def _dialect(self) -> Dialect:
        return self.learner.dialect if self.learner else PLAIN

    def run(self, calls: Iterable[Call]) -> None:
        coming = iter(calls)
        self.sender.allow(self._places.now)
        try:
            while True:
                self._refresh()
                self._follow_dialect()
                self._claim(coming)
                self._hand_over()
                if self._all_read and not (self._claimed or self._held or self._following):
                    return
                self._take_all(self.sender.outcomes(self._patience(), GATHER_SECONDS))
                self._put_down()
                if self._failure:
                    raise EndpointFailed(self._failure)
                if self._lost:
                    lost, self._lost = self._lost, []
                    self.response_cache.release([attempt.call for attempt, _ in lost])
                    self._claim_anew(lost)
        except BaseException as problem:
            self._wind_up(is_patient=isinstance(problem, (EndpointFailed, BudgetSpent, Stopped)))
            raise

    def _refresh(self) -> None:
        now = time.monotonic()
        if self._claimed and now >= self._next_keep:
            self._next_keep = now + RETENTION_SECONDS
            self.response_cache.keep()
        if now >= self._next_watch:
            self._next_watch = now + WATCH_SECONDS
            self.watch()

    # From read to claimed.

    def _claim(self, coming: Iterator[Call]) -> None:
        while batch := self._held_for_review() + self._read(coming, self._room()):
            self._claim_batch(batch)
            self._refresh()

    def _room(self) -> int:
        """Calls are claimed in batches, a little ahead of what is in flight; more while the store
        has them all."""
        free = self._window - len(self._claimed)
        # Where nothing is under way any more, no money will come back: the cache says what is
        # spent.
        is_short = self._is_short and bool(self._claimed)
        if is_short or 4 * free < self._window or len(self._held) >= MOST_HELD * self._window:
            return 0
        return free if self._claimed else self._reach

    def _held_for_review(self) -> list[Call]:
        if not self._held or time.monotonic() < self._next_look:
            return []
        held, self._held = self._held, []
        return held

    def _read(self, coming: Iterator[Call], capacity: int) -> list[Call]:
        batch: list[Call] = []
        while len(batch) < capacity:
            call = self._following.popleft() if self._following else next(coming, None)
            if call is None:
                self._all_read = True
                break
            if call.key in self._same:
                self._same[call.key].append(call)
            else:
                self._same[call.key] = []
                batch.append(call)
        return batch

    def _claim_batch(self, batch: list[Call]) -> None:
        dialect = self._dialect
        priced = [(call, estimate(call, self.price, dialect)) for call in batch]
        try:
            claimed = self.response_cache.claim(priced)
        except BudgetSpent:
            if not self._claimed:
                raise
            self._put_back(batch)
            return
        now = time.monotonic()
        for call in claimed.mine:
            self._claimed[call.key] = call
            attempt, when = self._attempts.pop(call.key, (Attempt(call, 0), now))
            attempt.tokens, attempt.dialect = likely_tokens(call, dialect), dialect
            self._line.add(attempt, when)
        self._held += claimed.held
        self._look_pause = (
            MIN_INTERIM_STEP
            if claimed.mine or claimed.answered
            else min(2 * self._look_pause, MAX_CHECK_SECONDS)
        )
        self._next_look = now + self._look_pause
        self._reach = self._window if claimed.mine else min(2 * self._reach, MOST_LOOKED_UP)
        found = {
            call.key
            for call in (*claimed.mine, *claimed.held, *(call for call, _ in claimed.answered))
        }
        self._put_back([call for call in batch if call.key not in found])
        self._report(claimed.answered)

    def _put_back(self, calls: list[Call]) -> None:
        """Not to be paid for now; perhaps when calls under way turn out to take less than they
        might have."""
        if not calls:
            return
        self._is_short = bool(self._claimed)
        self._following.extendleft(
            reversed([one for call in calls for one in (call, *self._same.pop(call.key))])
        )

    # From claimed to answered.

    def _hand_over(self) -> None:
        now = time.monotonic()
        # A probe ends when its answer was read, or its call given up.
        self._probes = {kind: key for kind, key in self._probes.items() if key in self._claimed}
        behind, self._behind = self._behind, []
        free: list[Attempt] = []
        for attempt in behind:
            (self._behind if attempt.call.request.kind in self._probes else free).append(attempt)
        self._line.put_back(free)
        capacity = 2 * self._places.now - self.sender.load
        if capacity <= 0 or now < self._places.quiet_until:
            return
        if going := [one for one in self._line.ready(capacity, now) if self._may_go(one)]:
            sendable = {
                call.key
                for call in self.response_cache.mark_sent([attempt.call for attempt in going])
            }
            self.sender.hand_over([attempt for attempt in going if attempt.call.key in sendable])
            self._claim_anew(
                [(attempt, now) for attempt in going if attempt.call.key not in sendable]
            )

    def _may_go(self, attempt: Attempt) -> bool:
        """Of a kind of request that nothing is known of, one call goes alone."""
        request, key = attempt.call.request, attempt.call.key
        if self.learner is None or self.learner.is_proven(request):
            return True
        if self._probes.setdefault(request.kind, key) == key:
            return True
        self._behind.append(attempt)
        return False

    def _patience(self) -> float:
        """Seconds until there is something to do, whatever comes. 0 where nothing is waited for."""
        times = [self._next_watch]
        if self._held:
            times.append(self._next_look)
        if (
            in_line := self._line.next_time()
        ) is not None and self.sender.load < 2 * self._places.now:
            times.append(max(in_line, self._places.quiet_until))
        if not self.sender.load and len(times) == 1:
            return 0.0
        return max(0.0, min(times) - time.monotonic())

    def _take_all(self, outcomes: list[Outcome]) -> None:
        before = self._places.now
        for outcome in outcomes:
            self._take(outcome)
        if self._places.now != before or any(outcome.problem for outcome in outcomes):
            self.sender.allow(self._places.now)

    def _take(self, outcome: Outcome) -> None:
        attempt, now = outcome.attempt, time.monotonic()
        if outcome.reply is not None:
            answer = self._answer_of(outcome, outcome.reply)
            self._arrived.append((attempt.call, answer))
            self._correction += tokens_used(answer, attempt.tokens) - attempt.tokens
            self._places.answered()
            return
        what, is_lost = self._verdict(outcome), self._may_be_charged(outcome)
        if not isinstance(what, Again) and self._has_learned(outcome):
            self._correction -= attempt.tokens
            attempt.lessons += 1
            self._lost.append((attempt, now))
            return
        if isinstance(what, Again):
            self._again(attempt, what, outcome.begun, now, is_lost)
        elif isinstance(what, Refused):
            self._arrived.append(
                (attempt.call, refusal_of(what.why, outcome.seconds, attempt.number))
            )
            self._correction -= attempt.tokens
        else:
            self._fail(what.why)

    def _answer_of(self, outcome: Outcome, reply: Reply) -> Answer:
        attempt = outcome.attempt
        answer = answer_of(reply, self.endpoint, outcome.seconds, attempt.number)
        return replace(answer, sent=attempt.dialect)

    def _has_learned(self, outcome: Outcome) -> bool:
        """Whether a refusal says how else the same can be asked."""
        attempt, problem = outcome.attempt, outcome.problem
        if self.learner is None or problem is None or attempt.lessons >= MOST_LESSONS:
            return False
        if why_not_taken(problem):
            return False
        return self.learner.from_refusal(problem, attempt.dialect, attempt.call.request)

    def _follow_dialect(self) -> None:
        """What waits was reserved for another form of its request: it is claimed anew, with what
        that may cost."""
        if self._claimed_for == self._dialect:
            return
        self._claimed_for = self._dialect
        waiting = [*self.sender.recall(), *self._line.take_all(), *self._behind]
        self._behind = []
        if waiting:
            self.response_cache.mark_unsent([one.call for one in waiting])
            self.response_cache.release([one.call for one in waiting])
            now = time.monotonic()
            self._claim_anew([(one, now) for one in waiting])

    def _may_be_charged(self, outcome: Outcome) -> bool:
        assert outcome.problem is not None
        if may_be_charged(outcome.problem):
            return True
        self.response_cache.mark_unsent([outcome.attempt.call])
        return False

    def _verdict(self, outcome: Outcome) -> Verdict:
        assert outcome.problem is not None
        prompt = "\n".join(one.text for one in outcome.attempt.call.request.messages)
        return verdict(outcome.problem, self.endpoint, prompt)

    def _again(
        self, attempt: Attempt, what: Again, begun: float, now: float, is_lost: bool
    ) -> None:
        attempt.number += 1
        self._correction -= attempt.tokens
        if not what.for_all:
            attempt.failures += 1
            if attempt.failures > self.limits.retries:
                self._fail(f"asked {attempt.failures} times for one answer: {what.why}")
            self._later(attempt, now + pause_before(attempt.failures, what.retry_after), is_lost)
            return
        if self._places.is_known(begun):
            self._places.stay_quiet(now + min(what.retry_after or 0.0, MAX_RETRY_AFTER))
        else:
            pause = pause_before(self._places.episodes + 1, what.retry_after)
            self._places.slow_down(now + pause)
            if self._places.episodes > self.limits.retries:
                self._fail(
                    f"slowed down {self.limits.retries} times without an answer in between: "
                    f"{what.why}"
                )
            recalled = self.sender.recall()
            self.response_cache.mark_unsent([one.call for one in recalled])
            self._line.put_back(recalled)
            self.pace.pause(pause)
        self._later(attempt, self._places.quiet_until, is_lost)

    def _later(self, attempt: Attempt, when: float, is_lost: bool) -> None:
        if is_lost:
            self._lost.append((attempt, when))
        else:
            self._line.add(attempt, when)

    def _claim_anew(self, attempts: list[tuple[Attempt, float]]) -> None:
        for attempt, when in attempts:
            call = attempt.call
            del self._claimed[call.key]
            self._attempts[call.key] = attempt, when
            self._following.extendleft(reversed([call, *self._same.pop(call.key)]))

    def _fail(self, why: str) -> None:
        """The first of several says it; the others' answers are put down before it is raised."""
        self._failure = self._failure or f"endpoint {host_of(self.endpoint.base_url)}: {why}"

    # From answered to followed.

    def _put_down(self) -> None:
        if self._correction and self.limits.tokens_a_minute:
            self.pace.correct(self._correction)
        self._correction = 0
        if not self._arrived:
            return
        self.response_cache.put(self._arrived)
        arrived, self._arrived = self._arrived, []
        for call, _ in arrived:
            del self._claimed[call.key]
        self._is_short = False
        self._report(arrived)

    def _report(self, answered: list[tuple[Call, Answer]]) -> None:
        for call, answer in answered:
            self._following.extend(self.follow(call, answer))
            self._attempts.pop(call.key, None)
            shared = self._same.pop(call.key)
            for same in shared:
                self._following.extend(self.follow(same, replace(answer, from_store=True)))
            self.answered += 1 + len(shared)
        if answered:
            self.progress(self.answered)

    # Where it ends early.

    def _wind_up(self, is_patient: bool) -> None:
        """Nothing new is sent; what is in flight is waited for and kept, everything else
        released."""
        until = time.monotonic() + (
            self.limits.seconds if is_patient else min(IMPATIENT_SECONDS, self.limits.seconds)
        )
        try:
            self._line.drain()
            self.response_cache.mark_unsent([one.call for one in self.sender.recall()])
            while self.sender.load and (left := until - time.monotonic()) > 0:
                for outcome in self.sender.outcomes(min(left, WATCH_SECONDS)):
                    self._take_last(outcome)
                self._store_partial()
        finally:
            self._store_partial()
            self._quietly(self.response_cache.release, list(self._claimed.values()))

    def _take_last(self, outcome: Outcome) -> None:
        if outcome.reply is not None:
            self._arrived.append((outcome.attempt.call, self._answer_of(outcome, outcome.reply)))
            return
        self._may_be_charged(outcome)
        if isinstance(what := self._verdict(outcome), Refused):
            refusal = refusal_of(what.why, outcome.seconds, outcome.attempt.number)
            self._arrived.append((outcome.attempt.call, refusal))

    def _store_partial(self) -> None:
        if self._arrived and self._quietly(self.response_cache.put, self._arrived):
            for call, _ in self._arrived:
                self._claimed.pop(call.key, None)
            self._arrived = []
        if self._claimed and time.monotonic() >= self._next_keep:
            self._next_keep = time.monotonic() + RETENTION_SECONDS
            self._quietly(self.response_cache.keep)

    @staticmethod
    def _quietly(act: Callable[..., object], *arguments: object) -> bool:
        """What ended the asking is what its caller should hear of, not what came of it."""
        try:
            act(*arguments)
        except Exception:
            log.exception("while a judge's calls were wound up")
            return False
        return True
