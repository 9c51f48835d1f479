"""From a training's row to a trained model: claim it, train until it is done or has to stop, hand
back what came.

A training takes longer than a task may. Where the task's time nears its end, or somebody stops it,
it ends at a checkpoint; whoever claims the row next goes on there, as after a worker's death.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection

from common.jobs import tasks
from common.jobs.models import Claim
from common.storage import StorageAway
from common.temporary import temporary_folder
from workers.inference.model_files import ModelError
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, took_too_long, works_on
from workers.training import data, queries, remote
from workers.training.core import processes
from workers.training.core.settings import Abandoned, Progress, TrainingError
from workers.training.models import Training

if TYPE_CHECKING:
    from workers.training.core.checkpoint import Checkpoint, TrainedModel
    from workers.training.core.making import Plan

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0
CURVES_SECONDS = 5.0
MOST_POINTS = 400
"""Of a curve in the row; the model's config has all."""
MADE = "made"
"""In a training's folder: where its model is until it is published."""
USED_AT_MOST = 0.85
"""Of a task's time: what is left is for the step under way, a validation and the checkpoint."""

ProgressCallback = Callable[[Mapping[str, Any]], None]
"""Hears the progress as the row has it."""


class Paused(Exception):
    """The task's time is nearly over, or somebody stopped the training: a checkpoint is written."""


@works_on(Training.objects.select_related("version__corpus"))
def compute(training: Training, claim: Claim, progress: ProgressCallback | None = None) -> bool:
    """Do one training. What was learned is kept: where it has to stop, no attempt is used up,
    unless nothing came of this one, for it would go on for ever."""
    reporter = _Reporter(claim, progress)
    try:
        return _finished(claim, training, _made(training, reporter))
    except Abandoned as problem:
        raise LeaseLost from problem
    except Paused as problem:
        if reporter.came_further:
            raise ReleaseJob from problem
        raise RetryJob(
            "it came no step further in a task's time (DIALEVAL_TASK_SECONDS)"
        ) from problem
    except SoftTimeLimitExceeded as problem:
        if reporter.saved:
            raise ReleaseJob from problem
        raise RetryJob(took_too_long()) from problem
    except StorageAway as problem:
        raise RetryJob(
            "its model is made, and the storage of files that should take it does not answer"
        ) from problem
    except (TrainingError, ModelError) as problem:
        raise FailJob(str(problem)) from problem
    except MemoryError as problem:
        raise FailJob(
            "there is not enough memory: fewer negatives or tokens, or a smaller batch, take less"
        ) from problem
    # Whatever goes wrong belongs in the row, where the organiser reads it
    except Exception as problem:
        log.exception("training %s failed", training.name)
        raise FailJob(_label_for(problem)) from problem
    finally:
        _leave_nothing_of_a_deleted(training)


def _label_for(problem: Exception) -> str:
    """What of the machine can be mended is said so, and what is kept."""
    reason = f"{type(problem).__name__}: {problem}"
    if os.strerror(errno.ENOSPC) in reason or getattr(problem, "errno", None) == errno.EDQUOT:
        return (
            "the disk of DIALEVAL_HOME is full: make room, then go on at the last checkpoint "
            f"({reason})"
        )
    if getattr(problem, "errno", None) in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            "the worker may not write into DIALEVAL_HOME: fix that, then go on at the last "
            f"checkpoint ({reason})"
        )
    if "out of memory" in reason:  # of a GPU: torch has its own kind
        return (
            "there is not enough memory: fewer negatives or tokens, or a smaller batch, take "
            f"less ({reason})"
        )
    return reason


def _leave_nothing_of_a_deleted(training: Training) -> None:
    """Deleted just after it was stopped, while this worker was still writing what it had
    learned."""
    try:
        if Training.objects.filter(pk=training.pk).exists():
            return
    except DatabaseError:  # away: what is deleted lies there until somebody looks
        return
    shutil.rmtree(queries.work_folder(training), ignore_errors=True)
    made = queries.model_of(training.name)
    if made is not None and _is_of(made, training):
        shutil.rmtree(made.folder, ignore_errors=True)


def _is_of(model: TrainedModel, training: Training) -> bool:
    base = model.config.get("model")
    about = base.get("about") if isinstance(base, Mapping) else None
    return isinstance(about, Mapping) and about.get("training") == training.work


