"""Thin: a message says which row to look at."""

from __future__ import annotations

from common.jobs.tasks import row_task
from workers.judges import trial_execution


@row_task
def try_prompt(trial_id: int) -> None:
    trial_execution.compute(trial_id)
