"""How a submission ends without a score, or with one: its row, its places, its board, its log, who
is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from common.jobs.models import NO_LEASE
from leaderboard.challenges.actions.notices import tell
from leaderboard.challenges.actions.slots import GIVEN_BACK
from leaderboard.challenges.models import LogLine, Round, Submission
from workers.models import MetricRun

State = Submission.State


def end(found: QuerySet[Submission], state: str, line: str, **fields: Any) -> bool:
    """End the one submission that ``found`` names, if it is still as ``found`` says: one
    conditional update, and what follows from it, in the caller's transaction. False, and nothing
    changed, where it is not.

    All but scored ones give their places back. Who asked to be told hears of it, unless a person
    cancelled it.
    """
    pk = found.values_list("pk", flat=True).first()
    if pk is None:
        return False
    given_back = {} if state == State.SCORED else GIVEN_BACK
    if not found.filter(pk=pk).update(
        state=state, ended_at=timezone.now(), **NO_LEASE, **given_back, **fields
    ):
        return False
    LogLine.write(
        pk,
        line,
        {State.SCORED: "info", State.CANCELLED: "info", State.INVALID: "warning"}.get(
            state, "error"
        ),
    )
    submission = Submission.objects.select_related("round__challenge", "team", "user").get(pk=pk)
    board_changed(submission.round_id)
    if state != State.CANCELLED:
        tell(submission)
    return True


def board_changed(round_id: int | None) -> None:
    if round_id is not None:
        Round.objects.filter(pk=round_id).update(revision=F("revision") + 1)


def boards_of_failed_runs(run_ids: Iterable[int]) -> None:
    """Boards say why one of the corpus's own systems has no score. What is done changes its
    version's revision, and with it every board; what has failed is told here. A submission's run
    ends with the submission."""
    failed = MetricRun.objects.filter(
        pk__in=list(run_ids), state=MetricRun.State.FAILED, system__withheld=False
    )
    versions = list(failed.values_list("system__version", flat=True).distinct())
    if versions:  # an update of nothing waits for SQLite's writer, too, at the end of every run
        Round.objects.filter(version__in=versions).update(revision=F("revision") + 1)
