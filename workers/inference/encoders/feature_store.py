"""Features computed from texts, remembered between processes and runs: one SQLite file that several
processes read and write, and that never outgrows what it may take.

An entry is a small float32 array under (namespace, text). The namespace says what made it: model
revision, layer, kind. Keys are 16 bytes, values bytes with a checksum. SQLite's write-ahead log
makes a write whole or nothing, whenever a process dies. A damaged file is set aside as
``features.sqlite.damaged`` and a new one begun. Whatever else goes wrong (no space, no rights, a
lock held too long) is logged, and the file left alone for a minute: a store that cannot be used
makes everything slower, never wrong.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from workers.inference import resources

log = logging.getLogger(__name__)
FILE_NAME = "features.sqlite"
_KEYS_A_QUERY = 500
_BUSY_SECONDS = 5.0
_PAUSE_SECONDS = 60.0
_FRESH_SECONDS = 600
"""An entry counts as just used for so long, so that reading it again writes nothing."""
_SHARE_OF_FILE = 0.85
"""Of the bytes allowed; the rest is for the write-ahead log."""
_SHARE_AFTER_CLEARING = 0.8
"""Of the file, once the entries that were not used for longest are gone: so clearing is rare."""
_SHARE_OF_WRITE = 0.04
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PAGE = 8192
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,
    used INTEGER NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entry_used ON entry (used);
"""
_SELECT = "SELECT key, id, used, checksum, value FROM entry WHERE key IN "


