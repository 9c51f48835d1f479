"""Looking after submissions: those of silent workers, those whose hint was lost, those whose last
run has ended."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotations import clock
from annotations.jobs.leases import has_ended
from annotations.jobs.notifications import NOTIFICATIONS_PER_SWEEP
from leaderboard.challenges.actions.ending import end
from leaderboard.challenges.actions.finalising import settle
from leaderboard.challenges.actions.telling import log, queue_of, send_hints
from leaderboard.challenges.models import OWNED, Submission
from workers.claims import WAITS_ANEW, to_enqueue
from workers.models import MetricRun

State = Submission.State


@dataclass(frozen=True, slots=True)
class Swept:
    given_back: int
    given_up: int
    hinted: int
    settled: int


def sweep() -> Swept:
    """Give back the submissions of silent workers, give up those tried too often, tell workers of
    those that wait, settle those whose runs have ended."""
    now = clock.now()
    silent = Submission.objects.filter(has_ended(now), state__in=OWNED)
    given_up = given_back = 0
    for pk, attempts in list(silent.values_list("pk", "attempts")):
        if attempts >= settings.MAX_ATTEMPTS:
            given_up += _give_up(pk)
        else:
            given_back += _give_back(pk)
    given_up += sum(_give_up_waiting(pk) for pk in list(_used_up().values_list("pk", flat=True)))
    waiting = Submission.objects.filter(state=State.RECEIVED)
    hinted = send_hints((pk, queue_of(kind)) for pk, kind in to_enqueue(waiting, now, "pk", "kind"))
    locked = sum(settle(pk) for pk in list(_scoring()[:NOTIFICATIONS_PER_SWEEP]))
    return Swept(given_back, given_up, hinted, locked)


def _scoring() -> QuerySet[Submission, int]:
    """First those without a run under way: hundreds that wait for one judge must not hide one that
    has ended."""
    at_work = [MetricRun.State.PENDING, MetricRun.State.RUNNING]
    under_way = Exists(MetricRun.objects.filter(system=OuterRef("system"), state__in=at_work))
    scoring = Submission.objects.filter(state=State.SCORING)
    return scoring.order_by(under_way.asc(), "scoring_at").values_list("pk", flat=True)


def _silent(pk: int) -> QuerySet[Submission]:
    return Submission.objects.filter(has_ended(clock.now()), pk=pk, state__in=OWNED)


def _give_back(pk: int) -> bool:
    with transaction.atomic():
        changed = _silent(pk).update(state=State.RECEIVED, **WAITS_ANEW)
        if changed:
            log(pk, "The worker stopped without a word; another one starts over.", "warning")
    return bool(changed)


def _give_up(pk: int) -> bool:
    error = (
        f"the worker stopped without a word {settings.MAX_ATTEMPTS} times; the file may need more "
        "memory or time"
    )
    with transaction.atomic():
        return end(
            _silent(pk),
            State.FAILED,
            f"Failed: {error}. It is not counted as an attempt.",
            error=error,
        )


def _used_up() -> QuerySet[Submission]:
    """Waiting with no attempt left, as when MAX_ATTEMPTS was lowered: no worker would ever claim
    them."""
    return Submission.objects.filter(state=State.RECEIVED, attempts__gte=settings.MAX_ATTEMPTS)


def _give_up_waiting(pk: int) -> bool:
    error = f"it was tried {settings.MAX_ATTEMPTS} times"
    with transaction.atomic():
        return end(
            _used_up().filter(pk=pk),
            State.FAILED,
            f"Failed: {error}. It is not counted as an attempt.",
            error=error,
        )
