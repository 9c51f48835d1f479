"""When the task that this process is at has to end; work that can be cut short anywhere stops in
time by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_begun_at: float | None = None
_seconds = 0.0


@contextmanager
def task_of(seconds: float) -> Iterator[None]:
    """A worker's process does one task at a time."""
    global _begun_at, _seconds
    _begun_at, _seconds = time.monotonic(), seconds
    try:
        yield
    finally:
        _begun_at = None


def is_within_a_task() -> bool:
    """A command that computes by itself has as much time as it takes, and is in nobody's way."""
    return _begun_at is not None


def used() -> float:
    """The share of the task's time that is over; 0 outside a task."""
    return 0.0 if _begun_at is None else (time.monotonic() - _begun_at) / _seconds
