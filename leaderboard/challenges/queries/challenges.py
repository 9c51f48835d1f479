"""Reads of challenges, rounds and teams, as who takes part sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotations.accounts import accounts_that_may_act
from annotations.campaigns.models import Participation
from annotations.models import Turn
from common.roles import is_organiser
from leaderboard.challenges.models import Ban, Challenge, Member, Round, Submission, Team
from leaderboard.challenges.phase import Phase, is_released, phase_of

FAR = datetime(9999, 1, 1, tzinfo=UTC)
"""When a round without a date opens or closes."""


@dataclass(frozen=True, slots=True)
class RoundAt:
    """A round at a moment: whether it takes submissions, and whether its private leaderboard is
    everybody's."""

    round: Round
    phase: Phase
    is_released: bool
    own_submissions: int = 0

    @property
    def release_waits(self) -> bool:
        """There is a private leaderboard, and it comes later."""
        return self.round.release_at is not None and not self.is_released


def at(round: Round, now: datetime | None = None, own_submissions: int = 0) -> RoundAt:
    """``round`` carries its challenge."""
    now = now or timezone.now()
    return RoundAt(
        round,
        phase_of(round.opens_at, round.closes_at, round.challenge.state, now),
        is_released(round.release_at, now),
        own_submissions,
    )


def visible_challenges(user: Any) -> list[Challenge]:
    """Newest first and closed ones last, each with ``team_count``, its rounds as ``at_now`` and the
    reader's team, if any, as ``own_team``. Drafts are organisers'."""
    found = Challenge.objects.annotate(team_count=Count("teams", distinct=True)).prefetch_related(
        "rounds"
    )
    if not is_organiser(user):
        found = found.exclude(state=Challenge.State.DRAFT)
    own = Team.objects.filter(members__user=user) if user.is_authenticated else ()
    teams = {team.challenge_id: team for team in own}
    challenges = list(found)
    for challenge in challenges:
        challenge.at_now = _rounds_at_now(challenge, list(challenge.rounds.all()), {})
        challenge.own_team = teams.get(challenge.pk)
    return sorted(challenges, key=lambda one: one.state == Challenge.State.CLOSED)


def rounds_at_now(challenge: Challenge, team: Team | None) -> list[RoundAt]:
    """The challenge's rounds in their order, with how often this team has submitted."""
    return _rounds_at_now(challenge, list(challenge.rounds.all()), _counts_of(team))


def count_submissions(challenge: Challenge) -> int:
    return Submission.objects.filter(round__challenge=challenge).count()


def _rounds_at_now(
    challenge: Challenge, rounds: Sequence[Round], counts: dict[int, int]
) -> list[RoundAt]:
    now = timezone.now()
    for round in rounds:
        round.challenge = challenge
    return [at(round, now, counts.get(round.pk, 0)) for round in rounds]


def _counts_of(team: Team | None) -> dict[int, int]:
    if team is None:
        return {}
    rows = (
        Submission.objects.filter(team=team).order_by().values_list("round").annotate(Count("pk"))
    )
    return dict(rows)


def memberships_of(user: Any) -> list[Member]:
    """The teams that a person is in, newest challenge first."""
    return list(
        Member.objects.filter(user=user)
        .select_related("team", "challenge")
        .order_by("-challenge__created_at")
    )


def members_of(team: Team) -> list[Member]:
    return list(Member.objects.filter(team=team).select_related("user").order_by("pk"))


def member_named(team: Team, username: str) -> Member | None:
    if "\0" in username:  # PostgreSQL takes none, not even to look for it
        return None
    return Member.objects.filter(team=team, user__username=username).select_related("user").first()


def leader_of(team: Team) -> Member | None:
    """The founder; once that person has left, or may not act any more, whoever has been a member
    longest."""
    members = Member.objects.filter(team=team, user__in=accounts_that_may_act())
    return members.order_by("pk").first()


