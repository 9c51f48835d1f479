"""The site's own figures as Prometheus reads them: asked for at each reading, so that every process
says the same."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from annotations import orphans
from dialeval_site.operations.monitoring import work
from workers.runs import presence

log = logging.getLogger(__name__)


class SiteCollector(Collector):
    """Where the database does not answer, its series are missing and ``dialeval_database_up`` says
    0: what requests took is told all the same."""

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily(
            "dialeval", "The version that answers.", {"version": settings.VERSION}
        )
        up = GaugeMetricFamily(
            "dialeval_database_up", "1 where the database answered this reading, else 0."
        )
        took = GaugeMetricFamily(
            "dialeval_reading_seconds", "What reading these figures from the database took."
        )
        begun = time.perf_counter()
        try:
            found = [*_work(), _failed(), *_done(), _ratings(), *_judges(), _seen(), *_orphans()]
        except DatabaseError as problem:
            log.warning("figures of the site cannot be read: %s", problem)
            found = []
        up.add_metric([], 1.0 if found else 0.0)
        took.add_metric([], time.perf_counter() - begun)
        yield from (up, took, *found)


def _work() -> Iterator[Metric]:
    labels = ["kind", "queue"]
    waiting = GaugeMetricFamily(
        "dialeval_work_waiting", "Rows that no worker has begun.", labels=labels
    )
    running = GaugeMetricFamily("dialeval_work_running", "Rows that a worker has.", labels=labels)
    oldest = GaugeMetricFamily(
        "dialeval_work_oldest_waiting_seconds",
        "Since the oldest of them was asked for; 0 where none waits.", labels=labels,
    )  # fmt: skip
    for one in work.under_way():
        waiting.add_metric([one.kind, one.queue], one.waiting)
        running.add_metric([one.kind, one.queue], one.running)
        oldest.add_metric([one.kind, one.queue], one.oldest_seconds)
    yield from (waiting, running, oldest)


def _failed() -> Metric:
    failed = GaugeMetricFamily(
        "dialeval_work_failed_last_day", "Rows that failed within 24 hours.", labels=["kind"]
    )
    for kind, count in work.failed_last_day():
        failed.add_metric([kind], count)
    return failed


def _done() -> Iterator[Metric]:
    done = GaugeMetricFamily(
        "dialeval_work_done_last_hour", "Rows that ended well within an hour.", labels=["kind"]
    )
    took = GaugeMetricFamily(
        "dialeval_work_seconds_last_hour", "Seconds that these took, together.", labels=["kind"]
    )
    for kind, count, seconds in work.done_last_hour():
        done.add_metric([kind], count)
        took.add_metric([kind], seconds)
    yield from (done, took)


def _ratings() -> Metric:
    ratings = CounterMetricFamily(
        "dialeval_ratings", "Ratings ever stored: the highest key given.", labels=["source"]
    )
    for source, count in work.ratings():
        ratings.add_metric([source], count)
    return ratings


def _judges() -> Iterator[Metric]:
    spent = work.judges()
    yield CounterMetricFamily(
        "dialeval_judge_calls", "Calls of judges that were paid for.", value=spent["calls"]
    )
    yield CounterMetricFamily(
        "dialeval_judge_tokens", "Tokens that judges spent.", value=spent["tokens"]
    )
    yield CounterMetricFamily(
        "dialeval_judge_cost_usd", "What judges spent, where prices are known.", value=spent["usd"]
    )


def _seen() -> Metric:
    seen = GaugeMetricFamily(
        "dialeval_worker_seen_seconds_ago",
        "Since a worker of the queue was seen; none where none ever was.", labels=["queue"],
    )  # fmt: skip
    now = timezone.now()
    for queue, at in presence.last_seen().items():
        if at is not None:
            seen.add_metric([queue], max(0.0, (now - at).total_seconds()))
    return seen


def _orphans() -> Iterator[Metric]:
    moved = CounterMetricFamily(
        "dialeval_orphaned_files",
        "Files without a row, or left by a killed process, and what became of them.",
        labels=["kind", "outcome"],
    )  # fmt: skip
    size = CounterMetricFamily(
        "dialeval_removed_bytes", "Bytes of those that were removed.", labels=["kind"]
    )
    refused = GaugeMetricFamily(
        "dialeval_orphaned_files_refused",
        "Files without a row that stay where they are: too many for one day to be right.",
        labels=["kind"],
    )
    for row in orphans.counts():
        for outcome in ("quarantined", "returned", "removed"):
            moved.add_metric([row.kind, outcome], getattr(row, outcome))
        size.add_metric([row.kind], row.removed_bytes)
        refused.add_metric([row.kind], row.refused)
    yield from (moved, size, refused)
