"""The Celery application. Tasks are hints: the database row says what is to be done."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")

app = Celery("dialeval")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_default_queue="cpu",
    task_ignore_result=True,
    task_track_started=False,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_publish_retry=False,
    timezone="UTC",
)
app.autodiscover_tasks()
app.steps["worker"].add("dialeval_site.sweeping:SweepTimer")
