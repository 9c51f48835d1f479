"""How the addresses and operations of the matrices of challenges are asked, by whom, and what is
compared."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import Campaign
from annotations.models import AuditEntry, System
from common.database import CompiledQuery
from common.roles import ORGANISER, PARTICIPANT
from dialeval_site.accounts import tokens
from dialeval_site.models import ApiToken
from leaderboard.challenges.models import Challenge, Member, Round, Submission, Team, Webhook
from leaderboard.models import SubmittedMetric
from tests.api_client import ALL_SCOPES
from tests.dialeval_site.challenge_matrix import Address
from tests.dialeval_site.small_challenges import (
    DISQUALIFIED,
    MEMBER,
    OPEN,
    RIVAL,
    Stage,
)
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, person

NO_PLACE = "nothing-there"
HTMX = {"HX-Request": "true"}


def path(stage: Stage, address: Address, role: str) -> str:
    """Where this role finds what the address names."""
    whose = stage.mine(role)
    own = role if role != "anonymous" else MEMBER
    places: list[Any] = {
        "": [],
        "challenge": [address.challenge],
        "round": [address.challenge, address.round],
        "invitation": [stage.invitation],
        "team": [stage.teams[MEMBER]],
        "scored": [stage.scored[whose]],
        "waiting": [stage.waiting[whose]],
        "hidden": [stage.hidden[whose]],
        "corpus": [PUBLIC],
        "hidden corpus": [PRIVATE],
        "metric": [stage.metric],
        "token": [stage.tokens[own]],
        "reset link": ["MQ", "no-token"],
        "webhook": [stage.webhooks[own]],
    }[address.of]
    name = f"api:{address.name}" if address.name == "openapi-json" else address.name
    return reverse(name, args=places)


def ask(client: Client, stage: Stage, address: Address, role: str, **headers: str) -> Any:
    place = path(stage, address, role)
    if address.method == "GET":
        return client.get(place, headers=headers)
    data: dict[str, Any] = dict(address.data)
    if address.file is not None:
        data["file"] = SimpleUploadedFile(
            "a.csv" if b"," in address.file[:10] else "a.jsonl", address.file
        )
    return client.post(place, data, headers=headers)


def name_of(address: Address) -> str:
    more = address.of if address.of in ("hidden", "hidden corpus") else ""
    more = address.round if address.round != OPEN and address.of == "round" else more
    return f"{address.method} {address.name} {more}".strip()


def token_for(caller: str) -> str:
    """See ``CALLERS``."""
    if caller == "no token":
        return ""
    who = {"stranger": PARTICIPANT, "rival": RIVAL, "disqualified": DISQUALIFIED}.get(
        caller, MEMBER
    )
    who = ORGANISER if caller in ("organise", "organiser", "no organiser") else who
    scopes: tuple[str, ...] = ("read", "submit", "export")
    if caller in ("read", "submit", "export", "organise"):
        scopes = (caller,)
    elif caller == "no organiser":
        scopes = ("organise",)
    elif caller == "organiser":
        scopes = ALL_SCOPES
    row, token = tokens.make(person(who), caller, scopes, 30)
    if caller == "expired":
        ApiToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif caller == "revoked":
        tokens.revoke(row)
    elif caller == "deactivated":
        type(row.user).objects.filter(pk=row.user_id).update(is_active=False)
    elif caller == "no organiser":
        row.user.groups.clear()
    return token


_STORED: list[CompiledQuery[Any]] = [
    CompiledQuery(
        lambda: Challenge.objects.order_by("pk").values_list("slug", "name", "state", "rules")
    ),
    CompiledQuery(
        lambda: Round.objects.order_by("pk").values_list(
            "slug", "references", "release_at", "revision"
        )
    ),
    CompiledQuery(
        lambda: Team.objects.order_by("pk").values_list("name", "invitation", "disqualified_at")
    ),
    CompiledQuery(lambda: Member.objects.order_by("pk").values_list("team", "user")),
    CompiledQuery(
        lambda: Submission.objects.order_by("pk").values_list(
            "public_id", "state", "is_baseline", "disqualified_at", "error", "system"
        )
    ),
    CompiledQuery(lambda: Campaign.objects.order_by("pk").values_list("slug", "state")),
    CompiledQuery(lambda: System.objects.order_by("pk").values_list("name", "withheld")),
    CompiledQuery(
        lambda: SubmittedMetric.objects.order_by("pk").values_list("name", "withdrawn_at")
    ),
    CompiledQuery(lambda: ApiToken.objects.order_by("pk").values_list("user", "revoked_at")),
    CompiledQuery(lambda: Webhook.objects.order_by("pk").values_list("user", "url")),
    CompiledQuery(lambda: AuditEntry.objects.order_by("pk").values_list("pk")),
]


def everything_stored() -> list[list[tuple[Any, ...]]]:
    return [one.tuples() for one in _STORED]


def without(answer: Any, place: str) -> str:
    """Page and where it leads, without what the address itself says and without the page's
    token."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    text = body.decode() + answer.headers.get("Location", "")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    parts = [re.escape(part) for part in place.split("/") if part]
    # a key only after / or %2F, in an address: it may be 24, and so may an icon's width
    words = [rf"(?<=[/F]){one}\b" if one.isdigit() else one for one in parts]
    for word in sorted(words, key=len, reverse=True):
        text = re.sub(word, "", text)
    return text
