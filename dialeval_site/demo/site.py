"""The demo data: a small corpus written for this project, three log-ins, the runs that score it,
and what there is to try: campaigns, an arena and a challenge.

Only in development mode: the pass words are known to everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from annotations.corpora import actions
from annotations.corpora.queries import select_systems
from annotations.formats.importers.registry import importers
from annotations.models import CorpusVersion, DemoAccount
from common.roles import ORGANISER, PARTICIPANT, RATER
from dialeval_site.demo.arena import load_demo_arena
from dialeval_site.demo.campaigns import load_demo_campaigns
from dialeval_site.demo.challenge import load_demo_challenge
from workers.judges.actions import start_judge_run
from workers.judges.models import JudgeRun
from workers.metrics.common.configuration import parse
from workers.metrics.registry import all_metrics
from workers.runs import actions as runs
from workers.runs import queries

DEMO_CORPUS = settings.PROJECT / "annotations" / "demo" / "demo.jsonl"
DEMO_SLUG = "demo"

WITH_A_MODEL = ("bertscore_f1", "simcse", "context_similarity", "fbd", "pmi")
"""One of each kind, where the packaged models are installed."""
JUDGES, JUDGE_TOKENS = ("cpdscore_detail",), 1_000_000
"""Behind all else: it takes minutes on two cores, 450 calls of 900 tokens. The budget is there to
be seen."""


@dataclass(frozen=True, slots=True)
class DemoLogIn:
    username: str
    password: str
    role: str


DEMO_ACCOUNTS = (
    DemoLogIn("organiser", "demo-organiser", ORGANISER),
    DemoLogIn("rater", "demo-rater", RATER),
    DemoLogIn("participant", "demo-participant", PARTICIPANT),
)


class NoDemoInProduction(Exception):
    pass


def load_demo() -> CorpusVersion:
    """Idempotent: what is there stays as it is."""
    if settings.PRODUCTION:
        raise NoDemoInProduction(
            "the demo's pass words are public; it is not loaded in production mode"
        )
    for account in DEMO_ACCOUNTS:
        make_account(account)
    (outcome,) = actions.import_corpus(importers()["jsonl"], DEMO_CORPUS, DEMO_SLUG)
    _score(outcome.version)
    load_demo_campaigns(outcome.version)
    load_demo_arena(outcome.version)
    load_demo_challenge(outcome.version)
    _judge(outcome.version)
    return outcome.version


@transaction.atomic
def make_account(account: DemoLogIn) -> Any:
    """An account that is there is its owner's, whatever its name: it gets no mark."""
    user, created = get_user_model().objects.get_or_create(
        username=account.username, defaults={"is_staff": account.role == ORGANISER}
    )
    if created:
        user.set_password(account.password)
        user.save()
        user.groups.add(Group.objects.get(name=account.role))
        DemoAccount.objects.create(user=user)
    return user


def _score(version: CorpusVersion) -> None:
    """Metrics without a model first: they are there in seconds, while the workers load the models
    of the others."""
    known = all_metrics()
    quick = [metric.name for metric in known.values() if metric.queue == "cpu"]
    named = [*quick, *(name for name in WITH_A_MODEL if name in known)]
    offered = [parse(name) for name in named if not queries.why_not_offered(parse(name), version)]
    runs.request(offered, select_systems(version))


def _judge(version: CorpusVersion) -> None:
    """Once: who stopped it does not want it again at the next start."""
    for judge in map(parse, JUDGES):
        known = JudgeRun.objects.filter(version=version, configuration=judge.text).exists()
        if not known and not queries.why_not_offered(judge, version):
            start_judge_run(
                version,
                judge,
                select_systems(version),
                tokens=JUDGE_TOKENS,
                usd=None,
                by=_organiser(),
            )


def _organiser() -> Any:
    """What the demo has begun is that account's, so that in production no worker goes on with
    it."""
    organisers = get_user_model().objects.filter(demo_account__isnull=False)
    return organisers.filter(username=DEMO_ACCOUNTS[0].username).first()


def accounts_on_this_site() -> tuple[DemoLogIn, ...]:
    """Those that are on this site and not switched off, for the log-in page."""
    if settings.PRODUCTION:
        return ()
    marked = DemoAccount.objects.filter(user__is_active=True)
    names = set(marked.values_list("user__username", flat=True))
    return tuple(account for account in DEMO_ACCOUNTS if account.username in names)


def is_demo_password(password: str) -> bool:
    return any(password == account.password for account in DEMO_ACCOUNTS)
