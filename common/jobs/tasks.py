"""The one way a task is declared: acknowledged late, given back when its worker dies, bounded in
time.

A task may be delivered twice or never; the row it points at decides what happens. Work that can be
cut short anywhere asks how much of the task's time is over, and stops in time by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from celery import shared_task
from django.conf import settings

GRACE_SECONDS = 30
"""Between asking a task to stop and killing its process: enough to write down why."""


def row_task(function: Callable[..., Any], name: str = "") -> Any:
    """Decorates a task; ``name`` where its module was another one in an earlier release."""

    @wraps(function)
    def bounded(*arguments: Any) -> Any:
        with task_of(settings.TASK_SECONDS):
            return function(*arguments)

    return shared_task(
        name=name or f"{function.__module__}.{function.__name__}",
        acks_late=True,
        reject_on_worker_lost=True,
        ignore_result=True,
        max_retries=0,
        soft_time_limit=settings.TASK_SECONDS,
        time_limit=settings.TASK_SECONDS + GRACE_SECONDS,
    )(bounded)


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
