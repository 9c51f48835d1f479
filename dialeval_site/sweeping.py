"""Every worker looks after lost work: its main process asks, each few seconds, for one sweep.

This takes the place of a beat process: a worker is the only thing that can use a sweep, so a site with a worker has
a sweeper, and two workers' sweeps do no harm (each step is one conditional update).
"""

from __future__ import annotations

import logging
from typing import Any

from celery import bootsteps
from django.conf import settings
from kombu.exceptions import ChannelError, KombuError

log = logging.getLogger(__name__)


class SweepTimer(bootsteps.StartStopStep):
    requires = {"celery.worker.components:Timer", "celery.worker.components:Pool"}

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.timer_entry: Any = None

    def start(self, parent: Any) -> None:
        self._ask(parent.app)
        self.timer_entry = parent.timer.call_repeatedly(settings.SWEEP_SECONDS, self._ask, (parent.app,))

    def stop(self, _parent: Any) -> None:
        if self.timer_entry is not None:
            self.timer_entry.cancel()
            self.timer_entry = None

    @staticmethod
    def _ask(app: Any) -> None:
        own_queue = next(iter(app.amqp.queues.consume_from), app.conf.task_default_queue)
        try:
            app.send_task("workers.tasks.sweep", queue=own_queue, retry=False, expires=settings.SWEEP_SECONDS)
        except (KombuError, ChannelError, OSError) as problem:
            log.warning("no sweep: the broker cannot be reached (%s)", problem)
