"""What an organiser decides about teams and what they handed in, and when others get to see it.

Each is one conditional change under a lock, with its entry in the audit log: of two who press at
once, one does it and the other is told. Every one that changes a board counts up its round's
``revision``.

Locks are taken in one order, here and where submissions are worked on: team, submission, round,
system, corpus version.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.corpora.actions import data_changed
from annotations.models import System
from leaderboard.challenges.actions.ending import board_changed
from leaderboard.challenges.actions.interventions import CannotDo, re_evaluate
from leaderboard.challenges.actions.refusal import LONGEST_REASON, Refused, checked_text
from leaderboard.challenges.actions.rounds import locked_round
from leaderboard.challenges.models import LogLine, Round, Submission, Team
from leaderboard.challenges.models.challenge import BOARD
from leaderboard.challenges.phase import is_released
from leaderboard.challenges.queries.board import has_private_board
from leaderboard.results import drop

# --- teams ----------------------------------------------------------------------------------------


def disqualify_team(team: Team, reason: str, by: Any = None) -> Team:
    """It hands in nothing more, has no rank, and its systems leave the corpus. The team reads the
    reason. Raises ``Refused``."""
    reason = _checked_reason(reason)
    with transaction.atomic():
        stored = _locked_team(team)
        if stored.disqualified_at is not None:
            raise Refused(_("The team is disqualified already."))
        stored.disqualified_at, stored.disqualification = timezone.now(), reason
        stored.save(update_fields=["disqualified_at", "disqualification"])
        _boards_changed(stored)
        withdrawn = _withhold(stored.submissions.all())
        audit.record(
            by,
            "team.disqualified",
            stored.name,
            challenge=stored.challenge.slug,
            team=stored.public_id,
            reason=reason,
            systems_withheld=withdrawn,
        )
    return stored


def reinstate_team(team: Team, by: Any = None) -> Team:
    """Raises ``Refused``. Systems that left the corpus come back when the round's systems are
    published again."""
    with transaction.atomic():
        stored = _locked_team(team)
        if stored.disqualified_at is None:
            raise Refused(_("The team is not disqualified."))
        reason, stored.disqualified_at, stored.disqualification = stored.disqualification, None, ""
        stored.save(update_fields=["disqualified_at", "disqualification"])
        _boards_changed(stored)
        audit.record(
            by,
            "team.reinstated",
            stored.name,
            challenge=stored.challenge.slug,
            team=stored.public_id,
            reason_before=reason,
        )
    return stored


def _locked_team(team: Team) -> Team:
    stored = (
        Team.objects.select_for_update(of=("self",))
        .select_related("challenge")
        .filter(pk=team.pk)
        .first()
    )
    if stored is None:
        raise Refused(_("The team has been deleted meanwhile."))
    return stored


def _boards_changed(team: Team) -> None:
    """Who may be read there has changed: what was stored is not shown any more."""
    team.challenge.rounds.update(revision=F("revision") + 1)
    drop(team.challenge.rounds.values_list("version_id", flat=True), kind=BOARD)


# --- submissions ----------------------------------------------------------------------------------


def disqualify(submission: Submission, reason: str, by: Any = None) -> Submission:
    """It has no rank and its system leaves the corpus; the attempt stays taken. Raises
    ``Refused``."""
    reason = _checked_reason(reason)
    with transaction.atomic():
        stored = _locked_submission(submission)
        if stored.disqualified_at is not None:
            raise Refused(_("The submission is disqualified already."))
        stored.disqualified_at, stored.disqualification = timezone.now(), reason
        stored.save(update_fields=["disqualified_at", "disqualification"])
        LogLine.write(
            stored.pk,
            _("Disqualified by an organiser: %(reason)s") % {"reason": reason[:900]},
            level="warning",
        )
        board_changed(stored.round_id)
        drop([stored.version_id], kind=BOARD)
        _withhold([stored])
        _record(by, "submission.disqualified", stored, reason=reason)
    return stored


def reinstate(submission: Submission, by: Any = None) -> Submission:
    with transaction.atomic():
        stored = _locked_submission(submission)
        if stored.disqualified_at is None:
            raise Refused(_("The submission is not disqualified."))
        reason, stored.disqualified_at, stored.disqualification = stored.disqualification, None, ""
        stored.save(update_fields=["disqualified_at", "disqualification"])
        LogLine.write(stored.pk, _("Reinstated by an organiser."))
        board_changed(stored.round_id)
        _record(by, "submission.reinstated", stored, reason_before=reason)
    return stored


def flag_baseline(submission: Submission, is_baseline: bool, by: Any = None) -> Submission:
    """A baseline stands on the board, flagged and without a rank, and on the corpus's pages, once
    published, as what it is. Raises ``Refused``."""
    with transaction.atomic():
        stored = _locked_submission(submission)
        if stored.is_baseline == is_baseline:
            raise Refused(
                _("It is flagged as a baseline already.")
                if is_baseline
                else _("It is not flagged as a baseline.")
            )
        stored.is_baseline = is_baseline
        stored.save(update_fields=["is_baseline"])
        board_changed(stored.round_id)
        _set_kind([stored])
        _record(by, "submission.baseline" if is_baseline else "submission.no_baseline", stored)
    return stored


def _locked_submission(submission: Submission) -> Submission:
    found = Submission.objects.select_for_update(of=("self",)).select_related(
        "round__challenge", "system", "team"
    )
    stored = found.filter(pk=submission.pk, round__isnull=False).first()
    if stored is None:
        raise Refused(_("This is no submission to a round."))
    return stored


def _record(by: Any, action: str, submission: Submission, **details: Any) -> None:
    round, team = submission.round, submission.team
    assert round is not None  # _locked_submission finds no others
    assert team is not None
    audit.record(
        by,
        action,
        submission.name,
        challenge=round.challenge.slug,
        round=round.slug,
        team=team.name,
        submission=submission.public_id,
        **details,
    )


def _checked_reason(reason: str) -> str:
    return checked_text(
        reason,
        LONGEST_REASON,
        "reason",
        lambda fault: _("The reason %(fault)s. The team reads it.") % {"fault": fault},
    )


# --- when others see it ---------------------------------------------------------------------------


def release(round: Round, by: Any = None) -> Round:
    """Everybody sees the private leaderboard from now on. Raises ``Refused`` where it is released
    already."""
    with transaction.atomic():
        stored = locked_round(round)
        now = timezone.now()
        if is_released(stored.release_at, now):
            raise Refused(_("The private leaderboard is released already."))
        before, stored.release_at = stored.release_at, now
        stored.revision += 1
        stored.save(update_fields=["release_at", "revision"])
        audit.record(
            by,
            "round.released",
            stored.name,
            challenge=stored.challenge.slug,
            round=stored.slug,
            planned=None if before is None else before.isoformat(),
        )
    return stored


def open_references(round: Round, by: Any = None) -> Round:
    """The hidden references become public, for good. Raises ``Refused`` where they are."""
    with transaction.atomic():
        stored = locked_round(round)
        if stored.references == Round.References.PUBLIC:
            raise Refused(_("The references of this round are public already."))
        stored.references = Round.References.PUBLIC
        stored.revision += 1
        stored.save(update_fields=["references", "revision"])
        audit.record(
            by,
            "round.references_opened",
            stored.name,
            challenge=stored.challenge.slug,
            round=stored.slug,
            corpus=str(stored.version),
        )
    return stored


def why_not_publish(round: Round, now: datetime | None = None) -> str:
    """Why the round's systems cannot be published to the corpus yet, or "". A corpus's pages show
    every metric's score at every turn, those of the private leaderboard's dialogues too."""
    if has_private_board(round) and not is_released(round.release_at, now or timezone.now()):
        return _(
            "The private leaderboard is not released. The corpus's pages would show what it "
            "holds back."
        )
    return ""


def publish_systems(round: Round, by: Any = None) -> int:
    """What was scored and not disqualified becomes a system of the corpus like any other; returns
    how many that are new there. Raises ``Refused``. Pressed again, it publishes what has come
    since."""
    with transaction.atomic():
        stored = locked_round(round)
        if why := why_not_publish(stored):
            raise Refused(why)
        chosen = list(publishable(stored).filter(system__withheld=True).select_related("system"))
        if not chosen:
            raise Refused(_("There is nothing new to publish."))
        _set_kind(chosen)
        System.objects.filter(pk__in=[one.system_id for one in chosen]).update(withheld=False)
        data_changed([stored.version_id])
        audit.record(
            by,
            "round.published",
            stored.name,
            challenge=stored.challenge.slug,
            round=stored.slug,
            corpus=str(stored.version),
            systems=[one.system.name for one in chosen if one.system is not None],
        )
    return len(chosen)


def withhold_systems(round: Round, by: Any = None) -> int:
    """Take the round's systems off the corpus's pages again; returns how many that were. Raises
    ``Refused``."""
    with transaction.atomic():
        stored = locked_round(round)
        names = _withhold(stored.submissions.all())
        if not names:
            raise Refused(_("None of the round's systems is published."))
        audit.record(
            by,
            "round.withheld",
            stored.name,
            challenge=stored.challenge.slug,
            round=stored.slug,
            corpus=str(stored.version),
            systems=names,
        )
    return len(names)


def publishable(round: Round) -> QuerySet[Submission]:
    return round.submissions.filter(
        state=Submission.State.SCORED,
        disqualified_at__isnull=True,
        team__disqualified_at__isnull=True,
        system__isnull=False,
    )


def _withhold(submissions: Iterable[Submission]) -> list[str]:
    """The names of systems that were to be seen and are no longer."""
    published = System.objects.filter(
        pk__in=[one.system_id for one in submissions if one.system_id], withheld=False
    )
    found = list(published.order_by("position").values_list("pk", "name", "version_id"))
    if found:
        System.objects.filter(pk__in=[pk for pk, _name, _version in found]).update(withheld=True)
        versions = {version for _pk, _name, version in found}
        data_changed(versions)
        drop(versions)
    return [name for _pk, name, _version in found]


def _set_kind(submissions: Iterable[Submission]) -> None:
    for submission in submissions:
        system = submission.system
        if system is None:
            continue
        kind = System.Kind.BASELINE if submission.is_baseline else System.Kind.AGENT
        if (
            System.objects.filter(pk=system.pk).exclude(kind=kind).update(kind=kind)
            and not system.withheld
        ):
            data_changed([system.version_id])


# --- scoring again --------------------------------------------------------------------------------


def re_evaluate_all(round: Round, by: Any = None) -> int:
    """Every submission that was scored, or that failed at scoring, gets what the round asks for
    now; returns how many that are. What is scored already is not computed again. Raises ``Refused``
    where there is none.

    Each for itself: a thousand of them hold up nobody, and one that ended otherwise meanwhile stays
    as it is.
    """
    states = [Submission.State.SCORED, Submission.State.FAILED]
    found = round.submissions.filter(state__in=states, system__isnull=False).order_by("pk")
    taken = 0
    for submission in found:
        with suppress(CannotDo):
            re_evaluate(submission, by)
            taken += 1
    if not taken:
        raise Refused(_("No submission has been scored yet."))
    with transaction.atomic():
        audit.record(
            by,
            "round.re-evaluated",
            round.name,
            challenge=round.challenge.slug,
            round=round.slug,
            metrics=[*round.metrics, *round.private_metrics],
            submissions=taken,
        )
    return taken
