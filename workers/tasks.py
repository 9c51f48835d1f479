"""Thin: a message says which row to look at."""

from __future__ import annotations

from workers import answering, execution, replies, runs
from workers.celery_rules import row_task
from workers.judges import trials


@row_task
def compute(run_id: int) -> None:
    execution.compute(run_id)


@row_task
def reply(message_id: int) -> None:
    answering.answer(message_id)


@row_task
def sweep() -> None:
    runs.sweep()
    replies.sweep()
    trials.sweep()
