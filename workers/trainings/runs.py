"""What workers write to training runs: claimed, kept, reported, ended, given back, swept. What
people do to them is in ``actions``. Rows as in ``workers.runs``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from annotations import clock
from annotations.jobs.notifications import notify_workers
from workers import claims
from workers.claims import NO_OWNER, WAITS_ANEW, Claim, Swept
from workers.trainings.models import Training

TRAIN_TASK = "workers.trainings.tasks.train"
QUEUE = "gpu"
"""Models on a CPU, too."""

State = Training.State


def send_hints(training_ids: Iterable[int]) -> int:
    """Tell workers of trainings that wait. Where the broker cannot be reached they wait for the
    sweeper."""
    sent = notify_workers(TRAIN_TASK, ((pk, QUEUE) for pk in training_ids))
    Training.objects.filter(pk__in=sent).update(hinted_at=clock.now(), hints=F("hints") + 1)
    return len(sent)


def claim(training_id: int) -> Claim | None:
    """Take a training that waits, or whose worker fell silent. None when somebody else has it or it
    has ended."""
    rows = Training.objects.filter(attempts__lt=settings.MAX_ATTEMPTS)
    begun = {"state": State.RUNNING, "started_at": Coalesce("started_at", clock.now())}
    return claims.take(rows, training_id, Q(state=State.PENDING), [State.RUNNING], **begun)


def keep(claim: Claim, **changes: Any) -> bool:
    """Renew the lease. False when the training is no longer ours: stopped, deleted, or another
    worker's."""
    return claims.keep(_owned(claim), **changes)


def was_stopped(claim: Claim) -> bool:
    """Whether somebody stopped it, and nobody has taken it since."""
    return Training.objects.filter(pk=claim.row_id, state=State.STOPPED).exists()


def finish(claim: Claim, **result: Any) -> bool:
    """False, and nothing stored, when the lease was lost."""
    ended = {"state": State.DONE, "error": "", "finished_at": clock.now(), **NO_OWNER}
    return bool(_owned(claim).update(**ended, **result))


def fail(claim: Claim, error: str) -> bool:
    return claims.fail(_owned(claim), State.FAILED, error)


def give_back(claim: Claim) -> bool:
    """Leave the training to whoever takes it next, as if it had not been begun; its checkpoints
    stay."""
    return claims.give_back(_owned(claim), State.PENDING)


def wait_again(claim: Claim) -> bool:
    """As ``give_back``, but the attempt counts."""
    return bool(_owned(claim).update(state=State.PENDING, **WAITS_ANEW))


def _owned(claim: Claim) -> QuerySet[Training]:
    return Training.objects.filter(pk=claim.row_id, state=State.RUNNING, lease_token=claim.token)


def sweep() -> Swept:
    """Give back the trainings of silent workers, give up those tried too often, tell workers of
    those that wait."""
    error = (
        f"the worker stopped without a word {settings.MAX_ATTEMPTS} times and came no further "
        "between; the training may need more memory. Its checkpoints are kept: go on when that "
        "is mended."
    )
    return claims.sweep(
        Training.objects.all(), State.PENDING, State.RUNNING, State.FAILED, error, send_hints
    )
