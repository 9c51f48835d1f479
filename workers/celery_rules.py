"""The one way a task is declared: acknowledged late, given back when its worker dies, bounded in
time.

A task may be delivered twice or never; the row it points at decides what happens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from celery import shared_task
from django.conf import settings

from workers import deadlines

GRACE_SECONDS = 30
"""Between asking a task to stop and killing its process: enough to write down why."""


def row_task(function: Callable[..., Any]) -> Any:
    @wraps(function)
    def bounded(*arguments: Any) -> Any:
        with deadlines.task_of(settings.TASK_SECONDS):
            return function(*arguments)

    return shared_task(
        name=f"{function.__module__}.{function.__name__}",
        acks_late=True,
        reject_on_worker_lost=True,
        ignore_result=True,
        max_retries=0,
        soft_time_limit=settings.TASK_SECONDS,
        time_limit=settings.TASK_SECONDS + GRACE_SECONDS,
    )(bounded)
