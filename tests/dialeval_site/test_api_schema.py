"""schemathesis over the OpenAPI document: no answer is a 5xx, or unlike what the document says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import schemathesis
from django.contrib.auth import get_user_model
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.db.transaction import atomic
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotations.campaigns.actions.adjudication import set_rule
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate
from annotations.models import Corpus
from tests.api_client import ALL_SCOPES, token_of
from tests.campaigns.forms import asking
from tests.campaigns.sets import made_raters, made_user
from tests.challenges.sets import (
    open_challenge,
    open_round,
    scored,
    small_version,
    submit,
    team_with_member,
)
from tests.ci import IS_LONG
from tests.rows import shared

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# The part of a file is sent as it is.
schemathesis.serializer.alias("application/partial-upload", "application/octet-stream")
CASES = 8 if IS_LONG else 5
"""Of one operation for one caller: with 30 operations and 3 callers some hundreds of requests."""

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
CALLERS = ("anonymous", "participant", "organiser")


@pytest.fixture(scope="module")
def things(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, dict[str, str]]]:
    with shared(django_db_blocker, something_of_everything) as made:
        yield made


def something_of_everything() -> dict[str, dict[str, str]]:
    """So that addresses lead to rows: what each path parameter may be."""
    version = small_version(systems=("one", "two"))
    Corpus.objects.update(is_public=True)
    challenge = open_challenge("the-challenge", name="The challenge")
    round = open_round(
        version, challenge, public_share=0.5, release_at=timezone.now() + timedelta(days=1)
    )
    open_round(small_version(), challenge, references="hidden")
    team, _ = team_with_member(challenge, "the-participant")
    first = scored(round, team)
    submit(round, team)
    made_user("the-organiser", "organiser")
    campaign = asking("usr", version=version)
    set_rule(campaign, 1)
    for stars, rater in enumerate(made_raters(campaign, 2), start=1):
        answers = {"overall": stars}
        with atomic():
            (held, *_) = fill_queue(rater).assignments
            rate(
                rater,
                held.item.public_id,
                Judgement("a-key", None, form=campaign.form, answers=answers),
            )
    return {
        "campaigns": {"slug": campaign.slug},
        "challenges": {"slug": challenge.slug, "round": round.slug},
        "corpora": {"slug": version.corpus.slug, "position": "0"},
        "submissions": {"id": first.public_id},
    }


@pytest.fixture(scope="module", autouse=True)
def _connections_stay() -> Iterator[None]:
    """A web server's request closes connections that are in the middle of something, as a test's
    is."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def operations(
    things: dict[str, dict[str, str]], django_db_blocker: Any, _connections_stay: None
) -> list[tuple[Any, list[Any]]]:
    """Each with its cases, drawn once for all callers: to draw takes as long as to answer."""
    with django_db_blocker.unblock():
        schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    found = [one.ok() for one in schema.get_all_operations()]
    return [(operation, drawn(operation)) for operation in found]


def drawn(operation: Any) -> list[Any]:
    cases: list[Any] = []

    @seed(20261121)
    @hypothesis_settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def draw(case: Any) -> None:
        cases.append(case)

    draw()
    return cases


@pytest.fixture(autouse=True)
def _as_often_as_one_likes(settings: Any) -> None:
    settings.API_RATE = 1_000_000


@pytest.fixture
def tokens(things: Any) -> dict[str, str]:
    users = get_user_model().objects
    return {
        "anonymous": "",
        "participant": token_of(users.get(username="the-participant"), *ALL_SCOPES[:3]),
        "organiser": token_of(users.get(username="the-organiser"), *ALL_SCOPES),
    }


@pytest.mark.parametrize("caller", CALLERS)
def test_every_operation_answers_as_the_document_says(
    caller: str,
    operations: list[tuple[Any, list[Any]]],
    things: dict[str, dict[str, str]],
    tokens: dict[str, str],
) -> None:
    headers = {"Accept-Encoding": "identity"}
    if tokens[caller]:
        headers["Authorization"] = f"Bearer {tokens[caller]}"
    answered = {
        operation.label: tried(operation, cases, headers, things) for operation, cases in operations
    }
    assert len(answered) >= 30
    good = {
        label for label, statuses in answered.items() if any(status < 300 for status in statuses)
    }
    enough = {"anonymous": 14, "participant": 20, "organiser": 20}[caller]
    assert len(good) >= enough, sorted(set(answered) - good)


def tried(
    operation: Any, cases: list[Any], headers: dict[str, str], things: dict[str, dict[str, str]]
) -> set[int]:
    """The statuses that the operation answered with. Each case is sent as it was drawn, and with
    names of rows that exist; what writes, twice in any case."""
    statuses: set[int] = set()
    known = things.get(operation.path.split("/")[3], {})
    names = {parameter.name for parameter in operation.path_parameters}
    if "DELETE" in operation.label.upper():
        return statuses  # the token is needed for the rest
    of_rows = {name: value for name, value in known.items() if name in names}
    paths = ({}, of_rows) if of_rows or not operation.label.startswith("GET") else ({},)
    for case in cases:
        as_drawn = case.path_parameters
        for path in paths:
            case.path_parameters = {**(as_drawn or {}), **path}
            response = case.call(headers=headers)
            case.validate_response(response, checks=CHECKS)
            statuses.add(response.status_code)
        case.path_parameters = as_drawn
    return statuses
