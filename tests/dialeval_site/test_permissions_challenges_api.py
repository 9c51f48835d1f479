"""Who may do what through the API of challenges: every operation × every caller."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import Arena, Campaign
from annotations.models import CorpusVersion
from dialeval_site.api import root as api
from tests.api_client import Program
from tests.dialeval_site.addresses import client_of, outcome
from tests.dialeval_site.challenge_matrix import (
    CALLERS,
    DUEL,
    NEW_DUEL,
    OPERATIONS,
    PILOT,
    Operation,
)
from tests.dialeval_site.challenge_rights import (
    everything_stored,
    token_for,
)
from tests.dialeval_site.small_challenges import (
    DISQUALIFIED,
    MEMBER,
    Stage,
)
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("often", "arenas", "campaign")]


@pytest.fixture
def arenas(stage: Stage) -> None:
    """On the public corpus: one that everybody sees, and one that was never opened."""
    version = CorpusVersion.objects.get(corpus__slug=PUBLIC)
    opened = {"is_public": True, "is_open": True, "opened_at": timezone.now()}
    for slug, fields in ((DUEL, opened), (NEW_DUEL, {})):
        Arena.objects.create(slug=slug, name=slug, source="stored", version=version, **fields)


@pytest.fixture
def campaign(stage: Stage) -> None:
    """On the corpus with hidden references, open."""
    version = CorpusVersion.objects.get(corpus__slug=PRIVATE)
    Campaign.objects.create(
        slug=PILOT, kind="turn", version=version, state="open", opened_at=timezone.now()
    )


def call(program: Program, stage: Stage, operation: Operation, caller: str) -> Any:
    whose = DISQUALIFIED if caller == "disqualified" else MEMBER
    place = operation.path.replace("<scored>", stage.scored[whose]).replace(
        "<waiting>", stage.waiting[whose]
    )
    body = operation.body
    if body and body.get("invitation"):
        body = {"invitation": stage.invitation}
    if operation.file is not None:
        name = "a.csv" if b"," in operation.file[:10] else "a.jsonl"
        return program.upload(place, operation.file, name, **(body or {}))
    if operation.method == "DELETE":
        return program.delete(place)
    if operation.method == "PATCH":
        return program.patch(place)
    return program.get(place) if operation.method == "GET" else program.post(place, body)


API_CASES = [
    pytest.param(operation, caller, int(status), id=f"{operation.method} {operation.path} {caller}")
    for operation in OPERATIONS
    for caller, status in zip(CALLERS, operation.statuses.split(), strict=True)
]


def test_no_operation_is_missing_from_the_matrix() -> None:
    documented = {
        (one["operationId"], method.upper())
        for methods in api.document()["paths"].values()
        for method, one in methods.items()
    }
    assert {(one.name, one.method) for one in OPERATIONS} == documented


@pytest.mark.parametrize(("operation", "caller", "status"), API_CASES)
def test_each_caller_gets_what_the_matrix_says(
    stage: Stage, operation: Operation, caller: str, status: int
) -> None:
    program = Program(token_for(caller))
    before = everything_stored() if status >= 400 else None
    assert call(program, stage, operation, caller).status_code == status
    assert before is None or everything_stored() == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_a_browser_s_session_is_nobody_at_the_api(stage: Stage, operation: Operation) -> None:
    """Else a page elsewhere could act for who is logged in here."""
    program = Program(client=client_of("superuser"))
    nobody = int(operation.statuses.split()[0])
    assert call(program, stage, operation, "superuser").status_code == nobody


def test_a_token_opens_no_page(stage: Stage) -> None:
    headers = {"Authorization": f"Bearer {token_for('organiser')}"}
    assert outcome(Client().get(reverse("my-submissions"), headers=headers)) == "login"
    assert Client().get(reverse("corpus", args=[PRIVATE]), headers=headers).status_code == 404
