"""Answers are made anew when their data have changed, whether or not somebody looks at that
moment."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q

from common import clock
from leaderboard.models import Analysis
from leaderboard.results import rows
from leaderboard.results.kinds import REFRESHED_FOR, all_kinds
from leaderboard.results.look import is_of, wanted_of
from workers.models import MetricRun

WATCHED = timedelta(minutes=10)
"""While metric runs of a corpus are under way only what somebody has before him follows them; the
rest waits for their end."""
TAKEN_SOON = timedelta(hours=1)
"""A run that has waited for longer may wait for ever."""
RENEWED_AT_ONCE = 20
CHECKED_AT_ONCE = 2_000


def renew() -> int:
    """Ask workers for what is out of date; returns how many that are."""
    now = clock.now()
    at_rest = Analysis.objects.filter(
        state__in=[Analysis.State.DONE, Analysis.State.FAILED], asked_at__gt=now - REFRESHED_FOR
    )
    known = (
        at_rest.defer("answer", "error")
        .select_related("version")
        .order_by("-asked_at")[:CHECKED_AT_ONCE]
    )
    due, gone = [], []
    busy = versions_with_runs()
    for row in known:
        if _may_wait(row, row.version_id in busy, now):
            continue
        try:
            wanted = wanted_of(all_kinds()[row.kind], row.version, row.parameters)
            is_due = not is_of(row, wanted) and row.tried != wanted.as_text
        except ObjectDoesNotExist:
            gone.append(row.pk)
            continue
        if is_due:
            due.append(row.pk)
        if len(due) == RENEWED_AT_ONCE:
            break
    rows.forget(gone)
    return rows.wait_for_worker(due) if due else 0


def versions_with_runs() -> set[int]:
    """Whose numbers will be others soon. Not where runs wait that nobody takes (of a queue without
    a worker), nor for a withheld system's, which is in no statistic of its corpus."""
    at_work = Q(state=MetricRun.State.RUNNING)
    about_to_be = Q(state=MetricRun.State.PENDING, created_at__gt=clock.now() - TAKEN_SOON)
    found = MetricRun.objects.filter(at_work | about_to_be, system__withheld=False)
    return set(found.values_list("system__version_id", flat=True).distinct())


def _may_wait(row: Analysis, runs_go_on: bool, now: datetime) -> bool:
    kind = all_kinds().get(row.kind)
    unseen = now - row.asked_at
    if kind is None or unseen > kind.refreshed_for:
        return True
    if row.computed_at is None and row.finished_at is None:
        return True  # it was dropped, and nobody has looked since
    return (runs_go_on and unseen > WATCHED) or not rows.is_rested(row, now)
