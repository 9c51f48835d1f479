"""A metric run that ends may be the last one that a submission waits for."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from leaderboard.challenges.models import Submission
from workers.signals import run_ended


@receiver(run_ended, dispatch_uid="settle the submission of a run that ended")
def settle_submissions(system_ids: set[int], **_: Any) -> None:
    from leaderboard.challenges.actions.finalising import settle

    waiting = Submission.objects.filter(system__in=system_ids, state=Submission.State.SCORING)
    for pk in list(waiting.values_list("pk", flat=True)):
        settle(pk)


@receiver(run_ended, dispatch_uid="boards say why a system has no score")
def tell_boards(run_ids: list[int], **_: Any) -> None:
    from leaderboard.challenges.actions.ending import boards_of_failed_runs

    boards_of_failed_runs(run_ids)