class FeatureFile:
    """In ``folder``, which is made. At most ``max_bytes`` with its log; an entry that was not read
    for longest goes first. Nothing is opened before it is used, and each process opens its own."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.path = folder / FILE_NAME
        self._file_bytes = int(max_bytes * _SHARE_OF_FILE)
        self._write_bytes = max(_PAGE, int(max_bytes * _SHARE_OF_WRITE))
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._process = os.getpid()
        self._of_parents: list[sqlite3.Connection | None] = []
        self._lock = threading.Lock()
        self._paused_until = 0.0

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those that are known and whole."""
        found: dict[bytes, bytes] = {}

        def query(connection: sqlite3.Connection) -> None:
            now = int(time.time())
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                stale = []
                for key, number, used, checksum, value in connection.execute(
                    f"{_SELECT}({','.join('?' * len(some))})", some
                ):
                    if zlib.crc32(value, zlib.crc32(key)) == checksum:
                        found[key] = value
                        if used < now - _FRESH_SECONDS:
                            stale.append((now, number))
                if stale:
                    with _transaction(connection):
                        connection.executemany("UPDATE entry SET used = ? WHERE id = ?", stale)

        self._attempt(query)
        return found

    def write(self, entries: Mapping[bytes, bytes]) -> None:
        """What is there under a key stays. In transactions of a small share of what the file may
        take."""

        def insert(connection: sqlite3.Connection) -> None:
            now = int(time.time())
            for part in self._parts(entries.items()):
                with _transaction(connection):
                    self._evict(connection, sum(len(value) for _, value in part))
                    connection.executemany(
                        "INSERT OR IGNORE INTO entry (key, used, checksum, value) VALUES (?, ?, "
                        "?, ?)",
                        [
                            (key, now, zlib.crc32(value, zlib.crc32(key)), value)
                            for key, value in part
                        ],
                    )
                # Free pages are used again; they go back to the disk only where the file was
                # allowed more before.
                if _bytes_of_file(connection) > self._file_bytes:
                    # Execute() stops after one page
                    connection.executescript("PRAGMA incremental_vacuum")

        self._attempt(insert)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _parts(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes]]]:
        """Entries up to the size of one write; one that is larger than that is not kept."""
        part: list[tuple[bytes, bytes]] = []
        size = 0
        for key, value in entries:
            if len(value) > self._write_bytes:
                continue
            if size + len(value) > self._write_bytes:
                yield part
                part, size = [], 0
            part.append((key, value))
            size += len(value)
        if part:
            yield part

    def _evict(self, connection: sqlite3.Connection, wanted: int) -> None:
        if _bytes_in_use(connection) + 1.2 * wanted <= self._file_bytes:
            return
        aim = self._file_bytes * _SHARE_AFTER_CLEARING - 1.2 * wanted
        while (used := _bytes_in_use(connection)) > aim:
            (entries,) = connection.execute("SELECT count(*) FROM entry").fetchone()
            if not entries:
                break
            some = max(1, int(entries * min(1.0, (used - aim) / used)))
            connection.execute(
                "DELETE FROM entry WHERE id IN (SELECT id FROM entry ORDER BY used, id LIMIT ?)",
                (some,),
            )

    def _attempt(self, work: Callable[[sqlite3.Connection], None]) -> None:
        # A connection does not survive a fork, and closing it here would disturb the parent's: it
        # is only kept.
        if self._process != os.getpid():
            self._of_parents.append(self._connection)
            self._connection, self._lock, self._process = None, threading.Lock(), os.getpid()
        with self._lock:
            if time.monotonic() < self._paused_until:
                return
            try:
                work(self._connected())
            except (sqlite3.Error, OSError) as error:
                if (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF in _DAMAGED:
                    self._set_aside(error)
                else:
                    log.warning(
                        "features are not remembered for %d s: %s: %s",
                        _PAUSE_SECONDS,
                        self.path,
                        error,
                    )
                    self._paused_until = time.monotonic() + _PAUSE_SECONDS

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._alone():
                connection = sqlite3.connect(
                    self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                self._connection = (
                    connection  # before anything can fail: what is set aside must be closed
                )
                self._inode = self.path.stat().st_ino
                connection.execute(f"PRAGMA page_size = {_PAGE}")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(
                    f"PRAGMA wal_autocheckpoint = {max(8, self._write_bytes // 2 // _PAGE)}"
                )
                connection.execute(f"PRAGMA journal_size_limit = {self._write_bytes}")
                connection.executescript(_SCHEMA)
        return self._connection

    def _set_aside(self, error: Exception) -> None:
        """Unless another process has done so: then there is a new file already."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with self._alone():
            try:
                if self.path.stat().st_ino != self._inode:
                    return
                for ending in ("-wal", "-shm"):
                    self.path.with_name(FILE_NAME + ending).unlink(missing_ok=True)
                self.path.replace(self.path.with_name(FILE_NAME + ".damaged"))
            except OSError as problem:
                log.warning("the damaged %s cannot be set aside: %s", self.path, problem)
                self._paused_until = time.monotonic() + _PAUSE_SECONDS
                return
        log.warning("%s is damaged (%s): set aside, a new one is begun", self.path, error)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process opens the file, or sets it aside, meanwhile."""
        with self.path.with_name("features.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _bytes_of_file(connection: sqlite3.Connection) -> int:
    (pages,), (size,) = (
        connection.execute(f"PRAGMA {what}").fetchone() for what in ("page_count", "page_size")
    )
    return int(pages * size)


def _bytes_in_use(connection: sqlite3.Connection) -> int:
    (free,), (size,) = (
        connection.execute(f"PRAGMA {what}").fetchone() for what in ("freelist_count", "page_size")
    )
    return _bytes_of_file(connection) - int(free * size)


_KEY_BYTES = 16
_OVERHEAD = 250
"""What an entry takes in memory beside its numbers."""


class FeatureStore:
    """``folder`` None: nothing is kept on disk, only up to ``memory_bytes`` in this process."""

    def __init__(
        self, folder: Path | None, max_bytes: int, memory_bytes: int = 256_000_000
    ) -> None:
        self._file = (
            FeatureFile(folder, max_bytes) if folder is not None and max_bytes > 0 else None
        )
        self._memory: LRUCache[bytes, bytes] = LRUCache(
            memory_bytes, lambda value: len(value) + _OVERHEAD
        )

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Those of ``keys`` that are known, as flat arrays that cannot be written to."""
        hashed = {key: _hash(namespace, key) for key in keys}
        found = {key: self._memory[hash_] for key, hash_ in hashed.items() if hash_ in self._memory}
        if self._file is not None and len(found) < len(hashed):
            on_disk = self._file.read([hash_ for key, hash_ in hashed.items() if key not in found])
            found |= {key: on_disk[hash_] for key, hash_ in hashed.items() if hash_ in on_disk}
            self._keep(on_disk.items())
        return {key: np.frombuffer(value, dtype=np.float32) for key, value in found.items()}

    def put_many(self, namespace: str, entries: Mapping[str, NDArray[np.float32]]) -> None:
        """What was there before under a key stays: equal inputs have equal features."""
        hashed = {
            _hash(namespace, key): np.asarray(values, np.float32).tobytes()
            for key, values in entries.items()
        }
        self._keep(hashed.items())
        if self._file is not None:
            self._file.write(hashed)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()

    def _keep(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        for hash_, value in entries:
            with suppress(ValueError):  # larger than the whole cache
                self._memory.setdefault(hash_, value)


def _hash(namespace: str, key: str) -> bytes:
    text = f"{len(namespace)}:{namespace}{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_KEY_BYTES).digest()


def feature_store() -> FeatureStore:
    """This process's store, as ``resources`` say."""
    at_hand = resources.at_hand()
    return _store(at_hand.feature_folder, at_hand.feature_bytes)


@lru_cache(maxsize=2)
def _store(folder: Path | None, max_bytes: int) -> FeatureStore:
    return FeatureStore(folder, max_bytes)
