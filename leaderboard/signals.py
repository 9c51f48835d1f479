"""Who waits for a page has it before a worker goes on with a thousand runs that were asked for earlier."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from workers.signals import run_begins


@receiver(run_begins, dispatch_uid="one statistic that is waited for goes before a run")
def compute_what_is_waited_for(**_: Any) -> None:
    """One, so that runs go on as well: their hints stand in the queue before those of the statistics they change."""
    from leaderboard.analyses.computing import compute_longest_waiting

    compute_longest_waiting()
