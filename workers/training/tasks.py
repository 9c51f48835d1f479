"""Thin: a message says which row to look at."""

from __future__ import annotations

from common.jobs.tasks import row_task
from workers.training import execution


@row_task
def train(training_id: int) -> None:
    execution.compute(training_id)
