"""What a site needs to work, each looked at for two seconds at most: database, migrations, broker,
folder of uploads, and whose files these are.

Reasons are our own words and the kind of an error, never its text: a driver's may name hosts and
users.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotations import rates, site_identity
from annotations.models import OrphanCount
from common.read_only import is_busy, refuses_writes, takes_writes
from dialeval_site.config.folder_broker import SCHEME
from dialeval_site.config.storage import storage_answers
from workers.runs import presence

log = logging.getLogger(__name__)

LONGEST_SECONDS = 2.0
SEEN_LATELY_SECONDS = 60


class NotReady(Exception):
    """What is missing, in words for everybody."""


@dataclass
class _Check:
    """One check under way, in a thread of its own: a database that does not answer holds up nobody
    who asks."""

    check: Callable[[], Any]
    begun: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    ms: float = 0.0
    found: Any = None
    reason: str = ""

    def run(self) -> None:
        try:
            self.found = self.check()
        except NotReady as problem:
            self.reason = str(problem)
        except Exception as problem:  # drivers have errors of their own
            log.warning("not ready: %s (%s)", type(problem).__name__, problem)
            self.reason = f"it does not answer ({type(problem).__name__})"
        finally:
            self.ms = (time.monotonic() - self.begun) * 1000
            connections.close_all()
            self.done.set()


_under_way: dict[str, _Check] = {}
_lock = threading.Lock()


def checked() -> dict[str, Any]:
    """``{"status": "ready" | "not ready", "checks": {name: {"ok", "ms", "reason"}}, "workers":
    {queue: …}}``"""
    looks = {name: _begun(name, check) for name, check in {**CHECKS, "workers": _workers}.items()}
    deadline = time.monotonic() + LONGEST_SECONDS
    for look in looks.values():
        look.done.wait(max(0.0, deadline - time.monotonic()))
    checks = {name: _as_json(looks[name]) for name in CHECKS}
    return {
        "status": "ready" if all(one["ok"] for one in checks.values()) else "not ready",
        "version": settings.VERSION,
        "checks": checks,
        "workers": looks["workers"].found or {},
    }


def _begun(name: str, check: Callable[[], Any]) -> _Check:
    """A look that still waits is waited for, not begun beside it: a dead database gets one thread,
    not one a second."""
    with _lock:
        look = _under_way.get(name)
        if look is None or look.done.is_set():
            look = _under_way[name] = _Check(check)
            threading.Thread(target=look.run, name=f"ready: {name}", daemon=True).start()
        return look


def _as_json(check: _Check) -> dict[str, Any]:
    if check.done.is_set():
        # A check that is well may have something to say, too.
        return {
            "ok": not check.reason,
            "ms": round(check.ms, 1),
            "reason": check.reason or check.found or "",
        }
    waited = time.monotonic() - check.begun
    return {"ok": False, "ms": round(waited * 1000, 1), "reason": f"no answer for {waited:.0f} s"}


READ_ONLY = "it takes no writes: it is read-only, or its disk is full"
WRITE_SECONDS = 10
AN_HOUR = 3600
_written_at: float | None = None


def _database() -> None:
    """A query each time, a write every ten seconds: readiness is asked for every second, by
    several. On SQLite a writer who is at work for long, such as an import, shows that it can be
    written."""
    global _written_at
    connection = connections["default"]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SHOW transaction_read_only")
            if cursor.fetchone() == ("on",):
                raise NotReady(READ_ONLY)
        else:
            cursor.execute("PRAGMA busy_timeout = 500")
            cursor.fetchall()
    if _written_at is not None and time.monotonic() - _written_at < WRITE_SECONDS:
        return
    _written_at = None
    try:
        rates.counted("readiness", "", AN_HOUR)
    except DatabaseError as problem:
        if refuses_writes(problem):
            raise NotReady(READ_ONLY) from problem
        if not is_busy(problem):
            raise
    takes_writes()
    _written_at = time.monotonic()


def _migrations() -> None:
    """What ``manage.py migrate --check`` asks."""
    executor = MigrationExecutor(connections["default"])
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        first = waiting[0][0]
        raise NotReady(
            f"{len(waiting)} migrations are to be applied, first {first.app_label}.{first.name}"
        )


def _broker() -> None:
    """The folder of one machine is made when it is first needed."""
    if settings.CELERY_BROKER_URL.startswith(f"{SCHEME}:"):
        settings.BROKER_FOLDER.mkdir(parents=True, exist_ok=True)
        return
    with current_app.connection_for_write(connect_timeout=LONGEST_SECONDS) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=LONGEST_SECONDS)


def _uploads() -> None:
    """What comes is written to a folder of this machine, and then kept in the storage that workers
    read, too."""
    folder = settings.UPLOAD_FOLDER / "incoming"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"readiness-{threading.get_ident()}"
        probe.write_bytes(b"1")
        probe.unlink()
    except OSError as problem:
        raise NotReady(f"the folder of uploads cannot be written ({problem.strerror})") from problem
    if not storage_answers():
        raise NotReady("the storage of uploads takes no file")


def _files() -> str:
    """Not those of another database; and whether there are too many without a row to be put into
    quarantine."""
    try:
        site_identity.unclaimed_places(site_identity.identity())
    except site_identity.ForeignFiles as refusal:
        raise NotReady(str(refusal)) from refusal
    refused = (
        OrphanCount.objects.filter(refused__gt=0).order_by("kind").values_list("kind", "refused")
    )
    return "; ".join(
        f"{count} files of {kind} have no row, too many to be right" for kind, count in refused
    )


CHECKS: Mapping[str, Callable[[], Any]] = {
    "database": _database,
    "migrations": _migrations,
    "broker": _broker,
    "uploads": _uploads,
    "files": _files,
}


def _workers() -> dict[str, Any]:
    """When a worker of each queue was last seen. No reason to send visitors away: pages work
    without one."""
    now = timezone.now()
    return {
        queue: {
            "seen_seconds_ago": None if seen is None else round((now - seen).total_seconds()),
            "reason": _worker_text(seen, now),
        }
        for queue, seen in presence.last_seen().items()
    }


def _worker_text(seen: Any, now: Any) -> str:
    if seen is None:
        return "no worker was ever seen"
    silent = (now - seen).total_seconds()
    return "" if silent < SEEN_LATELY_SECONDS else f"no worker for {silent:.0f} s"
