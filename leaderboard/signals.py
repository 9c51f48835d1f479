"""Who waits for a page has it before a worker goes on with a thousand runs that were asked for
earlier."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from workers.models import MetricRun
from workers.signals import run_begins

QUEUE = "cpu"
"""Of statistics, too."""


@receiver(run_begins, dispatch_uid="one statistic that is waited for goes before a run")
def compute_what_is_waited_for(run_id: int, **_: Any) -> None:
    """One, so that runs go on as well: their hints stand in the queue before those of the
    statistics they change.

    Not by workers of other queues: a statistic of a million ratings takes a minute, in which a GPU
    would stand still and a chat would wait."""
    from leaderboard.results.computing import compute_longest_waiting

    if MetricRun.objects.filter(pk=run_id, queue=QUEUE).exists():
        compute_longest_waiting()
