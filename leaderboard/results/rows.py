"""Every write to stored statistics but for a worker's: asked for, dropped, forgotten."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count

from annotations.models import CorpusVersion
from common import clock
from common.jobs.models import NO_LEASE
from common.read_only import optional_write
from leaderboard.models import Analysis
from leaderboard.results.kinds import kinds_of_pairs

log = logging.getLogger(__name__)

VIEW_NOTED_EVERY = timedelta(minutes=1)
"""Looks are noted no more often: a page that is read a thousand times an hour is not written as
often."""
BACKOFF, MIN_BACKOFF = 5, timedelta(seconds=2)
"""An answer that took a second is left to stand for five while its data go on changing: a hundred
metric runs that end one after the other make it anew a few times, not a hundred."""
LOCK_MILLISECONDS = 200
"""A page waits no longer for SQLite's one writer. It asks again in a moment."""

PAIRS_AT_A_TIME = 20
"""Whoever follows every link to two systems asks for thousands of comparisons. So many wait at a
time; what is asked for beside them is not noted, and whoever looks again asks again. So nobody else
waits long for a worker."""
PAIRS_CACHED = 500
"""Of each corpus version; what has not been looked at for longest goes."""

State = Analysis.State


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which state of the data, and which code, an answer must be of."""

    stamp: str
    made_by: str

    @property
    def as_text(self) -> str:
        return f"{self.made_by}|{self.stamp}"


# --- asking for one -------------------------------------------------------------------------------


def ask(
    version: CorpusVersion,
    kind: str,
    question: str,
    parameters: Mapping[str, Any],
    row: Analysis | None,
    wanted: Wanted,
) -> None:
    """Make sure that a worker will compute it, once, and note that somebody looked. ``row``: as it
    was just read. A database that takes no writes just now is no error: whoever looks again asks
    again."""
    with _no_long_wait(), optional_write(f"asking for the {kind} of {version}"):
        if row is not None and must_wait(row, wanted):
            _record_view(row)
        elif _is_one_too_many(kind):
            log.info(
                "%s comparisons wait: the %s of %s is not noted yet", PAIRS_AT_A_TIME, kind, version
            )
        elif row is None:
            _make(version, kind, question, parameters)
        else:
            wait_for_worker([row.pk], asked_at=clock.now())


def _is_one_too_many(kind: str) -> bool:
    pairs = kinds_of_pairs()
    if kind not in pairs:
        return False
    waiting = Analysis.objects.filter(kind__in=pairs, state__in=[State.PENDING, State.RUNNING])
    return waiting.count() >= PAIRS_AT_A_TIME


def must_wait(row: Analysis, wanted: Wanted) -> bool:
    """Whether there is nothing to ask for: it is at work, it failed on the same data, or the last
    answer is so young that it may stand for a while."""
    if row.state in (State.PENDING, State.RUNNING):
        return True
    if row.state == State.FAILED and row.tried == wanted.as_text:
        return True
    return not is_rested(row, clock.now())


def is_rested(row: Analysis, now: datetime) -> bool:
    if row.finished_at is None:
        return True
    rest = max(MIN_BACKOFF, timedelta(seconds=BACKOFF * (row.seconds or 0)))
    return abs(now - row.finished_at) >= rest  # of the future where a clock was set back


def record_view(row: Analysis) -> None:
    """Once a minute at most."""
    if not _deserves_a_note(row):
        return
    with _no_long_wait(), optional_write("noting that an analysis was looked at"):
        _record_view(row)


def _record_view(row: Analysis) -> None:
    """A row that a worker is just writing is passed over: three megabytes of answer are written for
    a third of a second, and no page waits for that to leave a note."""
    if not _deserves_a_note(row):
        return
    free = Analysis.objects.select_for_update(skip_locked=True).filter(pk=row.pk)
    keys = list(free.values_list("pk", flat=True))
    Analysis.objects.filter(pk__in=keys).update(asked_at=clock.now())


def _deserves_a_note(row: Analysis) -> bool:
    return clock.now() - row.asked_at > VIEW_NOTED_EVERY


def _make(version: CorpusVersion, kind: str, question: str, parameters: Mapping[str, Any]) -> None:
    """Of several who look at once one makes the row; a version that was deleted meanwhile gets
    none."""
    with transaction.atomic():
        if not CorpusVersion.objects.filter(pk=version.pk).exists():
            return
        row = Analysis(version=version, kind=kind, question=question, parameters=dict(parameters))
        Analysis.objects.bulk_create([row], ignore_conflicts=True)
        same = Analysis.objects.filter(
            version=version, kind=kind, question=question, hinted_at__isnull=True
        )
        waiting = same.filter(state=State.PENDING)
        Analysis.objects.notify_on_commit(*waiting.values_list("pk", flat=True))


def wait_for_worker(row_ids: Iterable[int], **changes: Any) -> int:
    """Rows that are at rest, done or failed, wait for a worker; returns how many that were."""
    with transaction.atomic():
        at_rest = Analysis.objects.filter(
            pk__in=list(row_ids), state__in=[State.DONE, State.FAILED]
        )
        keys = list(at_rest.values_list("pk", flat=True))
        still = Analysis.objects.filter(pk__in=keys, state__in=[State.DONE, State.FAILED])
        count = still.wait(attempts=0, waits_since=clock.now(), **changes)
        Analysis.objects.notify_on_commit(*keys)
    return count


def try_again(row_id: int) -> int:
    """Whether or not the data have changed since it failed."""
    return wait_for_worker(
        Analysis.objects.filter(pk=row_id, state=State.FAILED).values_list("pk", flat=True),
        error="",
    )


@contextmanager
def _no_long_wait() -> Iterator[None]:
    """SQLite waits half a minute for its writer, which is right for a worker and wrong for a
    page."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (before,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_MILLISECONDS}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {int(before)}")


