"""A trained model is taken away: its row, its checkpoints, its folder. Scores that were made with
it stay."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotations import audit
from common.temporary import REPLACED, temporary_folder
from workers.models import MetricRun
from workers.training.trained import NAME
from workers.trainings import queries, remote, uses
from workers.trainings.actions import Refused
from workers.trainings.models import Training

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
        audit.record(by, DELETED, name, **known, scores_kept=uses.scores_with(name))
        if training is not None:
            revision = training.revision
            training.delete()
            transaction.on_commit(lambda: remote.forget(name, revision))


def _refuse_while_needed(name: str, training: Training | None) -> None:
    if training is not None and training.state in queries.UNDER_WAY:
        raise Refused(_("%(name)s is being trained: stop it first.") % {"name": name})
    under_way = [MetricRun.State.PENDING, MetricRun.State.RUNNING]
    if waiting := uses.runs_with(name).filter(state__in=under_way).count():
        raise Refused(
            _(
                "%(count)s metric runs wait for %(name)s or use it: take them back first, or wait "
                "until they have ended."
            )
            % {"count": waiting, "name": name}
        )
    if rounds := uses.rounds_with(name):
        raise Refused(
            _("Rounds score with %(name)s: %(rounds)s.")
            % {"name": name, "rounds": ", ".join(rounds)}
        )


@contextmanager
def _out_of_the_way() -> Iterator[Callable[[Path], None]]:
    """Folders that are taken away are gone in the end, and have their names again where what is
    done meanwhile fails, or the process is killed (``temporary.sweep``). A link is taken away, not
    what it leads to."""
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
