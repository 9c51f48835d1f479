"""Temporary folders that do not outlive their owner. No Django here.

A folder ``.dialeval-TOKEN`` lies beside what is being written, so that a rename puts the finished
work into place. Its owner, a process, holds a lock (flock) on ``.dialeval-TOKEN.owner``, which
names the folder. The kernel frees that lock when the process ends, however it ends, and in
whichever container it ran; a process id would say nothing to another container.
``remove_abandoned`` removes the folders whose lock is free.

On a site all owner files lie in DIALEVAL_HOME/tmp (``use``), so that one call finds folders
anywhere on the machine. Programs without a site keep them beside the folder, and look there first.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

log = logging.getLogger(__name__)

PREFIX, OWNER, LEASE = ".dialeval-", ".owner", ".lease"
REPLACED = "replaced"
UNREACHABLE_SECONDS = 30 * 24 * 3600
"""An owner file of a folder that this machine cannot see, such as another container's, stays so
long."""
ENDED_SECONDS = 24 * 3600
"""For so long ``has_ended`` tells of a lease; the row's own has run out long before."""
_NAME = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{16}}")
_owners: Path | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed. ``age`` in seconds, ``size`` in bytes."""

    path: Path
    age: float
    size: int


def use(owners: Path) -> None:
    """The folder of owner files, and of temporary folders that belong beside nothing."""
    global _owners
    _owners = owners


@contextmanager
def temporary_folder(beside: Path | None = None) -> Iterator[Path]:
    """An empty folder that only this user may open, on the file system of ``beside`` (a path whose
    folder is there), and gone at the end."""
    if beside is None:
        parent = _owners or Path(tempfile.gettempdir())
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    else:
        parent = beside.parent
    parent = parent.resolve()
    owners = _owners or parent
    if _owners is None:
        remove_abandoned(owners)
    owners.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{PREFIX}{token_hex(8)}"
    folder = parent / name
    owner, lock = os.getpid(), _locked(owners / f"{name}{OWNER}")
    try:
        os.write(lock, os.fsencode(folder))
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        if os.getpid() == owner:  # a process that was forked meanwhile has only borrowed it
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():  # else the next call tries again
                (owners / f"{name}{OWNER}").unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def lease_token() -> Iterator[str]:
    """A token for rows that this process leases. Until the end it holds a lock by which others on
    this machine know that it is at work (``has_ended``)."""
    assert _owners is not None, "only a site has leases"
    _owners.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = token_hex(16)
    path = _owners / f"{PREFIX}{token}{LEASE}"
    lock = _locked(path)
    try:
        yield token
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def has_ended(token: str) -> bool:
    """Whether the process with this ``lease_token`` was on this machine and was killed."""
    assert _owners is not None, "only a site has leases"
    try:
        lock = os.open(_owners / f"{PREFIX}{token}{LEASE}", os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def forget(token: str) -> None:
    """Remove what a process that has ended left of its ``lease_token``."""
    if _owners is not None:
        (_owners / f"{PREFIX}{token}{LEASE}").unlink(missing_ok=True)


def put_in_place(finished: Path, target: Path) -> None:
    """Gives ``finished``, which lies in a temporary folder beside ``target``, its name. A folder of
    that name gives way; where the process is killed between the two renames, ``remove_abandoned``
    gives the former folder its name back."""
    former = finished.parent / REPLACED / target.name
    if target.is_dir() and not target.is_symlink() and any(target.iterdir()):
        former.parent.mkdir()
        target.rename(former)
    try:
        os.replace(finished, target)
    except BaseException:
        if former.exists():
            former.rename(target)
        raise


def remove_abandoned(owners: Path | None = None) -> list[Removed]:
    """Removes the folders whose owners have ended, and tells of each in the log."""
    owners = owners or _owners
    removed = []
    for entry in sorted(owners.glob(f"{PREFIX}*{OWNER}")) if owners and owners.is_dir() else ():
        with suppress(FileNotFoundError):
            if (one := _collect(entry)) is not None:
                log.warning(
                    "removed %s: the process that wrote it ended early (%d bytes, %.0f s old)",
                    one.path, one.size, one.age,
                )  # fmt: skip
                removed.append(one)
    for entry in _owners.glob(f"{PREFIX}*{LEASE}") if _owners else ():
        token = entry.name.removeprefix(PREFIX).removesuffix(LEASE)
        with suppress(FileNotFoundError):
            if time.time() - entry.stat().st_mtime > ENDED_SECONDS and has_ended(token):
                entry.unlink()
    return removed


def size_and_change(path: Path) -> tuple[int, float]:
    """Bytes of all files, and when the last of them was written (seconds since 1970)."""
    size, changed = 0, 0.0
    for one in (path, *path.rglob("*")):
        with suppress(FileNotFoundError):
            found = one.lstat()
            changed = max(changed, found.st_mtime)
            size += 0 if one.is_dir() and not one.is_symlink() else found.st_size
    return size, changed


def _collect(entry: Path) -> Removed | None:
    if entry.lstat().st_uid != os.geteuid():
        return None
    lock = os.open(entry, os.O_RDWR | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None  # its owner is at work
        folder = Path(os.fsdecode(os.read(lock, 10_000)))
        if not _NAME.fullmatch(folder.name) or f"{folder.name}{OWNER}" != entry.name:
            entry.unlink()  # its owner ended before it had made the folder
            return None
        age = time.time() - os.fstat(lock).st_mtime
        if not folder.parent.is_dir():
            is_nested = any(_NAME.fullmatch(part) for part in folder.parent.parts)
            if is_nested or age > UNREACHABLE_SECONDS:
                entry.unlink()
            return None
        found = None
        if folder.is_dir() and not folder.is_symlink():
            for former in folder.glob(f"{REPLACED}/*"):
                if not (place := folder.parent / former.name).exists():
                    former.rename(place)
                    log.warning("put %s back: its replacement was not finished", place)
            found = Removed(folder, age, size_and_change(folder)[0])
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                log.warning("%s cannot be removed", folder)
                return None
        entry.unlink()
        return found
    finally:
        os.close(lock)


def _locked(path: Path) -> int:
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(lock).st_ino:
                return lock
        os.close(lock)  # another process came between the two calls, and removed it
