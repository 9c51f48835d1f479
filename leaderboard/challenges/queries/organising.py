"""What organisers read of their challenges: rounds, what can be chosen for one, teams,
submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.campaigns.models import ChatSystem
from annotations.corpora.queries import public_corpora
from annotations.models import CorpusVersion, Turn
from common.web import Step, with_the_next
from leaderboard.challenges.actions.setup import what_is_missing
from leaderboard.challenges.models import (
    AT_WORK,
    COUNTED,
    Challenge,
    LogLine,
    Member,
    Round,
    Submission,
    Team,
)
from leaderboard.challenges.phase import is_released, phase_of
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs.queries import why_not_offered

# --- what a round can be made of ------------------------------------------------------------------


def versions_to_choose() -> QuerySet[CorpusVersion]:
    """Those that responses can be scored on: with turns that have references. The newest of a
    corpus first."""
    referenced = Turn.objects.filter(dialogue__version=OuterRef("pk")).exclude(references=[])
    found = CorpusVersion.objects.select_related("corpus").filter(Exists(referenced))
    return found.order_by("corpus__name", "corpus__slug", "-number")


def endpoints() -> QuerySet[ChatSystem]:
    return ChatSystem.objects.order_by("name")


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """``why_not``: why the metric cannot be computed on the corpus here, or ""."""

    text: str
    summary: str
    why_not: str


def metrics_to_choose(
    version: CorpusVersion | None, also: Iterable[str] = ()
) -> list[MetricChoice]:
    """Every metric in its default configuration, then the configurations ``also`` that are not
    among them."""
    choices = {
        name: MetricChoice(
            name, metric.summary, "" if version is None else why_not_offered(parse(name), version)
        )
        for name, metric in all_metrics().items()
    }
    for text in also:
        if text in choices:
            continue
        try:
            configuration = parse(text)
        except ConfigurationError as problem:  # a plug-in that is gone
            choices[text] = MetricChoice(text, str(problem), str(problem))
        else:
            why_not = "" if version is None else why_not_offered(configuration, version)
            choices[text] = MetricChoice(text, configuration.metric.summary, why_not)
    return list(choices.values())


def other_rounds_on(version: CorpusVersion, round: Round | None) -> QuerySet[Round]:
    """Rounds on any version of the same corpus: hidden references of one hide the corpus in all."""
    found = Round.objects.select_related("challenge").filter(version__corpus_id=version.corpus_id)
    return found if round is None else found.exclude(pk=round.pk)


# --- the challenge --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoundRow:
    round: Round
    phase: str
    is_released: bool
    submissions: int
    at_work: int


def round_rows(challenge: Challenge, now: datetime | None = None) -> list[RoundRow]:
    now = now or timezone.now()
    rounds = challenge.rounds.select_related("version__corpus").annotate(
        submission_count=Count("submissions"),
        at_work_count=Count("submissions", filter=Q(submissions__state__in=AT_WORK)),
    )
    return [
        RoundRow(
            one,
            phase_of(one.opens_at, one.closes_at, challenge.state, now),
            is_released(one.release_at, now),
            one.submission_count,
            one.at_work_count,
        )
        for one in rounds.order_by("position", "pk")
    ]


def steps_of(challenge: Challenge, lines: list[RoundRow]) -> list[Step]:
    """The way to a challenge's end, with the next step marked."""
    states = Challenge.State
    is_draft, is_closed = challenge.state == states.DRAFT, challenge.state == states.CLOSED
    steps = [
        Step(
            "rules",
            _("Write the rules"),
            _("What teams read before they take part."),
            bool(challenge.rules.strip()),
        ),
        Step(
            "rounds", _("Set up the rounds"), _("Dialogues, dates, limits, metrics."), bool(lines)
        ),
        Step(
            "open",
            _("Open the challenge"),
            _("From then on everybody sees it and can make a team."),
            not is_draft,
        ),
        Step(
            "close",
            _("Close the challenge"),
            _("No more submissions are accepted; leaderboards and results stay."),
            is_closed,
        ),
    ]
    return with_the_next(steps)


