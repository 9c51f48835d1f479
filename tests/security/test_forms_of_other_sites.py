"""CSRF: no address takes a form that another site has a visitor's browser send. From the URL
configuration: an address that is added tomorrow is in it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.challenges.test_hidden_references import patterns
from tests.dialeval_site.small_corpora import make_people, person

pytestmark = pytest.mark.django_db
PASSWORD = "a door of seven colours"


def examples() -> list[tuple[str, str]]:
    """(name, an address of its shape). The check comes before the view: whether the thing exists
    does not matter."""
    found = []
    for route, pattern in patterns():
        if route.startswith(("^", "api/v1/")):
            continue
        filled = re.sub(r"<int:\w+>|<\w+:pk>", "1", route)
        found.append((pattern.name, "/" + re.sub(r"<(?:\w+:)?\w+>", "some-name", filled)))
    return found


def test_no_address_takes_a_form_without_the_page_s_token() -> None:
    make_people()
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(person("superuser"))
    taken = {}
    for name, address in examples():
        for headers in ({}, {"Accept": "application/json"}, {"HX-Request": "true"}):
            status = client.post(address, {"a": "b"}, headers=headers).status_code
            if status != 403:
                taken[name] = status
    assert len(examples()) > 100
    assert taken == dict.fromkeys(ADMITS_FIRST, 404)


ADMITS_FIRST = {"metric-scores", "prompt-new", "round-submit"}
"""Where a file is taken, who may send it is asked before the form is read, in which the token lies,
and there is no such thing. Of things that are there:
``test_a_file_without_the_page_s_token_is_not_taken``."""


def test_the_token_of_another_site_s_page_is_none() -> None:
    """Over HTTPS Django also asks where the form came from."""
    make_people()
    client = Client(enforce_csrf_checks=True)
    user = person("superuser")
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    token = re.search(
        r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/accounts/").content.decode()
    )
    assert token is not None
    form = {"email": "eve@example.org", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    assert (
        client.post(
            "/accounts/", form, secure=True, headers={"origin": "https://evil.example"}
        ).status_code
        == 403
    )
    assert (
        client.post(
            "/accounts/", form, secure=True, headers={"referer": "https://evil.example/"}
        ).status_code
        == 403
    )
    assert client.post("/accounts/", form).status_code == 302


def test_the_api_takes_no_session(settings: Any) -> None:
    """It has no such token, because who is logged in with a browser is nobody there."""
    settings.API_RATE = 10**9
    make_people()
    client = Client()
    client.force_login(person("superuser"))
    for route, _pattern in patterns():
        if not route.startswith("api/v1/") or "docs" in route or "openapi" in route:
            continue
        address = "/" + re.sub(r"<(?:\w+:)?\w+>", "some-name", route)
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            status = client.generic(method, address, "{}", "application/json").status_code
            assert status in (401, 404, 405, 415, 422), (method, address, status)
