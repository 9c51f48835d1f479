"""The people of one run: sessions, tokens, a rating campaign that was just opened, metrics that
wait to be asked for.

Those of earlier runs in the same folder stay; their campaigns are closed, and the runs that they
asked for are deleted.
"""

from __future__ import annotations

import re
import secrets
import urllib.request
from typing import Any

from bench.made_corpus import SEED, configurations
from bench.mixed.loading import BIG, CHALLENGE, PASSWORD, SCORED, SMALL
from bench.mixed.mix import Known

SYSTEMS_RATED, RATERS_AN_ITEM = 60, 3
VIEWERS = 20
LIVE = slice(SCORED, SCORED + 8)


def known(site_address: str) -> Known:
    from annotations.models import System
    from tests.campaigns.http_rater import sessions_of

    viewers = [_user(f"viewer-{number}") for number in range(VIEWERS)]
    systems = {
        slug: list(
            System.objects.filter(version__corpus__slug=slug, withheld=False)
            .order_by("position")
            .values_list("name", flat=True)
        )
        for slug in (BIG, SMALL)
    }
    metrics = [one.text for one in configurations(SCORED)]
    tokens = [_token(user, "read", "export") for user in viewers]
    return Known(metrics, systems, sessions_of(viewers), tokens, _assets(site_address))


def people(raters: int) -> dict[str, Any]:
    from common.roles import ORGANISER
    from leaderboard.challenges.models import Member
    from tests.campaigns.http_rater import sessions_of

    organiser = _user("organiser")
    _into_group(organiser, ORGANISER)
    members = [
        row.user for row in Member.objects.filter(challenge__slug=CHALLENGE).select_related("user")
    ]
    slug, names = _campaign(raters)
    return {
        "organiser": sessions_of([organiser])[0],
        "members": [
            {"session": session, "token": _token(user, "read", "submit")}
            for user, session in zip(members, sessions_of(members), strict=True)
        ],
        "raters": [{"name": name, "password": PASSWORD, "campaign": slug} for name in names],
        "campaign": slug,
        "runs": _runs(),
    }


def _user(name: str) -> Any:
    from django.contrib.auth import get_user_model

    return get_user_model().objects.get_or_create(username=name)[0]


def _into_group(user: Any, name: str) -> None:
    from django.contrib.auth.models import Group

    user.groups.add(Group.objects.get_or_create(name=name)[0])


def _token(user: Any, *scopes: str) -> str:
    from dialeval_site.accounts import tokens
    from dialeval_site.models import ApiToken

    ApiToken.objects.filter(user=user).delete()
    return tokens.make(user, "the bench", scopes, 30)[1]


def _assets(address: str) -> list[str]:
    """Style and script of the home page."""
    with urllib.request.urlopen(f"{address}/") as answer:
        text = answer.read().decode()
    return re.findall(r'<(?:link|script)[^>]*(?:href|src)="(/static/[^"]+\.(?:css|js))"', text)


# --- raters ---------------------------------------------------------------------------------------


def _campaign(raters: int) -> tuple[str, list[str]]:
    """Sixty systems of the big corpus, three raters an item; the raters have joined and have a
    password."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.hashers import make_password

    from annotations.campaigns.actions.opening import open_campaign
    from annotations.campaigns.actions.work_queue import join
    from annotations.campaigns.models import Campaign, Guidelines, Invitation
    from annotations.models import CorpusVersion
    from common.roles import RATER

    Campaign.objects.filter(slug__startswith="mixed-").exclude(state="closed").update(
        state="closed"
    )
    version = CorpusVersion.objects.get(corpus__slug=BIG)
    slug = f"mixed-{secrets.token_hex(4)}"
    campaign = Campaign.objects.create(
        slug=slug,
        name=slug,
        kind="turn",
        version=version,
        raters_per_item=RATERS_AN_ITEM,
        seed=SEED,
    )
    campaign.systems.set(
        version.systems.filter(withheld=False).order_by("position")[:SYSTEMS_RATED]
    )
    Guidelines.objects.create(
        campaign=campaign, number=1, text="Read the dialogue. Rate the last answer."
    )
    open_campaign(campaign)
    invitation = Invitation.objects.create(campaign=campaign)
    stored = make_password(PASSWORD)
    names = [f"{slug}-rater-{number}" for number in range(raters)]
    for name in names:
        user = get_user_model().objects.create(username=name, password=stored)
        _into_group(user, RATER)
        join(campaign, user, invitation)
    return slug, names


# --- metric runs ----------------------------------------------------------------------------------


def _runs() -> list[dict[str, str]]:
    """What the organiser asks for: a metric on all systems of the smaller corpus; every third time,
    of the big one."""
    from annotations.corpora.actions import data_changed
    from annotations.models import CorpusVersion
    from workers.models import MetricRun

    live = [one.text for one in configurations(LIVE.stop)[LIVE]]
    asked_before = MetricRun.objects.filter(
        configuration__in=live, system__version__corpus__slug__in=[BIG, SMALL]
    )
    if asked_before.delete()[0]:
        data_changed(
            list(
                CorpusVersion.objects.filter(corpus__slug__in=[BIG, SMALL]).values_list(
                    "pk", flat=True
                )
            )
        )
    return [
        {"corpus": BIG if place % 3 == 1 else SMALL, "metrics": name}
        for place, name in enumerate(live)
    ]
