"""Thin: what the site itself asks of workers."""

from __future__ import annotations

from dialeval_site import password_reset
from workers.celery_rules import row_task


@row_task
def send_password_reset(email: str) -> None:
    password_reset.send(email)
