"""Thin: a message says which row to look at."""

from __future__ import annotations

from common.jobs.tasks import row_task
from leaderboard.challenges import execution, notices
from leaderboard.challenges.actions.finalising import settle_all


@row_task
def process(submission_id: int) -> None:
    execution.process(submission_id)


@row_task
def sweep() -> None:
    settle_all()


@row_task
def deliver(notice_id: int) -> None:
    notices.deliver(notice_id)
