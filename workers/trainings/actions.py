"""What people do to training runs: ask for one, stop it, have it go on."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from secrets import token_hex
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotations import audit
from workers.training.settings import TrainingError
from workers.training.trained import NAME
from workers.trainings import queries, uses
from workers.trainings.data import Source
from workers.trainings.models import Training

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
            _("A name is small letters, digits and hyphens, at most 60, and ends with none."),
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
    if not Training.objects.filter(name=name).exists() and uses.scores_with(name):
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
    from workers.training.making import plan_of

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
