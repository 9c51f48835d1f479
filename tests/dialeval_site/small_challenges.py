"""A small challenge on the small corpora, with teams and what they handed in, for tests of
permissions. Rows alone: no worker hears of them, and nothing is noted in the audit log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.utils import timezone

from annotations.models import Corpus, CorpusVersion, System
from common.roles import ORGANISER, PARTICIPANT, RATER
from dialeval_site.models import ApiToken
from leaderboard.challenges.models import Challenge, Member, Round, Submission, Team, Webhook
from leaderboard.models import SubmittedMetric, SubmittedScores
from tests.challenges.boards import scored_with
from tests.challenges.sets import open_round
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, person
from tests.stored_uploads import uploads_folder
from workers.models import MetricRun

RIVAL, MEMBER, DISQUALIFIED = "rival", "member", "disqualified"
TEAMS = (RIVAL, MEMBER, DISQUALIFIED)
ROLE_NAMES = ("anonymous", PARTICIPANT, RIVAL, MEMBER, DISQUALIFIED, RATER, ORGANISER, "superuser")
CUP, DRAFT = "cup", "not-yet"
OPEN, HIDDEN, BARE = "practice", "final", "spare"
"""Rounds: on the public corpus; with hidden references, on the corpus that ``is_public`` calls
public, too; one that nothing was handed in to."""
UNSAID = "released-one"
"""In the name of each system that is withheld, and in no name that anybody chose."""


@dataclass(frozen=True)
class Stage:
    """Names of what is there, by whose they are."""

    invitation: str
    teams: dict[str, str]
    scored: dict[str, str]
    waiting: dict[str, str]
    hidden: dict[str, str]
    tokens: dict[str, int]
    webhooks: dict[str, int]
    metric: int

    def mine(self, role: str) -> str:
        """Whose things stand in the address that this role opens: its own where it has a team, else
        the member's."""
        return role if role == DISQUALIFIED else MEMBER


def make_stage() -> Stage:
    people = {name: _user(name) for name in TEAMS}
    challenge = Challenge.objects.create(
        slug=CUP, name="The cup", rules="Cook alone.", state="open"
    )
    Corpus.objects.filter(slug=PRIVATE).update(is_public=True)  # hidden by its round alone
    rounds = {
        OPEN: open_round(
            version_of(PUBLIC), challenge, slug=OPEN, name="Practice", public_share=0.5
        ),
        HIDDEN: open_round(
            version_of(PRIVATE), challenge, slug=HIDDEN, name="Final", references="hidden"
        ),
        BARE: open_round(version_of(PUBLIC), challenge, slug=BARE, name="Spare"),
    }
    teams = {name: _team(challenge, name, user) for name, user in people.items()}
    draft = Challenge.objects.create(slug=DRAFT, name="Not yet", state="draft")
    open_round(version_of(PUBLIC), draft, slug=OPEN, name="Practice")
    _team(draft, "early", people[MEMBER])
    scored = {
        name: _scored(rounds[OPEN], team, place) for place, (name, team) in enumerate(teams.items())
    }
    hidden = {
        name: _scored(rounds[HIDDEN], team, 3 + place)
        for place, (name, team) in enumerate(teams.items())
    }
    waiting = {
        name: _waiting(rounds[OPEN], team, place)
        for place, (name, team) in enumerate(teams.items())
    }
    Team.objects.filter(pk=teams[DISQUALIFIED].pk).update(
        disqualified_at=timezone.now(), disqualification="read the answers"
    )
    everybody = {name: person(name) for name in ROLE_NAMES[1:]}
    return Stage(
        invitation=teams[MEMBER].invitation,
        teams={name: team.public_id for name, team in teams.items()},
        scored=scored,
        waiting=waiting,
        hidden=hidden,
        tokens={name: _token(user).pk for name, user in everybody.items()},
        webhooks={name: _webhook(user).pk for name, user in everybody.items()},
        metric=_metric(people[MEMBER]).pk,
    )


def version_of(slug: str) -> CorpusVersion:
    return Corpus.objects.get(slug=slug).versions.get()


def _user(name: str) -> User:
    user = get_user_model().objects.create_user(f"the-{name}")
    user.groups.add(Group.objects.get_or_create(name=PARTICIPANT)[0])
    return user


def _team(challenge: Challenge, name: str, user: User) -> Team:
    team = Team.objects.create(challenge=challenge, name=f"Team {name}", created_by=user)
    Member.objects.create(team=team, challenge=challenge, user=user)
    return team


def _scored(round: Round, team: Team, place: int) -> str:
    scores = [0.25 + place / 10] * 4
    one = scored_with(
        round, team, scores, place, name=f"soup of {team.pk}", user=team.members.get().user
    )
    System.objects.filter(pk=one.system_id).update(name=f"{UNSAID}-{one.system_id}")
    (uploads_folder() / one.stored_as).write_text(json.dumps([]), encoding="utf-8")
    return one.public_id


def _waiting(round: Round, team: Team, place: int) -> str:
    one = Submission.objects.create(
        kind="responses",
        track="gpu",
        round=round,
        team=team,
        user=team.members.get().user,
        version=round.version,
        name=f"bread of {team.pk}",
        file_name="bread.json",
        stored_as=f"waiting-{team.pk}",
        size=1,
        sha256=f"{place:064x}",
        day=timezone.now().date(),
        day_place=place + 1,
        day_limit=5,
        total_place=place + 50,
        total_limit=100,
    )
    (uploads_folder() / one.stored_as).write_text("[]", encoding="utf-8")
    return one.public_id


def _token(user: User) -> ApiToken:
    return ApiToken.objects.create(
        user=user,
        name="laptop",
        digest=f"{user.pk:064x}",
        start="dial_aaaaa",
        scopes=["read"],
        expires_at=timezone.now() + timedelta(days=9),
    )


def _webhook(user: User) -> Webhook:
    return Webhook.objects.create(user=user, url="https://hooks.example.org/", secret="s" * 40)


def _metric(owner: User) -> SubmittedMetric:
    metric = SubmittedMetric.objects.create(
        version=version_of(PUBLIC), name="taste", level="turn", sha256="1" * 64, owner=owner
    )
    system = version_of(PUBLIC).systems.get(name="cook")
    SubmittedScores.objects.create(metric=metric, system=system, scores=[0.5, 0.25, 1.0, 0.75])
    return metric


def remove_stage() -> None:
    challenges = Challenge.objects.filter(slug__in=[CUP, DRAFT])
    submissions = Submission.objects.filter(round__challenge__in=challenges)
    systems = list(submissions.exclude(system=None).values_list("system", flat=True))
    for one in submissions:
        (uploads_folder() / one.stored_as).unlink(missing_ok=True)
    submissions.delete()
    MetricRun.objects.filter(system__in=systems).delete()
    System.objects.filter(pk__in=systems).delete()
    SubmittedMetric.objects.filter(name="taste").delete()
    challenges.delete()
    get_user_model().objects.filter(username__in=[f"the-{name}" for name in TEAMS]).delete()
    mine: dict[str, Any] = {"user__username__startswith": "the-"}
    ApiToken.objects.filter(**mine).delete()
    Webhook.objects.filter(**mine).delete()
