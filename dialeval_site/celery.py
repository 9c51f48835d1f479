"""The Celery application. Tasks are hints: the database row says what is to be done."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

from celery import Celery
from celery.signals import worker_init

from dialeval_site.config import task_context  # noqa: F401  its receivers of signals
from dialeval_site.config.folder_broker import SCHEME

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")

MESSAGES_PER_PROCESS = 4
"""Held by a worker of the folder broker for each of its processes. The folder is looked at again
only after DIALEVAL_POLL_SECONDS, so with one hint a process two processes do 20 runs a second
however short they are; with four the folder is no longer the limit: 225 (``python -m
bench.workers``). Other brokers push: one hint a process leaves the rest to other workers."""

app = Celery("dialeval")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_default_queue="cpu",
    task_ignore_result=True,
    task_track_started=False,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=MESSAGES_PER_PROCESS
    if app.conf.broker_url.startswith(f"{SCHEME}:")
    else 1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_publish_retry=False,
    timezone="UTC",
)
app.autodiscover_tasks()
app.steps["worker"].add("dialeval_site.operations.maintenance:MaintenanceTimer")


@worker_init.connect
def _get_ready(sender: Any, **_: Any) -> None:
    """Before the pool forks its processes; a process that takes the place of a dead one is forked
    from the same."""
    from annotations import site_identity
    from workers.inference import resources
    from workers.runs.execution import warm_up

    if refusal := site_identity.why_not_start():
        sys.exit(f"dialeval: {refusal}")
    if "socket_timeout" in app.conf.broker_transport_options:
        # A worker waits for messages a second at a time: the answer may come later than that.
        options = {**app.conf.broker_transport_options, "socket_timeout": 5}
        options.pop("max_retries", None)
        app.conf.broker_transport_options = options
    resources.use(replace(resources.at_hand(), processes=_processes_of(sender)))
    warm_up(set(sender.app.amqp.queues.consume_from))


def _processes_of(worker: Any) -> int:
    """How many the pool will have; Celery makes a number of "auto" only after this moment."""
    requested = getattr(worker, "concurrency", None)
    return requested if isinstance(requested, int) and requested > 0 else os.cpu_count() or 1
