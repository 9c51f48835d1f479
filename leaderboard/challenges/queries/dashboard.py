"""What the desk says of all challenges together: a participant's rounds and submissions, and what
waits for an organiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from leaderboard.challenges.models import Challenge, Member, Round, Submission, Team
from leaderboard.challenges.phase import Phase, phase_of
from leaderboard.challenges.queries.attempts import Attempts, attempts_left_of, day_of
from leaderboard.challenges.queries.board import round_board
from leaderboard.challenges.queries.submissions import is_own

LATELY = timedelta(days=7)
FAILURES = (Submission.State.INVALID, Submission.State.FAILED)


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a round's public leaderboard. ``ranked``: how many entries have a rank; ``score``
    and ``interval`` are of the ranking metric, None where undefined."""

    team: str
    system: str
    rank: int
    worst_rank: int
    ranked: int
    score: float | None
    interval: tuple[float, float] | None


# --- participants ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OwnRound:
    """``round`` carries its challenge; ``latest`` is the team's latest submission to it, ``place``
    the team's on its leaderboard."""

    round: Round
    team: Team
    attempts: Attempts
    latest: Submission | None
    place: Place | None


def teams_of(user: Any) -> list[Member]:
    """Memberships with team and challenge, the newest challenge first; none of drafts, which only
    organisers see."""
    return list(
        Member.objects.filter(user=user)
        .exclude(challenge__state=Challenge.State.DRAFT)
        .select_related("team", "challenge")
        .order_by("-challenge__created_at", "-pk")
    )


def own_open_rounds(
    user: Any, memberships: Sequence[Member], now: datetime, most: int
) -> list[OwnRound]:
    """Open rounds of challenges in which a team of the user's ``memberships`` competes; those that
    close first come first. The leaderboard is read of rounds to which the team submitted."""
    teams = {
        one.challenge_id: one.team
        for one in memberships
        if one.challenge.state == Challenge.State.OPEN and one.team.disqualified_at is None
    }
    if not teams:
        return []
    newest = Submission.objects.filter(round=OuterRef("pk"), team__members__user=user)
    rounds = (
        _open_at(now)
        .filter(challenge__in=teams)
        .select_related("challenge", "version__corpus")
        .annotate(latest=Subquery(newest.order_by("-received_at", "-pk").values("pk")[:1]))
    )
    # PostgreSQL puts what has no date last, SQLite first: said here, so that both do alike.
    by_end = sorted(rounds, key=lambda one: (one.closes_at is None, one.closes_at or now, one.pk))
    shown = by_end[:most]
    attempts = attempts_left_of(user, shown, now)
    latest = Submission.objects.in_bulk([one.latest for one in shown if one.latest])
    return [
        OwnRound(
            one,
            teams[one.challenge_id],
            attempts[one.pk],
            latest.get(one.latest),
            _place(one, user, own=True) if one.latest else None,
        )
        for one in shown
    ]


def latest_submissions(user: Any, most: int) -> list[Submission]:
    """Of the user's teams, and metric scores that the user sent; newest first."""
    found = Submission.objects.select_related("round__challenge", "team", "version__corpus")
    return list(found.filter(is_own(user)).order_by("-received_at", "-pk")[:most])


def open_challenges_to_join(memberships: Sequence[Member], most: int) -> list[Challenge]:
    """Open ones in which the user has no team, the newest first."""
    known = [one.challenge_id for one in memberships]
    found = Challenge.objects.filter(state=Challenge.State.OPEN).exclude(pk__in=known)
    return list(found.order_by("-created_at", "-pk")[:most])


# --- organisers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoundNow:
    """``round`` carries its challenge, ``teams`` and ``submission_count``."""

    round: Round
    phase: Phase
    leader: Place | None


@dataclass(frozen=True, slots=True)
class ChallengesNow:
    """Lists hold at most as many as were asked for."""

    counts: dict[str, int]
    """Challenges by state; a state without challenges is not named."""
    rounds: list[RoundNow]
    """Of challenges that are not closed; open ones first, then those that open next."""
    drafts: list[Challenge]
    failing: list[tuple[Challenge, int]]
    """Open challenges with submissions that failed lately, and how many."""
    to_release: list[Round]
    """Rounds that are over and hold a private leaderboard back, without a date for its release."""
    submissions_today: int