# --- what may no longer be shown ------------------------------------------------------------------


def drop(version_ids: Iterable[int], **which: Any) -> None:
    """Forget the answers of these versions: something that they hold may be seen no longer, not
    even while new ones are computed. Call it in the transaction of the write that withdraws it.

    Whoever computes one at this moment loses it. Once more after the commit, for a look in between
    may have had one made from data of before.
    """
    versions = list(version_ids)
    with transaction.atomic():
        _drop(versions, which)
        transaction.on_commit(lambda: _drop(versions, which))


def _drop(versions: list[int], which: Mapping[str, Any]) -> None:
    nothing = {
        "answer": None,
        "stamp": "",
        "computed_at": None,
        "finished_at": None,
        "tried": "",
        "error": "",
    }
    rows = Analysis.objects.filter(version__in=versions, **which)
    # One that waits goes on waiting; all others wait until they are looked at, for a drop may meet
    # thousands of them.
    rows.filter(state=State.PENDING).update(**nothing)
    rows.exclude(state=State.PENDING).update(
        state=State.DONE, attempts=0, **NO_LEASE, hinted_at=None, hints=0, **nothing
    )


def forget(row_ids: Iterable[int]) -> None:
    """Rows about something that was deleted."""
    Analysis.objects.filter(pk__in=list(row_ids)).delete()


def forget_pairs() -> int:
    """Those beyond ``PAIRS_CACHED`` of each corpus version, whatever their state: who wants them
    asks again. Returns how many went."""
    pairs = Analysis.objects.filter(kind__in=kinds_of_pairs())
    of_version = (
        pairs.values("version").annotate(stored=Count("pk")).filter(stored__gt=PAIRS_CACHED)
    )
    gone = 0
    for version in of_version.values_list("version", flat=True):
        in_order = (
            pairs.filter(version=version).order_by("-asked_at", "-pk").values_list("pk", flat=True)
        )
        gone += Analysis.objects.filter(pk__in=list(in_order[PAIRS_CACHED:])).delete()[0]
    return gone
