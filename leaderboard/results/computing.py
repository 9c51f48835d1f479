"""From the row of an analysis to its answer: claim it, compute it, store it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError
from django.db.models import Max

from annotations.models import CorpusVersion
from common import clock
from common.jobs.models import Claim
from leaderboard.models import Analysis
from leaderboard.results.answer_cache import whole_answer
from leaderboard.results.kinds import all_kinds, kind_of
from leaderboard.results.look import is_of, look, question_of, wanted_of
from workers.jobs import FailJob, LeaseLost, RetryJob, works_on
from workers.runs.presence import LOOK_SECONDS

T = TypeVar("T")


@works_on(Analysis.objects.defer("answer").select_related("version__corpus"))
def compute(row: Analysis, claim: Claim) -> bool:
    """Compute one.

    The stamp is read before the data: what changes in between makes the answer out of date, never
    wrongly present. What cuts it short is no fault of the statistic, and may be gone in a moment.
    """
    kind = all_kinds().get(row.kind)
    if kind is None:
        raise FailJob(f"this worker knows no statistic {row.kind!r}: is it of the site's release?")
    owned = Analysis.objects.owned(claim)
    try:
        wanted = wanted_of(kind, row.version, row.parameters)
        if not owned.renew(tried=wanted.as_text):
            raise LeaseLost
        started = time.perf_counter()
        answer = kind.to_json(kind.compute(row.version, **row.parameters))
        seconds = time.perf_counter() - started
        # Nothing is stored where what the data say was withdrawn meanwhile
        return bool(
            owned.finish(
                answer=json.loads(answer),
                stamp=wanted.stamp,
                made_by=wanted.made_by,
                seconds=seconds,
                computed_at=clock.now(),
            )
        )
    except (OperationalError, InterfaceError, MemoryError, ConnectionError) as problem:
        raise RetryJob(f"{type(problem).__name__}: {problem}") from problem


def answer_of(version: CorpusVersion, kind: Callable[..., T] | str, **parameters: Any) -> T:
    """The answer for the present data: read where it is stored, else computed in this process, and
    stored where nobody else is at it. For workers and commands, whose answers are made from others;
    a page calls ``look``."""
    registered_kind = kind_of(kind)
    parameters = registered_kind.resolved(version, parameters)
    wanted = wanted_of(registered_kind, version, parameters)
    row = _row(version, registered_kind.name, parameters)
    if row is None or not is_of(row, wanted):
        found = look(version, kind, **parameters)
        if found.row is not None:
            compute(found.row)
        row = _row(version, registered_kind.name, parameters)
    if row is not None and row.computed_at is not None and is_of(row, wanted):
        stored: T | None = whole_answer(registered_kind, row.pk, row.computed_at)
        if stored is not None:
            return stored
    text = registered_kind.to_json(registered_kind.compute(version, **parameters))
    computed: T = registered_kind.from_json(text)
    return computed


def _row(version: CorpusVersion, kind: str, parameters: dict[str, Any]) -> Analysis | None:
    same = Analysis.objects.filter(version=version, kind=kind, question=question_of(parameters))
    found: Analysis | None = same.defer("answer").first()
    return found


BACKOFF_OF_OLDER_ANSWERS = 10
"""Between runs one of older data is made anew when none was made for ten times as long as it took:
where nothing but runs is at hand for an hour, boards follow, and take a tenth of a process, however
many they are."""


def compute_longest_waiting() -> bool:
    """The one that has waited longest, if it has for a moment: its own message may be far behind in
    a queue. Those without any answer, for which somebody waits, come before those of which an older
    one is shown."""
    now = clock.now()
    waiting = Analysis.objects.filter(
        state=Analysis.State.PENDING, waits_since__lt=now - timedelta(seconds=LOOK_SECONDS)
    ).order_by("waits_since", "pk")
    missing = waiting.filter(answer__isnull=True).values_list("pk", flat=True).first()
    if missing is not None:
        return compute(missing)
    older = waiting.values_list("pk", "seconds").first()
    return older is not None and _has_rested(now, older[1] or 0.0) and compute(older[0])


def _has_rested(now: datetime, seconds: float) -> bool:
    last = Analysis.objects.aggregate(last=Max("computed_at"))["last"]
    return last is None or now - last > timedelta(seconds=BACKOFF_OF_OLDER_ANSWERS * seconds)


def compute_waiting(versions: Iterable[CorpusVersion] | None = None) -> list[Analysis]:
    """Compute in this process all that waits, of these versions or of all; what came of each,
    without the answers."""
    waiting = Analysis.objects.filter(state=Analysis.State.PENDING)
    if versions is not None:
        waiting = waiting.filter(version__in=list(versions))
    done = []
    for pk in list(waiting.order_by("waits_since", "pk").values_list("pk", flat=True)):
        compute(pk)
        done.append(pk)
    return list(
        Analysis.objects.defer("answer")
        .select_related("version__corpus")
        .filter(pk__in=done)
        .order_by("pk")
    )
