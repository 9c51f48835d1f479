"""Looking after submissions whose last run has ended. What silent workers had is reaped as of every
job."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from common.jobs.notifications import NOTIFICATIONS_PER_SWEEP
from leaderboard.challenges.actions.finalising import settle
from leaderboard.challenges.models import Submission
from workers.models import MetricRun


def settle_all() -> int:
    """Settle submissions whose runs have ended. Returns how many."""
    return sum(settle(pk) for pk in list(_scoring()[:NOTIFICATIONS_PER_SWEEP]))


def _scoring() -> QuerySet[Submission, int]:
    """First those without a run under way: hundreds that wait for one judge must not hide one that
    has ended."""
    at_work = [MetricRun.State.PENDING, MetricRun.State.RUNNING]
    under_way = Exists(MetricRun.objects.filter(system=OuterRef("system"), state__in=at_work))
    scoring = Submission.objects.filter(state=Submission.State.SCORING)
    return scoring.order_by(under_way.asc(), "scoring_at").values_list("pk", flat=True)
