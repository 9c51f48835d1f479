"""Thin: a message says which row to look at. The task keeps the name that it had in 0.2, when its
module was ``workers.trainings.tasks``: messages and workers of either release stay valid while a
site is upgraded."""

from __future__ import annotations

from functools import partial

from common.jobs.tasks import row_task
from workers.training import execution


@partial(row_task, name="workers.trainings.tasks.train")
def train(training_id: int) -> None:
    execution.compute(training_id)
