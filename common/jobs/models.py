"""Jobs: rows that one worker at a time works on, such as a metric run or a chat's answer.

However many workers hear of a job, one conditional update gives it to one of them (``claim``), who
keeps it by renewing the lease (``renew``). Every write of a worker goes through ``owned``, which
asks for the claim's token: whoever lost the lease writes nothing. ``reap`` looks after the jobs of
silent workers and those whose notification was lost. How a worker runs a job: ``workers.jobs``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from secrets import token_hex
from typing import Any, ClassVar, Self

from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q

from common import clock
from common.jobs.leases import has_ended, lease_end
from common.jobs.notifications import AT_ONCE, MAX_NOTIFICATIONS, due, notify_workers
from common.read_only import optional_write
from common.text import storable

LONGEST_REASON = 2_000
NO_LEASE: dict[str, Any] = {"lease_token": "", "lease_expires_at": None}


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a job until its lease ends.

    ``attempt`` counts from 1. Jobs that were claimed to be worked on together have one token.
    """

    row_id: int
    token: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Reaped:
    """How many jobs wait again, were given up, and how many workers were notified of."""

    released: int
    failed: int
    notified: int


class JobQuerySet(models.QuerySet):
    """Every step of a job's life is one conditional update, which returns how many jobs it met."""

    model: type[Job]

    # --- a worker's ---

    def claim(self, pk: int) -> Claim | None:
        """Take a job that waits, or whose worker fell silent.

        Args:
            pk: The job's primary key.

        Returns:
            The claim; None where somebody else has the job, or there is nothing to do.
        """
        now, token = clock.now(), token_hex(16)
        taken = (
            self.filter(pk=pk, attempts__lt=self.model.max_attempts())
            .filter(self.model.is_waiting() | self.model.is_silent(now))
            .update(**self._leased(token, now), **self.model.begun())
        )
        if not taken:
            return None
        found = self.model.objects.filter(pk=pk, lease_token=token)
        attempt = found.values_list("attempts", flat=True).first()
        return None if attempt is None else Claim(pk, token, attempt)

    def claim_beside(self, first: Claim, most: int, **changes: Any) -> list[Claim]:
        """Claim more of these jobs with the token of the first, so that one update renews them all.

        Args:
            first: The claim that they are worked on with.
            most: How many to take, lowest keys first.
            changes: What is written beside what a claim writes.

        Returns:
            The claims of those that were free. These jobs may not be chosen through a join: the
            update asks again what it locks.
        """
        now = clock.now()
        with transaction.atomic():
            # What another worker is just claiming is passed over, not waited for: nobody waits in a
            # circle.
            waiting = self.select_for_update(skip_locked=True).order_by("pk")
            free = list(waiting.values_list("pk", flat=True)[:most])
            begun = {**self._leased(first.token, now), **self.model.begun(), **changes}
            self.filter(pk__in=free).update(**begun)
        taken = self.model.objects.filter(pk__in=free, lease_token=first.token).order_by("pk")
        return [
            Claim(pk, first.token, attempt) for pk, attempt in taken.values_list("pk", "attempts")
        ]

    def _leased(self, token: str, now: datetime) -> dict[str, Any]:
        return {
            "lease_token": token,
            "lease_expires_at": lease_end(now),
            "attempts": F("attempts") + 1,
        }

    def owned(self, *claims: Claim) -> Self:
        """The jobs that these claims still hold: what a worker may write to."""
        return self.filter(
            pk__in=[one.row_id for one in claims],
            state__in=self.model.RUNNING,
            lease_token__in={one.token for one in claims},
        )

    def renew(self, **changes: Any) -> int:
        """Renew the lease of owned jobs, and write what is known of their progress."""
        return self.update(lease_expires_at=lease_end(clock.now()), **changes)

    def finish(self, **result: Any) -> int:
        """Store the result of owned jobs."""
        return self.end(self.model.DONE, **{self.model.REASON: "", **result})

    def fail(self, error: str) -> int:
        """Give these jobs up, with the reason."""
        with transaction.atomic():
            keys = self.lock()
            if not keys:
                return 0
            failed = self.filter(pk__in=keys).end(
                self.model.FAILED, **{self.model.REASON: self.model.reason(error)}
            )
            if failed:
                self.model.on_failed(keys)
        return failed

    def release(self) -> int:
        """Leave owned jobs to whoever takes them next, as if they had not been begun."""
        return self.wait(attempts=F("attempts") - 1)

    def retry(self, error: str, /, **changes: Any) -> int:
        """Leave owned jobs to whoever takes them next. The attempt counts: those that may not be
        begun again fail with the error."""
        tried_out = self.filter(attempts__gte=self.model.max_attempts())
        return tried_out.fail(error) + self.wait(**changes)

    # --- everybody's ---

    def lock(self) -> list[int]:
        """The keys of these jobs, which nobody else changes until the transaction ends."""
        return list(self.select_for_update().order_by("pk").values_list("pk", flat=True))

    def end(self, state: str, **changes: Any) -> int:
        """End these jobs in this state. Whoever works on one loses it."""
        ended = {"state": state, self.model.ENDED_AT: clock.now(), **NO_LEASE}
        return self.update(**ended, **changes)

    def wait(self, **changes: Any) -> int:
        """Let these jobs wait for a worker again. Nobody has them, and nobody was notified."""
        waiting = {"state": self.model.WAITING, **NO_LEASE, "hinted_at": None, "hints": 0}
        return self.update(**waiting, **self.model.RESET, **changes)

    def notify(self, keys: Iterable[int]) -> int:
        """Tell workers of jobs that wait.

        Args:
            keys: Primary keys, those to be worked on first in front.

        Returns:
            How many workers were told of. Where the broker cannot be reached the jobs wait for
            ``reap``.
        """
        queues = self.model.queues_of(list(keys))
        sent = notify_workers(self.model.TASK, queues.items(), self.model.PRIORITY)
        with optional_write("noting that workers were told"):
            notified = self.model.objects.filter(pk__in=sent)
            notified.update(hinted_at=clock.now(), hints=F("hints") + 1)
        return len(sent)

    def notify_on_commit(self, *keys: int) -> None:
        if keys:
            transaction.on_commit(lambda: self.notify(keys))

    def reap(self) -> Reaped:
        """Release the jobs of silent workers, give up those that were tried too often, and notify
        workers of those that wait and whose last notification may be lost: first those that nobody
        was told of."""
        if not self.filter(self.model.is_waiting() | Q(state__in=self.model.RUNNING)).exists():
            return Reaped(0, 0, 0)  # as mostly, and asked every few seconds
        now, most = clock.now(), self.model.max_attempts()
        silent = self.filter(self.model.is_silent(now))
        failed = released = 0
        if silent.exists():  # to lock nothing waits for SQLite's writer, too
            failed = silent.filter(attempts__gte=most).fail(self.model.LOST.format(attempts=most))
            with transaction.atomic():
                lost = silent.lock()
                released = self.filter(pk__in=lost).wait()
                self.model.on_lost(lost)
        waiting = self.filter(self.model.is_waiting()).filter(due(now))
        in_order = waiting.order_by(F("hinted_at").asc(nulls_first=True), "pk")
        keys = list(in_order.values_list("pk", flat=True)[:MAX_NOTIFICATIONS])
        return Reaped(released, failed, self.notify(keys) if keys else 0)


