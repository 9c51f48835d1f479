"""Thin: a message says which row to look at."""

from __future__ import annotations

from common.jobs.tasks import row_task
from leaderboard.results import computing, refresh, rows, warming


@row_task
def analyse(row_id: int) -> None:
    computing.compute(row_id)


@row_task
def sweep() -> None:
    rows.forget_pairs()
    refresh.renew()
    warming.warm()
