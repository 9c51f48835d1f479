"""Work and ratings as the database has them now. Each is one query that an index answers, whatever
the site holds: nothing here counts a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Min, Model, Q, QuerySet, Sum
from django.utils import timezone

from annotations.campaigns.models import Message, RatingRevision
from annotations.models import Rating
from leaderboard.challenges.models import Notice, Submission
from leaderboard.models import Analysis
from workers.judges.models import Purse, Trial
from workers.models import MetricRun
from workers.training.models import Training

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LATEST = 20_000
"""What ended is looked for among so many of the newest rows of a table: those of a day, on any site
but the largest."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row that workers take. ``queue`` is a queue, or the column that names it."""

    name: str
    model: type[Model]
    queue: str
    waiting: tuple[str, ...] = ("pending",)
    running: tuple[str, ...] = ("running",)
    since: str = "created_at"
    begun: str = ""
    """Empty where the row does not keep it."""
    ended: str = "finished_at"
    failures_by_state: bool = False
    """An index has the states of all rows; of the others only what is at work is indexed."""


KINDS = (
    Kind("run", MetricRun, "column", begun="started_at", failures_by_state=True),
    Kind(
        "submission",
        Submission,
        "by kind",
        ("received",),
        ("validating", "generating", "scoring"),
        "received_at",
        "validating_at",
        "ended_at",
    ),
    Kind("analysis", Analysis, "cpu", since="waits_since", failures_by_state=True),
    Kind("notice", Notice, "cpu", ended="ended_at"),
    Kind("answer", Message, "llm"),
    Kind("trial", Trial, "llm"),
    Kind("training", Training, "gpu", begun="started_at"),
)


@dataclass(frozen=True, slots=True)
class Work:
    kind: str
    queue: str
    waiting: int
    running: int
    oldest_seconds: float


def under_way(now: datetime | None = None) -> Iterator[Work]:
    """How much of each kind waits and runs in each queue, and for how long the oldest has waited,
    in seconds since it was asked for. A notice that is to be tried again later waits, too."""
    now = now or timezone.now()
    for kind in KINDS:
        at_work = kind.model._default_manager.filter(
            state__in=kind.waiting + kind.running
        ).order_by()
        waits = Q(state__in=kind.waiting)
        found = at_work.values(*_column(kind)).annotate(
            waits=Count("pk", filter=waits),
            runs=Count("pk", filter=~waits),
            oldest=Min(kind.since, filter=waits),
        )
        by_queue: dict[str, Work] = {}
        for one in found:
            queue = _queue(kind, one)
            age = (now - one["oldest"]).total_seconds() if one["oldest"] else 0.0
            before = by_queue.get(queue, Work(kind.name, queue, 0, 0, 0.0))
            by_queue[queue] = Work(
                kind.name,
                queue,
                before.waiting + one["waits"],
                before.running + one["runs"],
                max(before.oldest_seconds, age),
            )
        for queue in _queues(kind):
            yield by_queue.get(queue, Work(kind.name, queue, 0, 0, 0.0))


def _column(kind: Kind) -> tuple[str, ...]:
    return {"column": ("queue",), "by kind": ("kind",)}.get(kind.queue, ("state",))


def _queue(kind: Kind, row: dict[str, str]) -> str:
    """Prompts are run by a model; files are checked by whoever computes the plain metrics."""
    if kind.queue == "column":
        return row["queue"]
    if kind.queue == "by kind":
        return "llm" if row["kind"] == "prompt" else "cpu"
    return kind.queue


def _queues(kind: Kind) -> tuple[str, ...]:
    """A queue in which nothing waits is told with 0: a series that comes and goes raises no
    alarm."""
    return {"column": ("cpu", "gpu", "llm"), "by kind": ("cpu", "llm")}.get(
        kind.queue, (kind.queue,)
    )


def failed_last_day(now: datetime | None = None) -> Iterator[tuple[str, int]]:
    """(kind, how many ended so in the last 24 hours)"""
    since = (now or timezone.now()) - DAY
    for kind in KINDS:
        rows = kind.model._default_manager.order_by() if kind.failures_by_state else _newest(kind)
        yield kind.name, rows.filter(**{"state": "failed", f"{kind.ended}__gte": since}).count()


def done_last_hour(now: datetime | None = None) -> Iterator[tuple[str, int, float]]:
    """(kind, how many ended well in the last hour, the seconds from their beginnings to their
    ends)"""
    since = (now or timezone.now()) - HOUR
    for kind in KINDS:
        if kind.begun:
            rows = _newest(kind).filter(
                **{"state__in": ("done", "scored"), f"{kind.ended}__gte": since}
            )
            took = rows.aggregate(count=Count("pk"), seconds=Sum(F(kind.ended) - F(kind.begun)))
            yield (
                kind.name,
                took["count"],
                took["seconds"].total_seconds() if took["seconds"] else 0.0,
            )


def _newest(kind: Kind) -> QuerySet[Model]:
    rows = kind.model._default_manager.order_by()
    newest = rows.aggregate(key=Max("pk"))["key"] or 0
    return rows.filter(pk__gt=newest - LATEST)


def ratings() -> Iterator[tuple[str, int]]:
    """(where they come from, how many were ever stored), by the highest key given: to count a
    million rows takes 50 ms and more. Keys that were never used or whose rows were deleted are
    counted, too."""
    for name, model in (("campaign", RatingRevision), ("corpus", Rating)):
        yield name, model._default_manager.order_by().aggregate(key=Max("pk"))["key"] or 0


def judges() -> dict[str, float]:
    """What judges' calls took, by all purses: there are as many as judges were started, not as
    calls."""
    sums = Purse.objects.aggregate(
        calls=Sum("calls"), tokens=Sum("tokens_spent"), usd=Sum("cost_spent")
    )
    return {name: float(value or 0) for name, value in sums.items()}
