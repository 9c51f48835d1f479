"""Every worker looks after lost work: its main process asks, each few seconds, for one sweep of
each kind of row, and each hour for one of what nobody needs any more.

This takes the place of a beat process: a worker is the only thing that can use a sweep, so a site
with a worker has a sweeper, and two workers' sweeps do no harm (each step is one conditional
update).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from typing import Any

from celery import bootsteps
from django.conf import settings
from kombu.exceptions import ChannelError, KombuError

log = logging.getLogger(__name__)

FREQUENT_TASKS = (
    "workers.tasks.sweep",
    "leaderboard.challenges.tasks.sweep",
    "leaderboard.tasks.sweep",
)
HOURLY_TASK = "dialeval_site.tasks.sweep"
MAINTENANCE_SECONDS = 3600
"""Nobody waits for it: a worker that is busy now may take it up until the next one is asked for."""


class MaintenanceTimer(bootsteps.StartStopStep):
    """A thread of its own, not the worker's timer: that one sleeps on to its next entry when the
    worker stops."""

    requires = {"celery.worker.components:Pool"}

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.stopping = threading.Event()

    def start(self, parent: Any) -> None:
        threading.Thread(
            target=self._ask_until_stopped, args=(parent.app,), name="sweeps", daemon=True
        ).start()

    def stop(self, _parent: Any) -> None:
        self.stopping.set()

    terminate = stop

    def _ask_until_stopped(self, app: Any) -> None:
        refresh_is_due = time.monotonic()
        while not self.stopping.is_set():
            requested = _ask_for(app, FREQUENT_TASKS, settings.MAINTENANCE_SECONDS)
            if (
                requested
                and time.monotonic() >= refresh_is_due
                and _ask_for(app, (HOURLY_TASK,), MAINTENANCE_SECONDS)
            ):
                refresh_is_due = time.monotonic() + MAINTENANCE_SECONDS
            self.stopping.wait(settings.MAINTENANCE_SECONDS)


def _ask_for(app: Any, tasks: Iterable[str], within_seconds: float) -> bool:
    """False where the broker cannot be reached."""
    own_queue = next(iter(app.amqp.queues.consume_from), app.conf.task_default_queue)
    try:
        for task in tasks:
            app.send_task(task, queue=own_queue, retry=False, expires=within_seconds)
    except (KombuError, ChannelError, OSError) as problem:
        log.warning("no sweep: the broker cannot be reached (%s)", problem)
        return False
    return True
