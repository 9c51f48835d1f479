"""What a submission's team reads of it, and how workers hear of it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F

from annotations import clock
from annotations.jobs.notifications import notify_workers
from leaderboard.challenges.models import LogLine, Submission

PROCESS_TASK = "leaderboard.challenges.tasks.process"
MAX_LINE_LENGTH = 1000


def log(submission_id: int, text: str, level: str = "info", for_organisers: bool = False) -> None:
    """A line for the submission's team, or for organisers alone. ``level``: info, warning,
    error."""
    line = text.replace("\0", "").encode("utf-8", "replace").decode().strip()[:MAX_LINE_LENGTH]
    LogLine.objects.create(
        submission_id=submission_id,
        level=level,
        text=line or "(nothing was said)",
        for_organisers=for_organisers,
    )


def queue_of(kind: str) -> str:
    return "llm" if kind == Submission.Kind.PROMPT else "cpu"


def notify_on_commit(submission: Submission) -> None:
    told = (submission.pk, queue_of(submission.kind))
    transaction.on_commit(lambda: send_hints([told]))


def send_hints(submissions: Iterable[tuple[int, str]]) -> int:
    """Tell workers of submissions (pk, queue). Where the broker cannot be reached the rows wait for
    the sweeper."""
    sent = notify_workers(PROCESS_TASK, submissions)
    Submission.objects.filter(pk__in=sent).update(hinted_at=clock.now(), hints=F("hints") + 1)
    return len(sent)
