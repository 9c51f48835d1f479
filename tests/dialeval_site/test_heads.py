"""What can be read has a head (RFC 9110, 9.1), and says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

pytestmark = pytest.mark.django_db


def paths() -> Iterator[str]:
    """An address for every pattern but the admin's; what it names is not there."""
    waiting = [("/", one) for one in get_resolver().url_patterns]
    while waiting:
        before, pattern = waiting.pop()
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield re.sub(r"<(?:\w+:)?\w+>", "1", route)
        elif pattern.namespace != "admin":
            waiting += [(route, one) for one in pattern.url_patterns]


def test_where_get_is_allowed_so_is_head() -> None:
    told = {}
    for path in paths():
        refused = Client().generic("PATCH", path)
        if refused.status_code == 405:
            told[path] = {one.strip() for one in refused["Allow"].split(",")}
    assert {
        path for path, methods in told.items() if "GET" in methods and "HEAD" not in methods
    } == set()
    assert len(told) > 150
    assert {"/corpora/1/", "/api/v1/corpora", "/campaigns/1/ratings/export/"} <= set(told)
