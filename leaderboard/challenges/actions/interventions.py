"""What people do to a submission: cancel it, have it tried again, have it scored by what its round
asks for now.

A submission that had given its places back takes new ones when an organiser takes it up again. That
never fails for the limit (``places.retake_slots``): the attempt was the team's, what ended it was
not, and the organiser decides. It fails only where the same file has been handed in again and
counts, for then one file would count twice.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.corpora.actions import data_changed
from annotations.models import System
from common.jobs.models import NO_LEASE
from common.roles import is_organiser
from leaderboard.challenges.actions.ending import board_changed, end
from leaderboard.challenges.actions.finalising import UnknownMetric, configurations_of, settle
from leaderboard.challenges.actions.slots import (
    lock_submitter,
    lock_team,
    retake_score_slot,
    retake_slots,
)
from leaderboard.challenges.models import (
    AT_WORK,
    COUNTED,
    ENDED_WITHOUT_A_SCORE,
    LogLine,
    Submission,
)
from leaderboard.challenges.models.challenge import BOARD
from leaderboard.results import drop
from workers.models import MetricRun
from workers.runs import actions

State = Submission.State


class CannotDo(Exception):
    """The submission is not in a state for this; ``message`` is for the person who asked."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


# --- cancelling -----------------------------------------------------------------------------------


def may_cancel(submission: Submission, user: Any) -> bool:
    """Organisers may while it is at work. Its team may until anything could be learned from it: a
    prompt until it is run, a file until the first of its scores is there; and what has been scored
    before is no longer theirs to cancel, nor what is disqualified: it keeps its attempt.
    """
    if submission.state not in AT_WORK or not user.is_authenticated:
        return False
    if is_organiser(user):
        return True
    if submission.team_id is None:
        of_ours = submission.user_id == user.pk
    else:
        of_ours = submission.team.members.filter(user=user).exists()
    return of_ours and submission.disqualified_at is None and _is_unknown_yet(submission)


def _is_unknown_yet(submission: Submission) -> bool:
    if submission.state in (State.RECEIVED, State.VALIDATING):
        return submission.generating_at is None
    if submission.state != State.SCORING or submission.kind != Submission.Kind.RESPONSES:
        return False
    return not MetricRun.objects.filter(
        system_id=submission.system_id, state=MetricRun.State.DONE
    ).exists()


def cancel(submission: Submission, by: Any) -> None:
    """Stop it: waiting metric runs are taken back, running ones may end and change nothing, the
    attempt is given back. Raises ``CannotDo`` where it has ended already or this person may not
    (any more)."""
    with transaction.atomic():
        present = _locked(submission)
        if present.state not in AT_WORK:
            raise CannotDo(_("It has ended already."))
        if not may_cancel(present, by):
            raise CannotDo(
                _("It can no longer be cancelled: it is being run, or a score of it is there.")
                if present.disqualified_at is None
                else _("It is disqualified and keeps its attempt. Organisers alone may cancel it.")
            )
        at_work = Submission.objects.filter(pk=present.pk, state__in=AT_WORK)
        if not end(
            at_work,
            State.CANCELLED,
            f"Cancelled by {by.get_username()}. It is not counted as an attempt.",
        ):
            raise CannotDo(_("It has ended already."))
        if present.system_id is not None:
            MetricRun.objects.filter(
                system_id=present.system_id, state=MetricRun.State.PENDING
            ).delete()
            _withhold(present)
            drop([present.version_id], kind=BOARD)  # evaluated anew, it stood on it
        _record(by, "submission.cancelled", present)


def _withhold(submission: Submission) -> None:
    """A system that was published, then evaluated anew and cancelled at that, leaves the corpus's
    pages."""
    if System.objects.filter(pk=submission.system_id, withheld=False).update(withheld=True):
        data_changed([submission.version_id])
        drop([submission.version_id])


# --- trying again ---------------------------------------------------------------------------------


def retry(submission: Submission, by: Any) -> None:
    """Take up a submission that is invalid, failed or cancelled: from its file, or, where its
    responses were accepted, from its scoring. Raises ``CannotDo`` where it is at work or scored, or
    where the same file counts already."""
    with transaction.atomic():
        present = _locked(submission)
        if present.state not in ENDED_WITHOUT_A_SCORE:
            raise CannotDo(_("It is at work, or scored; there is nothing to try again."))
        if present.system_id is not None:
            _score_again(present)
        else:
            _change(
                present,
                state=State.RECEIVED,
                attempts=0,
                generating_at=None,
                problems=[],
                more_problems=False,
                hinted_at=None,
                hints=0,
                progress_done=0,
                progress_total=0,
            )
            Submission.objects.notify_on_commit(present.pk)
        LogLine.write(present.pk, f"Tried again by {by.get_username()}.")
        _record(by, "submission.retried", present)
        settle(present.pk)


def re_evaluate(submission: Submission, by: Any) -> None:
    """Ask for every metric that the round names now, and settle anew. Results that are there are
    kept: the same metric in the same version gives the same scores. Raises ``CannotDo`` where
    nothing was accepted that could be scored."""
    with transaction.atomic():
        present = _locked(submission)
        if present.system_id is None or present.round_id is None:
            raise CannotDo(_("No responses of it were accepted, so there is nothing to evaluate."))
        _score_again(present)
        LogLine.write(present.pk, f"Evaluated again by {by.get_username()}.")
        _record(by, "submission.re-evaluated", present)
        settle(present.pk)


def _score_again(submission: Submission) -> None:
    try:
        configurations = configurations_of(submission)
    except UnknownMetric as problem:
        raise CannotDo(problem.message) from None
    _change(submission, state=State.SCORING, scoring_at=timezone.now())
    actions.request(configurations, [submission.system])
    board_changed(submission.round_id)


def _change(submission: Submission, **fields: Any) -> None:
    """Back to work, with places of its own again. The row was locked by ``_locked``."""
    places: dict[str, Any] = {}
    if submission.state not in COUNTED:
        again = retake_score_slot if submission.kind == Submission.Kind.SCORES else retake_slots
        places = again(submission).as_fields()
    try:
        with transaction.atomic():
            Submission.objects.filter(pk=submission.pk).update(
                ended_at=None, error="", **NO_LEASE, **places, **fields
            )
    except IntegrityError:
        raise CannotDo(
            _("The same file was submitted again and counts. Cancel that submission first.")
        ) from None


def _locked(submission: Submission) -> Submission:
    """The row as it is now, kept from others until the transaction ends: the team first, as where
    places are given."""
    if submission.team_id is not None:
        lock_team(submission.team_id)
    elif submission.user_id is not None:
        lock_submitter(submission.user_id)
    Submission.objects.select_for_update(no_key=True).get(pk=submission.pk)
    return Submission.objects.select_related("round__challenge", "team", "system", "version").get(
        pk=submission.pk
    )


def _record(by: Any, action: str, submission: Submission) -> None:
    audit.record(
        by,
        action,
        submission.name,
        challenge=submission.round.challenge.slug if submission.round is not None else "",
        submission=submission.public_id,
        before=submission.state,
        **(
            {"team": submission.team.name, "round": submission.round.slug}
            if submission.team is not None
            else {}
        ),
    )