def _made(training: Training, reporter: _Reporter) -> Checkpoint:
    from workers.training.core.making import make, plan_of

    plan = plan_of(
        training.recipe, {**training.chosen, "seed": training.seed, "device": settings.DEVICE}
    )
    _refuse_what_lies_there(training)
    reporter.begin(plan)

    def measured(found: dict[str, Any]) -> None:
        training.overlap = found
        reporter.write(overlap=found)

    dialogues = data.dialogues_to_train_on(training, measured)
    about = {
        "training": training.work,
        "data": training.data,
        "overlap": training.overlap["corpora"],
        "overlap rule": training.overlap_rule,
    }
    work = queries.work_folder(training)
    made = make(
        plan, dialogues, work, work / MADE / training.name, about,
        reporter.watch, reporter.fitting,
    )  # fmt: skip
    # stopped or taken over while the model was written: it is not for anybody to use
    reporter.write()
    # Gives the model its place: whole, and never that of a model which somebody else put there
    # meanwhile.
    _refuse_what_lies_there(training)
    place = queries.model_folder(training.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(beside=place) as aside:
        if place.exists():
            place.rename(aside / training.name)
        made.folder.rename(place)
    return made


def _refuse_what_lies_there(training: Training) -> None:
    known, place = queries.model_of(training.name), queries.model_folder(training.name)
    if place.is_symlink() or (place.exists() and (known is None or not _is_of(known, training))):
        raise TrainingError(
            f"a trained model {training.name} lies in DIALEVAL_HOME/trained that this run did not "
            "make"
        )


def _finished(claim: Claim, training: Training, model: Checkpoint) -> bool:
    config = model.config
    remote.send(training.name, queries.model_folder(training.name), model.revision)
    done = Training.objects.owned(claim).finish(
        revision=model.revision,
        best=config["best"],
        curves=_thinned(config["curves"]),
        validations=config["validations"],
        device=config["run"]["device"][:120],
        data_signature=config["data"],
    )
    if done:
        shutil.rmtree(queries.work_folder(training), ignore_errors=True)
    return bool(done)


def _thinned(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Every so many, and the last one."""
    each = -(-len(points) // MOST_POINTS) or 1
    return [*points[:-1:each], *points[-1:]]


class _Reporter:
    """Writes to the row how far the training is, at most once a second, and notices when it has to
    end."""

    def __init__(self, claim: Claim, progress: ProgressCallback | None) -> None:
        self._claim, self._told = claim, progress
        self._last = self._last_curves = 0.0
        self._first: int | None = None
        self._save_every = self._pairs_a_step = 0
        self._progress: dict[str, Any] = {}
        self.saved = False
        """A checkpoint was written since this worker began."""
        self.came_further = False

    def begin(self, plan: Plan) -> None:
        own = plan.settings
        together = own.contexts if hasattr(own, "contexts") else own.batch
        self._pairs_a_step = together * plan.training.accumulate * processes.count()
        self._save_every = plan.training.save_every
        self._say("data")
        self.write()

    def watch(self, progress: Progress) -> None:
        """A ``workers.training.core.settings.Watch``."""
        if self._first is None:
            self._first = progress.step
        self.came_further = progress.step > self._first
        self.saved = self.saved or bool(
            self.came_further and self._save_every and progress.step % self._save_every == 0
        )
        self._pause_in_time()
        now = time.monotonic()
        if (
            now - self._last < PROGRESS_SECONDS
            and progress.figures is None
            and progress.step < progress.steps
        ):
            return
        self._say(
            "training",
            step=progress.step,
            steps=progress.steps,
            epoch=progress.epoch,
            epochs=progress.epochs,
            loss=progress.loss,
            seconds=round(progress.seconds, 1),
            left=None if progress.seconds_left is None else round(progress.seconds_left, 1),
            rate=round(progress.step * self._pairs_a_step / progress.seconds, 2)
            if progress.seconds
            else None,
        )
        changes: dict[str, Any] = {"device": progress.device[:120]}
        if progress.figures is not None or now - self._last_curves >= CURVES_SECONDS:
            self._last_curves = now
            changes |= {
                "curves": _thinned(progress.curves),
                "validations": list(progress.validations),
            }
        if self.saved:
            changes["attempts"] = 1
        self._write_if_possible(**changes)

    def fitting(self, done: int, of: int) -> None:
        """DEnsity's features, after the last step."""
        self._pause_in_time()
        if time.monotonic() - self._last >= PROGRESS_SECONDS:
            self._say("fitting", done=done, of=of)
            self._write_if_possible()

    def write(self, **changes: Any) -> None:
        """Raises ``Paused`` where somebody stopped the training, ``Abandoned`` where it is another
        worker's."""
        self._last = time.monotonic()
        if Training.objects.owned(self._claim).renew(progress=self._progress, **changes):
            return
        stopped = Training.objects.filter(pk=self._claim.row_id, state=Training.State.STOPPED)
        raise Paused if stopped.exists() else Abandoned

    def _write_if_possible(self, **changes: Any) -> None:
        """A database that is away for a minute costs no day's training. Who has lost the row
        meanwhile learns it at the next write."""
        try:
            self.write(**changes)
        except OperationalError:
            if connection.in_atomic_block:
                raise
            log.warning("how far a training is could not be written", exc_info=True)
            connection.close()

    def _say(self, phase: str, **figures: Any) -> None:
        """Of fitting, the steps stay as they were."""
        self._progress = {**self._progress, "phase": phase, **figures}
        if self._told is not None:
            self._told(self._progress)

    @staticmethod
    def _pause_in_time() -> None:
        if tasks.is_within_a_task() and tasks.used() > USED_AT_MOST:
            raise Paused