def missing_for_opening(challenge: Challenge) -> list[str]:
    return what_is_missing(challenge) if challenge.state == Challenge.State.DRAFT else []


# --- teams ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TeamRow:
    team: Team
    members: list[Member]
    handed_in: int
    counted_today: int
    counted: dict[int, int]
    """Of each round (its key): how many attempts are taken."""
    last_at: datetime | None


def team_rows(challenge: Challenge, now: datetime | None = None) -> list[TeamRow]:
    today = (now or timezone.now()).date()
    teams = challenge.teams.prefetch_related(
        Prefetch("members", Member.objects.select_related("user").order_by("pk"))
    )
    handed_in: dict[int, list[tuple[int, str, Any, datetime]]] = {}
    rows = Submission.objects.filter(team__challenge=challenge).order_by("received_at", "pk")
    for team_id, round_id, state, day, received_at in rows.values_list(
        "team_id", "round_id", "state", "day", "received_at"
    ):
        handed_in.setdefault(team_id, []).append((round_id, state, day, received_at))
    found = []
    for team in teams.order_by("name", "pk"):
        own = handed_in.get(team.pk, [])
        counted = [(round_id, day) for round_id, state, day, _at in own if state in COUNTED]
        found.append(
            TeamRow(
                team=team,
                members=list(team.members.all()),
                handed_in=len(own),
                counted_today=sum(day == today for _round_id, day in counted),
                counted=Counter(round_id for round_id, _day in counted),
                last_at=own[-1][3] if own else None,
            )
        )
    return found


def find_team(public_id: str) -> Team | None:
    return Team.objects.select_related("challenge").filter(public_id=public_id).first()


# --- submissions ----------------------------------------------------------------------------------


def submissions_of(
    challenge: Challenge, round_slug: str = "", state: str = "", team: str = ""
) -> QuerySet[Submission]:
    """Newest first. ``state`` may be ``unfinished``; ``team`` is a team's public id."""
    found = Submission.objects.filter(round__challenge=challenge).select_related(
        "round", "team", "user", "twin__team", "system"
    )
    if round_slug:
        found = found.filter(round__slug=round_slug)
    if state == "unfinished":
        found = found.filter(state__in=AT_WORK)
    elif state:
        found = found.filter(state=state)
    if team:
        found = found.filter(team__public_id=team)
    return found.order_by("-received_at", "-pk")


def state_counts(challenge: Challenge) -> dict[str, int]:
    return dict(
        Submission.objects.filter(round__challenge=challenge)
        .order_by()
        .values_list("state")
        .annotate(Count("pk"))
    )


def ranking_scores(submissions: Iterable[Submission]) -> dict[int, tuple[float | None, str]]:
    """{submission key: (score over all dialogues on its round's ranking metric, why there is
    none)}."""
    params = {one.system_id: one for one in submissions if one.system_id and one.round is not None}
    runs = MetricRun.objects.filter(system__in=list(params)).values_list(
        "system_id", "configuration", "state", "system_score", "system_reason", "error"
    )
    scores: dict[int, tuple[float | None, str]] = {}
    for system_id, configuration, state, score, reason, error in runs.order_by("pk"):
        submission = params[system_id]
        if submission.round is not None and configuration == submission.round.ranking_metric:
            scores[submission.pk] = (score, reason or error or state)
    return scores


def find_submission(challenge: Challenge, public_id: str) -> Submission | None:
    return submissions_of(challenge).filter(public_id=public_id).first()


def log_of(submission: Submission) -> list[LogLine]:
    """All of it, what is for organisers alone, too."""
    return list(submission.log.order_by("pk"))


def everybody_sees_corpus_of(round: Round) -> bool:
    """Not where the corpus is kept to organisers, by its own setting or by any round that hides its
    references."""
    return public_corpora().filter(versions=round.version_id).exists()


def published_counts(round: Round) -> tuple[int, int]:
    """(systems of the round that stand on the corpus's pages, all that could)."""
    scored = round.submissions.filter(state=Submission.State.SCORED, system__isnull=False)
    return scored.filter(system__withheld=False).count(), scored.filter(
        disqualified_at__isnull=True, team__disqualified_at__isnull=True
    ).count()