class Job(models.Model):
    """A row that a worker claims, works on and ends.

    A kind of job has a column ``state``, one for the reason of a failure and one for the time of
    its end, and says in class variables what its workers need to know. A few redefine ``attempts``
    or ``hinted_at``, because their columns are older than this class.
    """

    NAME: ClassVar[str]
    """In logs (``run 17``) and in monitoring."""
    TASK: ClassVar[str]
    """Celery's name of the task that works on one."""
    QUEUE: ClassVar[str] = "cpu"
    QUEUE_COLUMN: ClassVar[str] = ""
    """The column that decides the queue, in the place of ``QUEUE``."""
    QUEUES: ClassVar[Mapping[str, str]] = {}
    """By the value of that column."""
    PRIORITY: ClassVar[int] = AT_ONCE
    WAITING: ClassVar[str] = "pending"
    RUNNING: ClassVar[Collection[str]] = ("running",)
    """States in which a worker has it; it is claimed into the first."""
    DONE: ClassVar[str] = "done"
    FAILED: ClassVar[str] = "failed"
    REASON: ClassVar[str] = "error"
    REQUESTED_AT: ClassVar[str] = "created_at"
    BEGUN_AT: ClassVar[str] = ""
    """Empty where the row does not keep it."""
    ENDED_AT: ClassVar[str] = "finished_at"
    """Names of columns."""
    AT_WORK: ClassVar[Collection[str]] = ()
    """States in which others than its worker are at work on it."""
    HAS_INDEX_OF_STATES: ClassVar[bool] = False
    """Else an index has only what waits or is at work."""
    RESET: ClassVar[dict[str, Any]] = {}
    """Columns of an attempt, which begins or is taken back."""
    LOST: ClassVar[str] = "the worker stopped without a word {attempts} times"
    """Why a job is given up whose workers fell silent."""

    attempts = models.PositiveIntegerField(default=0)
    lease_token = models.CharField(max_length=32, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    hinted_at = models.DateTimeField(null=True, blank=True)
    hints = models.PositiveIntegerField(default=0)

    objects = JobQuerySet.as_manager()

    class Meta:
        abstract = True

    @classmethod
    def max_attempts(cls) -> int:
        return settings.MAX_ATTEMPTS

    @classmethod
    def is_waiting(cls) -> Q:
        """Which jobs may be claimed."""
        return Q(state=cls.WAITING)

    @classmethod
    def is_silent(cls, now: datetime) -> Q:
        return Q(state__in=cls.RUNNING) & has_ended(now)

    @classmethod
    def begun(cls) -> dict[str, Any]:
        """What a claim writes beside the lease."""
        return {"state": cls.RUNNING[0], **cls.RESET}

    @classmethod
    def queues_of(cls, keys: Collection[int]) -> dict[int, str]:
        """By key, in order: whose workers are notified."""
        return dict.fromkeys(keys, cls.QUEUE)

    @classmethod
    def reason(cls, error: str) -> str:
        """What is stored of an error."""
        return storable(error)[:LONGEST_REASON]

    @classmethod
    def on_failed(cls, keys: Collection[int]) -> None:
        """Called in the transaction that gives these jobs up."""

    @classmethod
    def on_lost(cls, keys: Collection[int]) -> None:
        """Called in the transaction that takes these jobs back from silent workers."""


@cache
def kinds_of_jobs() -> tuple[type[Job], ...]:
    """All that the installed apps have."""
    return tuple(model for model in apps.get_models() if issubclass(model, Job))
