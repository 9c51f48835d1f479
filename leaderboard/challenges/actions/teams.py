"""Teams: founded, joined, left; members removed and banned; the link that lets members in. New
members are kept from rating the team's systems."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotations import audit
from annotations.names import fold, name_fault, tidied
from common.roles import PARTICIPANT, is_organiser
from leaderboard.challenges.actions.conflicts_of_interest import exclude_members_from_rating
from leaderboard.challenges.actions.refusal import LONGEST_REASON, checked_text
from leaderboard.challenges.models import Ban, Challenge, Member, Submission, Team
from leaderboard.challenges.models.team import invitation_expiry, invitation_token
from leaderboard.challenges.queries.challenges import (
    leader_of,
    rates_hidden_corpus_of,
    team_with_invitation,
)

LONGEST_NAME = 80


class CannotJoin(Exception):
    """Nothing was stored; the message says why, for the person who asked. ``field`` is "name" where
    it is the name that cannot be had."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


def found(challenge: Challenge, user: Any, name: str) -> Team:
    """A new team with this person as its first member.

    ``name`` has 1 to 80 characters, is like no other team's of the challenge, and plain
    (``annotations.names``). Raises ``CannotJoin`` for a challenge that is not open, a person who is
    banned, has a team, has submitted for one, or rates its hidden corpora, and a name that cannot
    be had.
    """
    name = tidied(name)
    with transaction.atomic():
        challenge = _held(challenge)
        _refuse_unless_open(challenge)
        _refuse_banned(challenge, user)
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

    Members get a conflict for each of the team's systems, so that nobody rates their own. Raises
    ``CannotJoin`` for a link that is not valid (any more), a challenge that is not open, a full or
    disqualified team, a person who is banned, has another team, has submitted for one, or rates a
    hidden corpus of the challenge.
    """
    with transaction.atomic():
        known = Team.objects.select_related("challenge").filter(invitation=token).first()
        if known is None:
            raise CannotJoin(_("This link is not valid. Ask your team for the current one."))
        challenge = _held(known.challenge)
        if known.members.filter(user=user).exists():
            return known
        _refuse_unless_open(challenge)
        team = team_with_invitation(token)  # as it is now: it may have been revoked in this moment
        if team is None:
            raise CannotJoin(_("This link is not valid. Ask your team for the current one."))
        _refuse_banned(challenge, user)
        if team.disqualified_at is not None:
            raise CannotJoin(_("This team is disqualified and takes no new members."))
        _refuse_second_team(challenge, user, team)
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
    """The person is no member any more; a team without members that handed in nothing is gone, and
    its name free.

    Who has handed something in stays, and so does the last member of a team that has: a result
    needs somebody to answer for it, and a person who could go and found another team would have its
    attempts, too. Nobody leaves a disqualified team: its reason would be gone with the last member,
    who would take part anew. What kept this person from rating the team's systems stays. Raises
    ``CannotJoin`` with the reason.
    """
    with transaction.atomic():
        challenge = _held(team.challenge)
        # Held as in ``places.lock_team``: a submission that is coming in is there before, or finds
        # no member.
        present = Team.objects.select_for_update(no_key=True).filter(pk=team.pk).first()
        members = Member.objects.filter(team=team)
        if present is None or not members.filter(user=user).exists():
            return
        if challenge.state == Challenge.State.CLOSED:
            raise CannotJoin(_("This challenge is closed. Its teams stay as they are."))
        if present.disqualified_at is not None:
            raise CannotJoin(_("This team is disqualified. Its members stay as they are."))
        if Submission.objects.filter(team=team, user=user).exists():
            raise CannotJoin(
                _("You have submitted a submission for this team and stay its member.")
            )
        has_handed_in = Submission.objects.filter(team=team).exists()
        is_last = members.count() == 1
        if has_handed_in and is_last:
            raise CannotJoin(
                _("You are the last member of a team that has submitted submissions, and stay.")
            )
        members.filter(user=user).delete()
        audit.record(
            user,
            "team.left",
            team.name,
            challenge=challenge.slug,
            team=team.public_id,
            team_is_gone=is_last,
        )
        if is_last:
            team.delete()


def remove_member(team: Team, user: Any, by: Any, reason: str = "") -> None:
    """Take a person out of the team at once. Submissions and the audit log keep naming this person.

    The team's leader may remove others, and organisers anybody: a new member cannot push out those
    who were there. The team's link is revoked, for the removed person may know it. A team without
    members that submitted nothing is gone. A leader removes nobody from a disqualified team:
    outside of it they could take part again. Raises ``CannotJoin`` with the reason why nothing was
    changed; where the person is no member there is nothing to do.
    """
    with transaction.atomic():
        challenge = _held(team.challenge)
        stored = Team.objects.select_for_update(no_key=True).filter(pk=team.pk).first()
        if stored is None or not Member.objects.filter(team=stored, user=user).exists():
            return
        if not is_organiser(by):
            leader = leader_of(stored)
            if leader is None or leader.user_id != by.pk:
                raise CannotJoin(_("Only the team's leader and organisers remove members."))
            if user.pk == by.pk:
                raise CannotJoin(_("You cannot remove yourself. Leave the team instead."))
            if stored.disqualified_at is not None:
                raise CannotJoin(_("This team is disqualified. Its members stay as they are."))
        _remove(challenge, stored, user, by, reason)


def ban(challenge: Challenge, user: Any, reason: str, by: Any) -> Ban:
    """No team of the challenge takes this person in any more, and one that has this person loses
    this member. Banned again, only the reason changes. Raises ``Refused`` for a reason that is
    empty or too long."""
    reason = checked_text(
        reason,
        LONGEST_REASON,
        "reason",
        lambda fault: _("The reason %(fault)s.") % {"fault": fault},
    )
    with transaction.atomic():
        challenge = _held(challenge)
        banned, _is_new = Ban.objects.update_or_create(
            challenge=challenge, user=user, defaults={"reason": reason, "created_by": by}
        )
        team = (
            Team.objects.select_for_update(no_key=True)
            .filter(challenge=challenge, members__user=user)
            .first()
        )
        audit.record(
            by, "challenge.banned", user.get_username(), challenge=challenge.slug, reason=reason
        )
        if team is not None:
            _remove(challenge, team, user, by, reason)
    return banned


def lift_ban(challenge: Challenge, user: Any, by: Any) -> bool:
    """The person may be in a team again. False where there was no ban."""
    with transaction.atomic():
        challenge = _held(challenge)
        lifted = bool(Ban.objects.filter(challenge=challenge, user=user).delete()[0])
        if lifted:
            audit.record(by, "challenge.ban_lifted", user.get_username(), challenge=challenge.slug)
    return lifted


def _remove(challenge: Challenge, team: Team, user: Any, by: Any, reason: str) -> None:
    """Challenge and team are locked: a submission that is coming in is there before, or finds no
    member."""
    Member.objects.filter(team=team, user=user).delete()
    is_gone = (
        not Member.objects.filter(team=team).exists()
        and not Submission.objects.filter(team=team).exists()
    )
    audit.record(
        by,
        "team.member_removed",
        team.name,
        challenge=challenge.slug,
        team=team.public_id,
        member=user.get_username(),
        reason=reason,
        team_is_gone=is_gone,
    )
    if is_gone:
        team.delete()
    else:
        _set_invitation(team, None)


def renew_invitation(team: Team, by: Any) -> Team:
    """A new link; the old one lets nobody in any more. Raises ``CannotJoin`` where the team or the
    membership of ``by`` is gone."""
    with transaction.atomic():
        stored = _team_for(team, by)
        _set_invitation(stored, invitation_token())
        audit.record(
            by,
            "team.invitation_renewed",
            stored.name,
            challenge=stored.challenge.slug,
            team=stored.public_id,
        )
    return stored


def revoke_invitation(team: Team, by: Any) -> Team:
    """No link lets anybody in until there is a new one. For members and organisers. Raises
    ``CannotJoin`` as above."""
    with transaction.atomic():
        stored = _team_for(team, by)
        if stored.invitation is not None:
            _set_invitation(stored, None)
            audit.record(
                by,
                "team.invitation_revoked",
                stored.name,
                challenge=stored.challenge.slug,
                team=stored.public_id,
            )
    return stored


def _team_for(team: Team, by: Any) -> Team:
    """The row as it is now, under the lock of its challenge, for a member or an organiser."""
    challenge = _held(team.challenge)
    stored = Team.objects.filter(pk=team.pk).first()
    if stored is None:
        raise CannotJoin(_("This team is gone."))
    if not is_organiser(by) and not Member.objects.filter(team=stored, user=by).exists():
        raise CannotJoin(_("You are no member of this team any more."))
    stored.challenge = challenge
    return stored


def _set_invitation(team: Team, token: str | None) -> None:
    team.invitation = token
    team.invitation_expires_at = None if token is None else invitation_expiry()
    team.save(update_fields=["invitation", "invitation_expires_at"])


def _held(challenge: Challenge) -> Challenge:
    """The row as it is now, one writer at a time: team sizes and names are counted under this
    lock."""
    stored = Challenge.objects.select_for_update(no_key=True).filter(pk=challenge.pk).first()
    if stored is None:
        raise CannotJoin(_("This challenge is gone."))
    return stored


def _refuse_unless_open(challenge: Challenge) -> None:
    if challenge.state == Challenge.State.DRAFT:
        raise CannotJoin(_("This challenge is not open yet."))
    if challenge.state == Challenge.State.CLOSED:
        raise CannotJoin(_("This challenge is closed."))


def _refuse_banned(challenge: Challenge, user: Any) -> None:
    if Ban.objects.filter(challenge=challenge, user=user).exists():
        raise CannotJoin(_("The organisers have banned you from this challenge."))


def _refuse_second_team(challenge: Challenge, user: Any, team: Team | None = None) -> None:
    other = Team.objects.filter(challenge=challenge, members__user=user).first()
    if other is not None:
        raise CannotJoin(
            _("You are in the team %(team)s. One person is in one team of a challenge.")
            % {"team": other.name}
        )
    # Removed from a team one has submitted for, one would have the attempts of a second one, too.
    submitted = Submission.objects.filter(team__challenge=challenge, user=user).exclude(team=team)
    if (before := submitted.select_related("team").first()) is not None and before.team is not None:
        raise CannotJoin(
            _(
                "You have submitted for the team %(team)s. One person submits for one team of a "
                "challenge."
            )
            % {"team": before.team.name}
        )


def _refuse_raters(challenge: Challenge, user: Any) -> None:
    if rates_hidden_corpus_of(challenge, user):
        raise CannotJoin(
            _(
                "You rate in a campaign on a corpus whose references this challenge hides. You "
                "have seen them, and cannot take part."
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
        fold(name) == fold(other)
        for other in Team.objects.filter(challenge=challenge).values_list("name", flat=True)
    ):
        raise CannotJoin(_("Another team has this name."), "name")


def _add(team: Team, user: Any) -> None:
    try:
        with transaction.atomic():
            Member.objects.create(team=team, challenge_id=team.challenge_id, user=user)
    except IntegrityError:
        raise CannotJoin(_("You are in a team of this challenge already.")) from None
    user.groups.add(Group.objects.get_or_create(name=PARTICIPANT)[0])
    exclude_members_from_rating(team.pk)
