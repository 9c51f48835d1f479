"""All reads of the desk, by role. Every list is cut to ``MOST`` before anything is counted for its
members."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Q, Sum

from annotations.audit.queries import Params, entries
from annotations.campaigns.models import Campaign, RatingRevision
from annotations.campaigns.queries.overview import CampaignsNow, campaigns_now
from annotations.campaigns.queries.work_queue import OwnCampaign, takes_part_in_any, waiting_for
from annotations.corpora.imports import failed_imports
from annotations.models import AuditEntry, Corpus, CorpusImport, CorpusVersion, System
from common.roles import PARTICIPANT, RATER, has_role, is_organiser
from leaderboard.challenges.models import Challenge, Member, Submission
from leaderboard.challenges.queries import dashboard as challenge_queries
from leaderboard.challenges.queries.dashboard import LATELY, ChallengesNow, OwnRound
from workers.judges.budgets import is_spent
from workers.judges.models import Budget, Trial
from workers.models import MetricRun
from workers.runs.queries import RunsNow, failed_by_version, runs_now
from workers.training.models import Training

MOST = 5


# --- organisers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes: of the disk that holds DIALEVAL_HOME, and of all files that teams submitted."""

    free: int
    total: int
    submitted: int
    is_remote: bool
    """Submitted files lie in an object store, not on this disk."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """All budgets of judges together; ``largest`` by what was spent, each with its judge run and
    corpus, its challenge or its trial. Sums in USD; ``limit`` is of those that have one."""

    spent: Decimal
    limit: Decimal
    tokens: int
    limited: int
    count: int
    largest: list[Budget]
    exhausted: list[Budget]

    @property
    def left(self) -> Decimal:
        return max(self.limit - self.spent, Decimal(0))


@dataclass(frozen=True, slots=True)
class SetUp:
    """What the site has of the steps from a corpus to a published leaderboard."""

    corpora: bool
    metric_runs: bool
    campaigns: bool
    published: bool
    challenges: bool
    to_score: list[Corpus]
    """Whose newest version has systems and no metric run, the latest imported first."""


@dataclass(frozen=True, slots=True)
class OrganiserDashboard:
    campaigns: CampaignsNow
    challenges: ChallengesNow
    runs: list[RunsNow]
    queued_runs: int
    running_runs: int
    failed_runs: list[tuple[CorpusVersion, int]]
    failed_trials: list[Trial]
    failed_imports: list[CorpusImport]
    trainings: list[Training]
    """Queued, running, and failed within the last week."""
    budgets: Budgets
    storage: Storage
    set_up: SetUp
    activity: list[AuditEntry]


def organiser_dashboard(user: Any, now: datetime) -> OrganiserDashboard:
    unfinished = MetricRun.objects.filter(
        state__in=[MetricRun.State.PENDING, MetricRun.State.RUNNING]
    )
    states = dict(unfinished.order_by().values_list("state").annotate(Count("pk")))
    trials = Trial.objects.filter(state=Trial.State.FAILED, finished_at__gte=now - LATELY)
    trainings = Training.objects.filter(
        Q(state__in=[Training.State.PENDING, Training.State.RUNNING])
        | Q(state=Training.State.FAILED, finished_at__gte=now - LATELY)
    )
    campaigns = campaigns_now(MOST)
    challenges = challenge_queries.challenges_now(user, now, MOST)
    return OrganiserDashboard(
        campaigns=campaigns,
        challenges=challenges,
        runs=runs_now(MOST),
        queued_runs=states.get(MetricRun.State.PENDING, 0),
        running_runs=states.get(MetricRun.State.RUNNING, 0),
        failed_runs=failed_by_version(MOST),
        failed_trials=list(
            trials.select_related("prompt_version__prompt").order_by("-finished_at")[:MOST]
        ),
        failed_imports=list(failed_imports()[:MOST]),
        trainings=list(trainings.order_by("-pk")[:MOST]),
        budgets=_budgets(),
        storage=_storage(),
        set_up=_set_up(campaigns, challenges),
        activity=list(entries(Params()).defer("details")[:MOST]),
    )


def _budgets() -> Budgets:
    reached = Q(tokens_spent__gte=F("tokens_limit")) | Q(cost_spent__gte=F("cost_limit"))
    sums = Budget.objects.aggregate(
        spent=Sum("cost_spent", default=Decimal(0)),
        limit=Sum("cost_limit", default=Decimal(0)),
        tokens=Sum("tokens_spent", default=0),
        limited=Count("cost_limit"),
        count=Count("pk"),
        reached=Count("pk", filter=reached),
    )
    used = (
        Budget.objects.filter(Q(calls__gt=0) | reached)
        .select_related("judge_run__version__corpus", "challenge", "trial__prompt_version__prompt")
        .prefetch_related("holds")
        .order_by("-cost_spent", "-tokens_spent", "-pk")
    )
    exhausted = used.filter(reached)[:MOST] if sums.pop("reached") else []
    return Budgets(
        **sums, largest=list(used[:MOST]), exhausted=[one for one in exhausted if is_spent(one)]
    )


def _storage() -> Storage:
    disk = shutil.disk_usage(settings.HOME)
    submitted = Submission.objects.aggregate(bytes=Sum("size", default=0))["bytes"]
    is_remote = not settings.STORAGES["default"]["BACKEND"].endswith("FileSystemStorage")
    return Storage(disk.free, disk.total, submitted, is_remote)


def _set_up(campaigns: CampaignsNow, challenges: ChallengesNow) -> SetUp:
    newer = CorpusVersion.objects.filter(corpus=OuterRef("corpus"), pk__gt=OuterRef("pk"))
    runs = MetricRun.objects.filter(system__version=OuterRef("pk"))
    systems = System.objects.filter(version=OuterRef("pk"))
    unscored = CorpusVersion.objects.filter(~Exists(newer), Exists(systems), ~Exists(runs))
    return SetUp(
        corpora=Corpus.objects.exists(),
        metric_runs=MetricRun.objects.exists(),
        campaigns=bool(campaigns.counts),
        published=Campaign.objects.filter(published_at__isnull=False).exists(),
        challenges=bool(challenges.counts),
        to_score=[one.corpus for one in unscored.select_related("corpus").order_by("-pk")],
    )


# --- participants and raters ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParticipantDashboard:
    memberships: list[Member]
    rounds: list[OwnRound]
    submissions: list[Submission]
    to_join: list[Challenge]


def participant_dashboard(user: Any, now: datetime, always: bool) -> ParticipantDashboard | None:
    """None for somebody who has neither the role, nor a team, nor a submission, unless ``always``:
    whoever has an account may take part."""
    memberships = challenge_queries.teams_of(user)
    submissions = challenge_queries.latest_submissions(user, MOST)
    if not (always or memberships or submissions or has_role(user, PARTICIPANT)):
        return None
    return ParticipantDashboard(
        memberships=memberships,
        rounds=challenge_queries.own_open_rounds(user, memberships, now, MOST),
        submissions=submissions,
        to_join=challenge_queries.open_challenges_to_join(memberships, MOST),
    )


@dataclass(frozen=True, slots=True)
class RaterDashboard:
    campaigns: list[OwnCampaign]
    """Open ones with something left to do, or that one may join."""
    rated_today: int
    rated: int


def rater_dashboard(user: Any, now: datetime) -> RaterDashboard | None:
    """None for somebody who has neither the role nor a campaign. Organisers may join all campaigns:
    only those they joined are listed."""
    found = waiting_for(user, now, MOST, joined_only=is_organiser(user))
    if not (found or takes_part_in_any(user) or has_role(user, RATER)):
        return None
    own = RatingRevision.objects.filter(number=1, assignment__participation__user=user)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    counts = own.aggregate(all=Count("pk"), today=Count("pk", filter=Q(created_at__gte=midnight)))
    return RaterDashboard(found, counts["today"], counts["all"])
