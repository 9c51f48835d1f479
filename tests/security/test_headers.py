"""Every kind of answer carries the headers: page, part of a page, file, error, asset, API,
admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.dialeval_site.small_corpora import (
    PUBLIC,
    make_people,
    person,
    remove_everything,
    store_corpus,
)

pytestmark = pytest.mark.django_db

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.fixture(scope="module")
def kitchen(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    with django_db_blocker.unblock():
        store_corpus(tmp_path_factory.mktemp("corpora"), PUBLIC, is_public=True)
        make_people()
    yield
    with django_db_blocker.unblock():
        remove_everything()


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("on purpose")


def answer_of(kind: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> tuple[Any, int]:
    """An answer of this kind, and the status that it must have for the test to be one of it."""
    client = Client(raise_request_exception=False)
    organiser = Client(raise_request_exception=False)
    organiser.force_login(person("organiser"))
    superuser = Client()
    superuser.force_login(person("superuser"))
    corpus = reverse("corpus", args=[PUBLIC])
    if kind == "page":
        return client.get(corpus), 200
    if kind == "page of a person":
        return organiser.get(reverse("account")), 200
    if kind == "fragment":
        return client.get(
            reverse("corpus-runs-progress", args=[PUBLIC]), headers={"HX-Request": "true"}
        ), 200
    if kind == "file":
        return client.get(corpus, {"download": "systems.csv"}), 200
    if kind == "template":
        return client.get(reverse("metric-scores-template", args=[PUBLIC])), 200
    if kind == "redirect":
        return client.get(reverse("account")), 302
    if kind == "400":
        return client.get("/", headers={"host": "evil.example"}), 400
    if kind == "403":
        return Client(enforce_csrf_checks=True).post(reverse("logout")), 403
    if kind == "404":
        return client.get("/nothing-here/"), 404
    if kind == "405":
        return client.post(corpus), 405
    if kind == "413":
        settings.MAX_UPLOAD_BYTES = 1
        big = "x" * 2_000_000
        return organiser.post(reverse("metric-scores", args=[PUBLIC]), {"name": big}), 413
    if kind == "429":
        answers = [
            client.post(reverse("login"), {"username": "eve", "password": "no"}) for _ in range(11)
        ]
        return answers[-1], 429
    if kind == "429 of the API":
        settings.API_RATE = 0
        return client.get("/api/v1/corpora"), 429
    if kind == "500":
        monkeypatch.setattr("dialeval_site.home.corpora_with_counts", None)
        return client.get(reverse("home")), 500
    if kind == "asset":
        return client.get("/static/dialeval/base.css"), 200
    if kind == "API":
        return client.get("/api/v1/corpora"), 200
    if kind == "problem of the API":
        return client.get("/api/v1/nothing"), 404
    if kind == "admin":
        return superuser.get("/admin/"), 200
    assert kind == "health"
    return client.get(reverse("health")), 200


KINDS = (
    "page", "page of a person", "fragment", "file", "template", "redirect", "400", "403", "404",
    "405", "413", "429", "429 of the API", "500", "asset", "API", "problem of the API", "admin",
    "health",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_answer_carries_them(
    kind: str, kitchen: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    answer, status = answer_of(kind, monkeypatch, settings)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "camera=()" in answer.headers["Permissions-Policy"]


@pytest.mark.parametrize(
    "name", ["account", "tokens", "webhooks", "campaigns", "runs", "my-submissions", "home"]
)
def test_no_browser_keeps_a_page_that_was_made_for_somebody(kitchen: None, name: str) -> None:
    """Who sits down after a log-out does not find it by going back."""
    client = Client()
    client.force_login(person("organiser"))
    assert "no-store" in client.get(reverse(name)).headers["Cache-Control"]


def test_a_public_page_may_be_kept_by_who_is_nobody(kitchen: None) -> None:
    assert "no-store" not in Client().get(reverse("home")).headers.get("Cache-Control", "")
