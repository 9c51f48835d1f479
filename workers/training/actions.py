"""What people do to training runs: ask for one, stop it, resume it; and delete a trained model: its
row, its checkpoints, its folder. Scores that were made with it stay.

Metric runs and rounds of challenges name trained models; the latter, of which workers know nothing,
say so themselves.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotations import audit
from common.temporary import REPLACED, temporary_folder
from workers.judges import prompt_queries
from workers.models import MetricRun
from workers.training import queries, remote
from workers.training.core.checkpoint import NAME
from workers.training.core.settings import TrainingError
from workers.training.data import Source
from workers.training.models import Training

STARTED, STOPPED, AGAIN = "training.started", "training.stopped", "training.resumed"
SAVE_EVERY = 200
"""Steps between checkpoints of a run: a few minutes of a CPU, which is what a killed worker
costs."""

LARGEST_SEED = 2**31 - 1
"""A database's column holds no more."""

State = Training.State
Rule = Training.OverlapRule


class Refused(Exception):
    """What was asked cannot be done; the message says why, ``field`` which field of the form it is
    about, or ""."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field


def start(
    name: str,
    recipe: str,
    source: Source,
    chosen: Mapping[str, Any],
    seed: int = 0,
    overlap_rule: str = Rule.REFUSE,
    by: Any = None,
    hint: bool = True,
    check: bool = True,
) -> Training:
    """Raises ``Refused``. One of that name that failed before its first checkpoint gives way.

    ``chosen``: what differs from the recipe's defaults, by name. ``hint=False`` is for a caller
    that trains itself. ``check=False`` leaves it to the worker to say what of ``chosen`` cannot be:
    the check loads torch, which a web process does without.
    """
    if not NAME.fullmatch(name):
        raise Refused(
            _("A name is at most 60 lower-case letters, digits and hyphens; no hyphen ends it."),
            "name",
        )
    if not 0 <= seed <= LARGEST_SEED:
        raise Refused(
            _("A seed is a whole number from 0 to %(most)s.") % {"most": LARGEST_SEED}, "seed"
        )
    settings = {"save_every": SAVE_EVERY, **chosen}
    if check:
        check_plan(recipe, {**settings, "seed": seed})
    taken = _("There is a trained model %(name)s: choose another name.") % {"name": name}
    if queries.model_folder(name).exists():
        raise Refused(taken, "name")
    if not Training.objects.filter(name=name).exists() and scores_with(name):
        # They would stand for the new model's: what is computed under a configuration is not
        # computed again.
        raise Refused(
            _("Scores of a deleted model %(name)s are stored: choose another name.")
            % {"name": name},
            "name",
        )
    try:
        with transaction.atomic():
            earlier = (
                Training.objects.select_for_update().filter(name=name, state=State.FAILED).first()
            )
            if earlier is not None and queries.failed_at_once(earlier):
                transaction.on_commit(
                    partial(shutil.rmtree, queries.work_folder(earlier), ignore_errors=True)
                )
                earlier.delete()
            training = Training.objects.create(
                name=name,
                work=f"{name}-{token_hex(4)}",
                recipe=recipe,
                chosen=settings,
                seed=seed,
                version=source.version,
                data=source.data,
                overlap_rule=overlap_rule,
                created_by=by,
            )
            parameters = {
                "recipe": recipe,
                "seed": seed,
                "overlap": overlap_rule,
                "settings": settings,
            }
            audit.record(by, STARTED, name, **parameters, data=queries.data_text(training))
            if hint:
                Training.objects.notify_on_commit(training.pk)
    except IntegrityError as error:
        if Training.objects.filter(name=name).exists():
            raise Refused(
                _("There is a training %(name)s: choose another name.") % {"name": name}, "name"
            ) from error
        raise
    return training


def check_plan(recipe: str, chosen: Mapping[str, Any]) -> None:
    """Raises ``Refused`` for what no training can be. Loads torch."""
    from workers.training.core.making import plan_of

    try:
        plan_of(recipe, chosen)
    except TrainingError as problem:
        raise Refused(str(problem)) from problem


def stop(training: Training, by: Any = None) -> bool:
    """The worker notices within seconds, and leaves a checkpoint. False where the training has
    ended."""
    who = by.get_username() if by is not None else ""
    error = _("Stopped by %(who)s.") % {"who": who} if who else _("Stopped.")
    with transaction.atomic():
        under_way = Training.objects.filter(pk=training.pk, state__in=queries.UNDER_WAY)
        stopped = under_way.end(State.STOPPED, error=error)
        if stopped:
            audit.record(by, STOPPED, training.name)
    return bool(stopped)


def go_on(training: Training, by: Any = None, hint: bool = True) -> bool:
    """A stopped or failed training waits again, to go on at its last checkpoint. False where it is
    neither. Where there is no checkpoint yet, the overlap is measured anew: corpora may have come
    or gone."""
    anew: dict[str, Any] = {"overlap": {}} if queries.failed_at_once(training) else {}
    with transaction.atomic():
        ended = Training.objects.filter(pk=training.pk, state__in=[State.STOPPED, State.FAILED])
        again = ended.wait(attempts=0, error="", finished_at=None, **anew)
        if again:
            audit.record(by, AGAIN, training.name)
            if hint:
                Training.objects.notify_on_commit(training.pk)
    return bool(again)


log = logging.getLogger(__name__)

DELETED = "training.deleted"


def delete(name: str, by: Any = None) -> None:
    """Removes the training of this name with its checkpoints and its model, or a model without a
    training, as one that was copied here. Raises ``Refused`` where there is neither, while it
    trains, while metric runs wait for it or use it, while a round names it, and where its folders
    cannot be removed."""
    if not NAME.fullmatch(name):
        raise Refused(_("There is no training %(name)s.") % {"name": name[:80]})
    # In one moment there is no model of this name any more: nobody ever sees half of one.
    with _out_of_the_way() as take_away, transaction.atomic():
        training = Training.objects.select_for_update().filter(name=name).first()
        folders = [queries.model_folder(name)]
        if training is not None:
            folders.append(queries.work_folder(training))
        elif not folders[0].exists():
            raise Refused(_("There is no training %(name)s.") % {"name": name})
        _refuse_while_needed(name, training)
        for folder in folders:
            take_away(folder)
        known = (
            {"recipe": training.recipe, "revision": training.revision}
            if training is not None
            else {}
        )
        audit.record(by, DELETED, name, **known, scores_kept=scores_with(name))
        if training is not None:
            revision = training.revision
            training.delete()
            transaction.on_commit(lambda: remote.forget(name, revision))


def _refuse_while_needed(name: str, training: Training | None) -> None:
    if training is not None and training.state in queries.UNDER_WAY:
        raise Refused(_("%(name)s is being trained: stop it first.") % {"name": name})
    under_way = [MetricRun.State.PENDING, MetricRun.State.RUNNING]
    if waiting := runs_with(name).filter(state__in=under_way).count():
        raise Refused(
            _(
                "%(count)s metric runs wait for %(name)s or use it: take them back first, or wait "
                "until they have ended."
            )
            % {"count": waiting, "name": name}
        )
    if rounds := rounds_with(name):
        raise Refused(
            _("Rounds score with %(name)s: %(rounds)s.")
            % {"name": name, "rounds": ", ".join(rounds)}
        )


@contextmanager
def _out_of_the_way() -> Iterator[Callable[[Path], None]]:
    """Folders that are taken away are gone in the end, and have their names again where what is
    done meanwhile fails, or the process is killed (``temporary.remove_abandoned``). A link is taken
    away, not what it leads to."""
    moved: list[tuple[Path, Path]] = []

    def take_away(folder: Path) -> None:
        if not (folder.is_symlink() or folder.exists()):
            return
        try:
            aside = stack.enter_context(temporary_folder(beside=folder)) / REPLACED / folder.name
            aside.parent.mkdir()
            folder.rename(aside)
        except OSError as problem:
            words = {"folder": folder.name, "why": problem.strerror}
            raise Refused(
                _("The folder %(folder)s cannot be removed: %(why)s. Nothing was deleted.") % words
            ) from problem
        moved.append((folder, aside))

    with ExitStack() as stack:
        try:
            yield take_away
        except BaseException:
            for folder, aside in moved:
                aside.rename(folder)
            raise
        for folder, aside in moved:
            # The row is gone: they do not come back
            aside.rename(aside.parent.with_name("deleted"))
            log.info("removed %s: %s was deleted", folder, folder.name)


def runs_with(name: str) -> QuerySet[MetricRun]:
    """Metric runs of configurations that name this model, in any state."""
    return MetricRun.objects.filter(configuration__regex=rf"[\[,]trained={re.escape(name)}[\],]")


def scores_with(name: str) -> int:
    """Scores that were made with a model of this name: one for each metric and system."""
    return runs_with(name).filter(state=MetricRun.State.DONE).count()


def rounds_with(name: str) -> list[str]:
    """Rounds whose metrics name this model, for people, each once."""
    part = f"trained={name}"
    written = re.compile(rf"[\[,]{re.escape(part)}[\],]")
    return list(
        dict.fromkeys(
            one.where for one in prompt_queries.namings(part) if written.search(one.configuration)
        )
    )