def challenges_now(user: Any, now: datetime, most: int) -> ChallengesNow:
    """What an organiser's desk says of challenges. The leaderboards of open rounds are read."""
    state = Challenge.State
    counts = dict(Challenge.objects.order_by().values_list("state").annotate(Count("pk")))
    drafts = Challenge.objects.filter(state=state.DRAFT).order_by("-created_at", "-pk")
    failed = (
        Submission.objects.filter(
            state=Submission.State.FAILED,
            ended_at__gte=now - LATELY,
            round__challenge__state=state.OPEN,
        )
        .values_list("round__challenge")
        .annotate(count=Count("pk"))
        .order_by("-count", "round__challenge")[:most]
    )
    failing = dict(failed)
    challenges = Challenge.objects.in_bulk(failing)
    holding_back = Round.objects.exclude(challenge__state=state.DRAFT).filter(
        Q(closes_at__lte=now) | Q(challenge__state=state.CLOSED),
        Q(public_share__lt=1) | ~Q(private_metrics=[]),
        release_at=None,
    )
    return ChallengesNow(
        counts=counts,
        rounds=rounds_now(user, now, most),
        drafts=list(drafts[:most]) if counts.get(state.DRAFT) else [],
        failing=[(challenges[key], count) for key, count in failing.items()],
        to_release=list(holding_back.select_related("challenge").order_by("-closes_at")[:most]),
        submissions_today=Submission.objects.filter(
            round__isnull=False,
            received_at__gte=datetime.combine(day_of(now), datetime.min.time(), now.tzinfo),
        ).count(),
    )


def rounds_now(user: Any, now: datetime, most: int) -> list[RoundNow]:
    """Of challenges that are not closed, drafts included, which only organisers see: open ones
    first, those that close first before the others, then those that open next."""
    teams = Team.objects.filter(challenge=OuterRef("challenge")).order_by().values("challenge")
    sent = Submission.objects.filter(round=OuterRef("pk")).order_by().values("round")
    rounds = (
        Round.objects.exclude(challenge__state=Challenge.State.CLOSED)
        .select_related("challenge", "version__corpus")
        .annotate(
            teams=Coalesce(Subquery(teams.annotate(n=Count("pk")).values("n")), 0),
            submission_count=Coalesce(Subquery(sent.annotate(n=Count("pk")).values("n")), 0),
        )
    )
    order = ("open", "upcoming", "closed")
    found = [
        (one, phase_of(one.opens_at, one.closes_at, one.challenge.state, now)) for one in rounds
    ]
    found.sort(
        key=lambda pair: (
            order.index(pair[1]),
            (pair[0].opens_at if pair[1] == "upcoming" else pair[0].closes_at) or now + LATELY,
            pair[0].pk,
        )
    )
    return [
        RoundNow(
            one,
            phase,
            _place(one, user, own=False) if phase == "open" and one.submission_count else None,
        )
        for one, phase in found[:most]
    ]


def _open_at(now: datetime) -> QuerySet[Round]:
    return Round.objects.filter(
        Q(opens_at__isnull=True) | Q(opens_at__lte=now),
        Q(closes_at__isnull=True) | Q(closes_at__gt=now),
        challenge__state=Challenge.State.OPEN,
    )


def _place(round: Round, viewer: Any, *, own: bool) -> Place | None:
    """Of the viewer's team (``own``) or of the leader: entries are in the order of their means, and
    the first with a rank leads. None where that entry has no rank."""
    board = round_board(round, viewer)
    ranked = [entry for entry in board.entries if entry.rank is not None]
    entry = next((one for one in ranked if board.is_own(one) or not own), None)
    if board.answer is None or board.answer.ranking is None or entry is None:
        return None
    mean = entry.scores[board.answer.ranking].mean
    return Place(
        team=entry.team or entry.name,
        system=entry.name,
        rank=entry.rank,
        worst_rank=entry.worst_rank,
        ranked=len(ranked),
        score=mean.value,
        interval=mean.ci,
    )