def why_no_invitation(team: Team) -> str:
    """ "revoked", "expired", "disabled" (a member who may not act knows the link) or, where it
    holds, ""."""
    if team.invitation is None:
        return "revoked"
    if team.invitation_expires_at is None or team.invitation_expires_at <= timezone.now():
        return "expired"
    return "" if _with_valid_links().filter(pk=team.pk).exists() else "disabled"


def _with_valid_links() -> QuerySet[Team]:
    """Every member knows the link: while one may not act (disabled, or of a demo in production), it
    lets nobody in."""
    members = Member.objects.filter(team=OuterRef("pk"))
    return Team.objects.filter(
        Exists(members),
        ~Exists(members.exclude(user__in=accounts_that_may_act())),
        invitation__isnull=False,
        invitation_expires_at__gt=timezone.now(),
    )


def ban_of(challenge: Challenge, username: str) -> Ban | None:
    if "\0" in username:
        return None
    bans = Ban.objects.filter(challenge=challenge, user__username=username)
    return bans.select_related("user").first()


def bans_of(challenge: Challenge) -> list[Ban]:
    return list(Ban.objects.filter(challenge=challenge).select_related("user").order_by("pk"))


def team_with_invitation(token: str) -> Team | None:
    """With its challenge and ``member_count``; None for a link that is not valid (any more) and for
    that of a draft."""
    if "\0" in token:  # PostgreSQL takes none, not even to look for it
        return None
    return (
        _with_valid_links()
        .filter(invitation=token)
        .exclude(challenge__state=Challenge.State.DRAFT)
        .select_related("challenge")
        .annotate(member_count=Count("members"))
        .first()
    )


def is_member(user: Any, team: Team) -> bool:
    return user.is_authenticated and Member.objects.filter(team=team, user=user).exists()


def submitters_of(team: Team) -> set[int]:
    """Keys of the members who have handed in: they stay in the team."""
    return set(
        Submission.objects.filter(team=team, user__isnull=False).values_list("user_id", flat=True)
    )


def why_not_leave(
    challenge: Challenge, team: Team, members: Sequence[Member], submitters: set[int], user: Any
) -> str:
    """ "closed", "disqualified", "submitted", "last" or, where the person may leave, "".
    ``actions.teams.leave`` holds the same rules under its lock."""
    if challenge.state == Challenge.State.CLOSED:
        return "closed"
    if team.disqualified_at is not None:
        return "disqualified"
    if user.pk in submitters:
        return "submitted"
    return "last" if len(members) == 1 and submitters else ""


def rates_hidden_corpus_of(challenge: Challenge, user: Any) -> bool:
    """A rater, of whatever campaign and state, has seen dialogues with what speaker B said."""
    hidden = Round.objects.filter(challenge=challenge, references=Round.References.HIDDEN)
    return Participation.objects.filter(
        user=user, campaign__version__corpus__in=hidden.values("version__corpus")
    ).exists()


def next_round(rounds: Sequence[RoundAt]) -> RoundAt | None:
    """What a team turns to now: the open round that closes first, else the one that opens first."""
    opened = [one for one in rounds if one.phase == "open"]
    if opened:
        return min(opened, key=lambda one: one.round.closes_at or FAR)
    coming = [one for one in rounds if one.phase == "upcoming"]
    return min(coming, key=lambda one: one.round.opens_at or FAR) if coming else None


def challenges_seen_by(user: Any) -> QuerySet[Challenge]:
    """Each with ``team_count``. Drafts are organisers'."""
    found = Challenge.objects.annotate(team_count=Count("teams", distinct=True))
    return found if is_organiser(user) else found.exclude(state=Challenge.State.DRAFT)


def size_of(round: Round) -> tuple[int, int]:
    """(dialogues, turns) that are to be answered."""
    return round.version.dialogues.count(), Turn.objects.filter(
        dialogue__version=round.version_id
    ).count()
