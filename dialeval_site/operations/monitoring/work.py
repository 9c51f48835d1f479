"""Work and ratings as the database has them now. Each is one query that an index answers, whatever
the site holds: nothing here counts a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.utils import timezone

from annotations.campaigns.models import RatingRevision
from annotations.models import Rating
from common.jobs.models import Job, kinds_of_jobs
from workers.judges.models import Budget

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LATEST = 20_000
"""What ended is looked for among so many of the newest rows of a table: those of a day, on any site
but the largest."""


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
    for kind in kinds_of_jobs():
        at_work = kind._default_manager.filter(
            state__in=(kind.WAITING, *kind.RUNNING, *kind.AT_WORK)
        ).order_by()
        waits = Q(state=kind.WAITING)
        found = at_work.values(kind.QUEUE_COLUMN or "state").annotate(
            waits=Count("pk", filter=waits),
            runs=Count("pk", filter=~waits),
            oldest=Min(kind.REQUESTED_AT, filter=waits),
        )
        # A queue in which nothing waits has a 0: a series that comes and goes raises no alarm
        queues = sorted(set(kind.QUEUES.values())) or [kind.QUEUE]
        by_queue = {queue: Work(kind.NAME, queue, 0, 0, 0.0) for queue in queues}
        for one in found:
            queue = kind.QUEUES[one[kind.QUEUE_COLUMN]] if kind.QUEUE_COLUMN else kind.QUEUE
            age = (now - one["oldest"]).total_seconds() if one["oldest"] else 0.0
            before = by_queue[queue]
            by_queue[queue] = Work(
                kind.NAME,
                queue,
                before.waiting + one["waits"],
                before.running + one["runs"],
                max(before.oldest_seconds, age),
            )
        yield from by_queue.values()


def failed_last_day(now: datetime | None = None) -> Iterator[tuple[str, int]]:
    """(kind, how many ended so in the last 24 hours)"""
    since = (now or timezone.now()) - DAY
    for kind in kinds_of_jobs():
        rows = kind._default_manager.order_by() if kind.HAS_INDEX_OF_STATES else _newest(kind)
        ended = {"state": kind.FAILED, f"{kind.ENDED_AT}__gte": since}
        yield kind.NAME, rows.filter(**ended).count()


def done_last_hour(now: datetime | None = None) -> Iterator[tuple[str, int, float]]:
    """(kind, how many ended well in the last hour, the seconds from their beginnings to their
    ends)"""
    since = (now or timezone.now()) - HOUR
    for kind in kinds_of_jobs():
        if kind.BEGUN_AT:
            rows = _newest(kind).filter(**{"state": kind.DONE, f"{kind.ENDED_AT}__gte": since})
            took = rows.aggregate(
                count=Count("pk"), seconds=Sum(F(kind.ENDED_AT) - F(kind.BEGUN_AT))
            )
            yield (
                kind.NAME,
                took["count"],
                took["seconds"].total_seconds() if took["seconds"] else 0.0,
            )


def _newest(kind: type[Job]) -> QuerySet[Job]:
    rows = kind._default_manager.order_by()
    newest = rows.aggregate(key=Max("pk"))["key"] or 0
    return rows.filter(pk__gt=newest - LATEST)


def ratings() -> Iterator[tuple[str, int]]:
    """(where they come from, how many were ever stored), by the highest key given: to count a
    million rows takes 50 ms and more. Keys that were never used or whose rows were deleted are
    counted, too."""
    for name, model in (("campaign", RatingRevision), ("corpus", Rating)):
        yield name, model._default_manager.order_by().aggregate(key=Max("pk"))["key"] or 0


def judges() -> dict[str, float]:
    """What judges' calls took, by all budgets: there are as many as judges were started, not as
    calls."""
    sums = Budget.objects.aggregate(
        calls=Sum("calls"), tokens=Sum("tokens_spent"), usd=Sum("cost_spent")
    )
    return {name: float(value or 0) for name, value in sums.items()}
