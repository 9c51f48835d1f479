"""Making, joining and leaving a team. Who joins is kept from rating the team's systems."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotations import audit
from annotations.names import fold, name_fault, tidied
from annotations.roles import PARTICIPANT
from leaderboard.challenges.actions.stakes import keep_members_from_rating
from leaderboard.challenges.models import Challenge, Member, Submission, Team
from leaderboard.challenges.models.team import invitation_token
from leaderboard.challenges.queries.challenges import rates_hidden_corpus_of

LONGEST_NAME = 80


class CannotJoin(Exception):
    """Nothing was stored; the message says why, for the person who asked. ``field`` is "name" where it is the name
    that cannot be had."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


def found(challenge: Challenge, user: Any, name: str) -> Team:
    """A new team with this person as its first member.

    ``name`` has 1 to 80 characters, is like no other team's of the challenge, and plain (``annotations.names``).
    Raises ``CannotJoin`` for a challenge that is not open, a person who has a team or rates its hidden corpora, and a
    name that cannot be had.
    """
    name = tidied(name)
    with transaction.atomic():
        challenge = _held(challenge)
        _refuse_unless_open(challenge)
        _refuse_second_team(challenge, user)
        _refuse_raters(challenge, user)
        _refuse_name(challenge, name)
        try:
            with transaction.atomic():
                team = Team.objects.create(challenge=challenge, name=name, created_by=user)
        except IntegrityError:
            raise CannotJoin(_("Another team has this name."), "name") from None
        _add(team, user)
        audit.record(user, "team.founded", team.name, challenge=challenge.slug, team=team.public_id)
    return team


def join(token: str, user: Any) -> Team:
    """Make the person a member of the team whose invitation this is; a member stays one.

    Members get a conflict for each of the team's systems, so that nobody rates their own. Raises ``CannotJoin`` for a
    link that is not valid (any more), a challenge that is not open, a full or disqualified team, a person who has
    another team or rates a hidden corpus of the challenge.
    """
    with transaction.atomic():
        known = Team.objects.select_related("challenge").filter(invitation=token).first()
        if known is None:
            raise CannotJoin(_("This link is not valid. Ask your team for the one that holds now."))
        challenge = _held(known.challenge)
        team = Team.objects.filter(invitation=token).first()
        if team is None:  # renewed in this moment
            raise CannotJoin(_("This link is not valid. Ask your team for the one that holds now."))
        if team.members.filter(user=user).exists():
            return team
        _refuse_unless_open(challenge)
        if team.disqualified_at is not None:
            raise CannotJoin(_("This team is disqualified and takes no new members."))
        _refuse_second_team(challenge, user)
        if team.members.count() >= challenge.largest_team:
            raise CannotJoin(
                _("This team is full: it has %(count)d members, and more are not allowed.")
                % {"count": challenge.largest_team}
            )
        _refuse_raters(challenge, user)
        _add(team, user)
        audit.record(user, "team.joined", team.name, challenge=challenge.slug, team=team.public_id)
    return team


def leave(team: Team, user: Any) -> None:
    """The person is no member any more; a team without members that handed in nothing is gone, and its name free.

    Who has handed something in stays, and so does the last member of a team that has: a result needs somebody to
    answer for it, and a person who could go and found another team would have its attempts, too. Nobody leaves a
    disqualified team: its reason would be gone with the last member, who would take part anew. What kept this person
    from rating the team's systems stays. Raises ``CannotJoin`` with the reason.
    """
    with transaction.atomic():
        challenge = _held(team.challenge)
        # Held as in ``places.lock_team``: a submission that is coming in is there before, or finds no member.
        present = Team.objects.select_for_update(no_key=True).filter(pk=team.pk).first()
        members = Member.objects.filter(team=team)
        if present is None or not members.filter(user=user).exists():
            return
        if challenge.state == Challenge.State.CLOSED:
            raise CannotJoin(_("This challenge is closed. Its teams stay as they are."))
        if present.disqualified_at is not None:
            raise CannotJoin(_("This team is disqualified. Its members stay as they are."))
        if Submission.objects.filter(team=team, user=user).exists():
            raise CannotJoin(_("You have handed in a submission for this team and stay its member."))
        has_handed_in = Submission.objects.filter(team=team).exists()
        is_last = members.count() == 1
        if has_handed_in and is_last:
            raise CannotJoin(_("You are the last member of a team that has handed in submissions, and stay."))
        members.filter(user=user).delete()
        audit.record(user, "team.left", team.name, challenge=challenge.slug, team=team.public_id, team_is_gone=is_last)
        if is_last:
            team.delete()


def renew_invitation(team: Team, by: Any) -> Team:
    """A new link; the old one lets nobody in any more. Raises ``CannotJoin`` where the team is gone."""
    with transaction.atomic():
        challenge = _held(team.challenge)
        stored = Team.objects.filter(pk=team.pk).first()
        if stored is None:
            raise CannotJoin(_("This team is gone."))
        team = stored
        team.invitation = invitation_token()
        team.save(update_fields=["invitation"])
        audit.record(by, "team.invitation_renewed", team.name, challenge=challenge.slug, team=team.public_id)
    return team


def _held(challenge: Challenge) -> Challenge:
    """The row as it is now, one writer at a time: team sizes and names are counted under this lock."""
    stored = Challenge.objects.select_for_update(no_key=True).filter(pk=challenge.pk).first()
    if stored is None:
        raise CannotJoin(_("This challenge is gone."))
    return stored


def _refuse_unless_open(challenge: Challenge) -> None:
    if challenge.state == Challenge.State.DRAFT:
        raise CannotJoin(_("This challenge is not open yet."))
    if challenge.state == Challenge.State.CLOSED:
        raise CannotJoin(_("This challenge is closed."))


def _refuse_second_team(challenge: Challenge, user: Any) -> None:
    other = Team.objects.filter(challenge=challenge, members__user=user).first()
    if other is not None:
        raise CannotJoin(
            _("You are in the team %(team)s. One person is in one team of a challenge.") % {"team": other.name}
        )


def _refuse_raters(challenge: Challenge, user: Any) -> None:
    if rates_hidden_corpus_of(challenge, user):
        raise CannotJoin(
            _(
                "You rate in a campaign on a corpus whose references this challenge hides. You have seen them, and "
                "cannot take part."
            )
        )


def _refuse_name(challenge: Challenge, name: str) -> None:
    if not name:
        raise CannotJoin(_("A team needs a name."), "name")
    if len(name) > LONGEST_NAME:
        raise CannotJoin(
            _("The name has %(count)d characters; at most %(most)d are allowed.")
            % {"count": len(name), "most": LONGEST_NAME},
            "name",
        )
    if fault := name_fault(name):
        raise CannotJoin(fault, "name")
    if any(
        fold(name) == fold(other) for other in Team.objects.filter(challenge=challenge).values_list("name", flat=True)
    ):
        raise CannotJoin(_("Another team has this name."), "name")


def _add(team: Team, user: Any) -> None:
    try:
        with transaction.atomic():
            Member.objects.create(team=team, challenge_id=team.challenge_id, user=user)
    except IntegrityError:
        raise CannotJoin(_("You are in a team of this challenge already.")) from None
    user.groups.add(Group.objects.get_or_create(name=PARTICIPANT)[0])
    keep_members_from_rating(team.pk)
