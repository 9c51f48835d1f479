"""Markup in every text of every row: no page of any role holds it as markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.handlers import wsgi
from django.db import DatabaseError, models, transaction

from tests.challenges import hidden_stage
from tests.challenges.hidden_stage import Stage
from tests.challenges.test_hidden_references import addresses
from tests.ci import IS_LONG
from tests.rows import shared, undone
from tests.watched_query import WatchedQuery

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MARKUP = "\"'></script><img src=x onerror=planted()>"
BARE = "<img src=x onerror"
OURS = (
    "annotations", "campaigns", "workers", "judges", "trainings", "leaderboard", "challenges",
    "dialeval_site", "auth",
)  # fmt: skip
NOT_FOR_WORDS = {
    # what addresses, programs and the site itself go by; checked against a pattern or made by the
    # site
    "public_id", "token", "digest", "key", "state", "kind", "role", "configuration", "metric",
    "metric_version", "aspect", "main_aspect", "published_aspect", "format", "level", "track",
    "references", "question", "stamp", "invitation", "password", "codename", "secret", "claim",
    "sha256", "signature", "event", "direction", "recipe", "work", "start", "ranking_metric",
    "stored_as", "slug", "external_id", "model", "device", "code", "version", "details",
}  # fmt: skip
PROSE = {
    "persona", "partner_persona", "own_context", "texts", "remarks", "messages", "knowledge", "parts",
    "metadata", "value",
}  # fmt: skip
"""JSON whose strings are what people and models said."""


def texts_of(model: type[models.Model]) -> Iterator[models.Field[Any, Any]]:
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.CharField | models.TextField) and not isinstance(
            field, models.SlugField
        )
        if (
            is_text
            and not field.choices
            and field.name not in NOT_FOR_WORDS
            and field.model is model
        ):
            yield field
        if isinstance(field, models.JSONField) and field.name in PROSE:
            yield field


def plant() -> set[str]:
    """Markup behind every text there is; the columns in which it stands now. What the database
    refuses stays."""
    planted = set()
    for model in apps.get_models():
        if model._meta.app_label not in OURS or model._meta.label in (
            "auth.Group",
            "auth.Permission",
        ):
            continue
        for row in model.objects.all()[:200]:
            for field in texts_of(model):
                value = with_markup(getattr(row, field.name), field.max_length)
                if value is None:
                    continue
                try:
                    with transaction.atomic():
                        model.objects.filter(pk=row.pk).update(**{field.name: value})
                except DatabaseError:
                    continue
                planted.add(f"{model._meta.label}.{field.name}")
    return planted


def with_markup(value: Any, longest: int | None) -> Any:
    if isinstance(value, dict):
        planted = {
            key: one if key == "role" else with_markup(one, None) for key, one in value.items()
        }
        return planted if {"role", "type"} & set(value) else {**planted, MARKUP: MARKUP}
    if isinstance(value, list):
        return [
            with_markup(one, None) if isinstance(one, list | dict) or len(str(one)) > 1 else one
            for one in value
        ]
    if not isinstance(value, str) or (longest is not None and longest < len(MARKUP)):
        return None
    if value.startswith(("{", "[")):
        return None  # a document of the site's own, as what was sent to a judge
    return f"{value[: longest - len(MARKUP)] if longest else value}{MARKUP}"


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Stage]:
    with shared(django_db_blocker, hidden_stage.stage) as made:
        yield made


@pytest.fixture(autouse=True)
def often(settings: Any) -> None:
    """Rates have tests of their own."""
    settings.API_RATE = 10**9


SEE_LITTLE = ("anonymous", "rater")
"""Of all submissions they get the same answer; others see what became of each."""


def test_no_page_of_any_role_holds_a_text_as_markup(stage: Stage) -> None:
    planted = plant()
    assert len(planted) > 40, planted
    escaped, opened, statuses = set(), set(), {}
    for role in ("anonymous", "participant", "rater", "organiser"):
        client, asked = stage.client(role), Counter[str]()
        for name, address in addresses(stage):
            if name == "logout" or (
                address.startswith("/api/v1/") and not address.endswith("/docs/")
            ):
                continue
            asked[name] += 1
            if role in SEE_LITTLE and asked[name] > 2 and not IS_LONG:
                continue
            with undone():
                answer = client.get(address)
            if "html" not in answer.headers.get("Content-Type", ""):
                continue
            body = answer.content.decode()
            assert answer.status_code < 500, (role, address)
            assert BARE not in body, (role, address, body[body.index(BARE) - 200 :][:300])
            statuses.setdefault(name, set()).add(answer.status_code)
            if answer.status_code == 200:
                opened.add(name)
                if "&lt;img src=x onerror" in body:
                    escaped.add(name)
    assert len(opened) > 60, {name: got for name, got in statuses.items() if 200 not in got}
    assert len(escaped) > 25, "the pages show hardly any of what was planted"


def test_the_message_of_a_form_is_no_markup_either(stage: Stage) -> None:
    """What one has typed comes back in the form, and in what is said about it."""
    for role, address, fields in (
        ("anonymous", "/accounts/login/", {"username": MARKUP, "password": "no", "next": MARKUP}),
        ("anonymous", "/accounts/sign-up/", {"username": MARKUP, "email": MARKUP, "next": MARKUP}),
        ("participant", "/accounts/", {"email": MARKUP}),
        ("participant", "/accounts/tokens/", {"name": MARKUP, "scopes": MARKUP, "days": MARKUP}),
        ("participant", "/accounts/webhooks/", {"url": MARKUP}),
        ("organiser", "/judges/new/", {"title": MARKUP, "slug": MARKUP, "text": MARKUP}),
        ("organiser", "/chat-systems/", {"name": MARKUP, "base_url": MARKUP, "model": MARKUP}),
        ("organiser", "/challenges/new/", {"name": MARKUP, "slug": MARKUP}),
    ):
        answer = stage.client(role).post(address, fields)
        assert answer.status_code < 500
        assert BARE not in answer.content.decode(), address


NAMES_OF_QUERIES = (
    "q", "words", "metric", "system", "aspect", "sort", "columns", "page", "version", "next",
    "actor",
)  # fmt: skip


def test_an_address_comes_back_as_text(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """All names at once, and one by one those that the page looks for."""
    monkeypatch.setattr(wsgi, "QueryDict", WatchedQuery)
    for role in ("anonymous", "organiser"):
        client = stage.client(role)
        for address in (
            "/",
            "/corpora/harbour/",
            "/corpora/harbour/systems/",
            "/corpora/harbour/metrics/",
            "/metrics/",
            "/audit/",
            "/accounts/login/",
            "/runs/",
            f"/{MARKUP}/",
        ):
            WatchedQuery.read.clear()
            pages = [client.get(address), client.get(address, with_markup_in(*NAMES_OF_QUERIES))]
            read = {*WatchedQuery.read}
            alone = [name for name in NAMES_OF_QUERIES if IS_LONG or name in read]
            pages += [client.get(address, with_markup_in(name)) for name in alone]
            for page in pages:
                assert BARE not in page.content.decode(), (role, page.request["QUERY_STRING"])


def with_markup_in(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, MARKUP)
