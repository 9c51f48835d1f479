"""Files that no row names, and leftovers of processes that were killed: the one place that removes
what nobody asked to remove.

A file without a row is moved to ``quarantine/DATE/`` of the storage after its kind's grace, comes
back by itself when a row names it, and is removed after QUARANTINE_DAYS. Where more than a small
share would go in a day nothing is moved: more likely the database is the wrong one, or lost rows.
Every move and removal is logged, and counted for monitoring.

Nothing is touched where the files belong to another database (``site_identity``).
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError
from django.db.models import F
from django.utils import timezone

from annotations import site_identity
from annotations.corpora import partial_uploads, pending_uploads
from annotations.models import OrphanCount
from annotations.site_identity import FileKind
from common import storage, temporary
from common.storage import StoredFile

log = logging.getLogger(__name__)

QUARANTINE = "quarantine"
QUARANTINE_DAYS = 7
FEW, SMALL_SHARE = 10, 0.1
"""More than both in a day are not quarantined."""
EVERY_SECONDS = 600.0
INCOMING_SECONDS = 3600
"""Bytes of a sender who vanished."""
TEMPORARY, INCOMING = "temporary", "incoming"
"""Kinds of what is counted, beside those of rows."""
LEFT_BY_OLDER = (
    "exports/*",
    ".restoring-*",
    "models/.part-*",
    "fetched/.fetching-*",
    "fetched/*/.fetching-*",
    "training/*/.writing-*",
    "trained/.writing-*",
)
"""In DIALEVAL_HOME: temporary files of dialeval before 0.3, which had no owner."""
LEFT_BY_OLDER_SECONDS = 24 * 3600
_looked_at = float("-inf")


@dataclass(frozen=True, slots=True)
class Collected:
    """How many files. ``refused``: they were too many, and stay where they are."""

    kind: str
    quarantined: int = 0
    returned: int = 0
    removed: int = 0
    removed_bytes: int = 0
    refused: int = 0


def collect_if_due() -> None:
    """Every ten minutes in each process of a worker: it looks at its own disk, too."""
    global _looked_at
    if time.monotonic() - _looked_at < EVERY_SECONDS:
        return
    _looked_at = time.monotonic()
    try:
        collect()
    except site_identity.ForeignFiles as refusal:
        log.error("nothing is removed: %s", refusal)
    except OSError as fault:  # the storage is away, or the disk is full
        log.warning("files without a row are looked for another time: %s", fault)


def collect(now: float | None = None, force: bool = False) -> list[Collected]:
    """One round over all kinds. ``force``: however many there are. Raises ``ForeignFiles``,
    ``StorageAway``, ``OSError``."""
    site_identity.check()
    now = time.time() if now is None else now
    partial_uploads.forget_expired(datetime.fromtimestamp(now, UTC))
    # Of senders who vanished, and of web servers that were killed. They are half a file, and
    # whoever sent one has been told so, or sends it again: there is nothing to quarantine.
    folder = Path(settings.UPLOAD_FOLDER) / "incoming"
    incoming = folder.iterdir() if folder.is_dir() else ()
    older = (path for pattern in LEFT_BY_OLDER for path in Path(settings.HOME).glob(pattern))
    collected = [
        _removed(INCOMING, incoming, now, INCOMING_SECONDS, "no submission took it in"),
        _removed(TEMPORARY, older, now, LEFT_BY_OLDER_SECONDS, "an older dialeval left it"),
        _removed_from_storage(
            storage.PROBES, now, INCOMING_SECONDS, "it was a test of the storage"
        ),
        _removed_from_storage(
            pending_uploads.FOLDER,
            now,
            pending_uploads.MAX_AGE,
            "nobody imported it",
            pending_uploads.needed(),
        ),
    ]
    for kind in site_identity.kinds:
        if kind.grace_seconds is not None:
            collected.append(_of_kind(kind, now, force))
    for one in collected:
        _count(one)
    return [collect_temporary(), *collected]


def counts() -> list[OrphanCount]:
    """Of every kind, also of those of which there was nothing yet."""
    known = {row.kind: row for row in OrphanCount.objects.all()}
    collected = [kind.folder for kind in site_identity.kinds if kind.grace_seconds is not None]
    return [
        known.get(kind) or OrphanCount(kind=kind)
        for kind in sorted({TEMPORARY, INCOMING, *collected})
    ]


def collect_temporary() -> Collected:
    """What processes of this machine left that were killed. Asks nothing of the database unless
    there was something."""
    found = temporary.remove_abandoned()
    done = Collected(TEMPORARY, removed=len(found), removed_bytes=sum(one.size for one in found))
    if found:
        _count(done)
    return done


def _of_kind(kind: FileKind, now: float, force: bool) -> Collected:
    # Before the rows: what comes from here on is new
    files = list(storage.listed(kind.folder))
    today = datetime.fromtimestamp(now, UTC).date()
    inside = list(_quarantined(kind))
    known = kind.known([file.name for file in files] + [name for _, name, _ in inside])

    returned = removed = removed_bytes = moved_today = 0
    for day, name, file in inside:
        place = f"{QUARANTINE}/{file.name}"
        with suppress(FileNotFoundError, FileExistsError):  # another worker was here
            if name in known:
                storage.move(place, f"{kind.folder}/{name}")
                log.warning("%s/%s is back from the quarantine: a row names it", kind.folder, name)
                returned += 1
            elif day < today - timedelta(days=QUARANTINE_DAYS):
                storage.remove(place)
                _log_removal(
                    f"{kind.folder}/{name}",
                    f"no row named it for {QUARANTINE_DAYS} days",
                    file,
                    now,
                )
                removed, removed_bytes = removed + 1, removed_bytes + file.size
            else:
                moved_today += day == today

    assert kind.grace_seconds is not None
    orphans = [
        file for file in files if file.written < now - kind.grace_seconds and file.name not in known
    ]
    few = max(FEW, SMALL_SHARE * (_entries(files) + moved_today))
    if orphans and _entries(orphans) + moved_today > few and not force:
        log.error(
            "%d of %d files of %s have no row in this database: too many to be right, nothing was "
            "moved. Is it the right database? If so, run manage.py quarantine_orphans --force",
            len(orphans),
            len(files),
            kind.folder,
        )
        return Collected(kind.folder, 0, returned, removed, removed_bytes, len(orphans))
    quarantined = 0
    for file in orphans:
        with suppress(FileNotFoundError, FileExistsError):
            storage.move(
                f"{kind.folder}/{file.name}", f"{QUARANTINE}/{today}/{kind.folder}/{file.name}"
            )
            log.warning(
                "%s/%s is in quarantine for %d days: no row names it (%d bytes, %.0f s old)",
                kind.folder, file.name, QUARANTINE_DAYS, file.size, now - file.written,
            )  # fmt: skip
            quarantined += 1
    return Collected(kind.folder, quarantined, returned, removed, removed_bytes)


def _quarantined(kind: FileKind) -> Iterator[tuple[date, str, StoredFile]]:
    """(day on which it was moved, its name within its kind, the file)"""
    for file in storage.listed(QUARANTINE):
        day, _, rest = file.name.partition("/")
        folder, _, name = rest.partition("/")
        with suppress(ValueError):
            if folder == kind.folder and name:
                yield date.fromisoformat(day), name, file


def _entries(files: Iterable[StoredFile]) -> int:
    """A model of many files counts once."""
    return len({file.name.partition("/")[0] for file in files})


def _removed(kind: str, paths: Iterable[Path], now: float, grace: float, why: str) -> Collected:
    count = total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            size, changed = temporary.size_and_change(path)
            if changed >= now - grace:
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            _log_removal(f"{kind}/{path.name}", why, StoredFile(path.name, changed, size), now)
            count, total = count + 1, total + size
    return Collected(kind, removed=count, removed_bytes=total)


def _removed_from_storage(
    folder: str, now: float, grace: float, why: str, needed: Collection[str] = ()
) -> Collected:
    """Files of a folder of the storage that are soon of no use, except those ``needed``."""
    left = [
        file
        for file in storage.listed(folder)
        if file.written < now - grace and file.name not in needed
    ]
    for file in left:
        storage.remove(f"{folder}/{file.name}")
        _log_removal(f"{folder}/{file.name}", why, file, now)
    return Collected(TEMPORARY, removed=len(left), removed_bytes=sum(file.size for file in left))


def _log_removal(name: str, why: str, file: StoredFile, now: float) -> None:
    log.warning("removed %s: %s (%d bytes, %.0f s old)", name, why, file.size, now - file.written)


def _count(one: Collected) -> None:
    """For monitoring. Where it cannot be written, the log has it."""
    counts = {
        "quarantined": one.quarantined, "returned": one.returned,
        "removed": one.removed, "removed_bytes": one.removed_bytes,
    }  # fmt: skip
    try:
        row = OrphanCount.objects.filter(kind=one.kind)
        if (
            any(counts.values())
            or row.exclude(refused=one.refused).exists()
            or (one.refused and not row.exists())
        ):
            OrphanCount.objects.get_or_create(kind=one.kind)
            added = {name: F(name) + count for name, count in counts.items()}
            row.update(**added, refused=one.refused, updated_at=timezone.now())
    except DatabaseError as problem:
        log.warning("removals are not counted: %s", problem)
