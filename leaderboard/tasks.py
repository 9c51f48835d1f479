"""Thin: a message says which row to look at."""

from __future__ import annotations

from leaderboard.analyses import computing, refresh, rows
from workers.celery_rules import row_task


@row_task
def analyse(row_id: int) -> None:
    computing.compute(row_id)


@row_task
def sweep() -> None:
    rows.forget_pairs()
    refresh.renew()
