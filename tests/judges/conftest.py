"""One loopback endpoint for all tests of judges in a process; a small corpus, and who looks at its
judges' page."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from annotations.models import CorpusVersion
from tests.campaigns.sets import made_user, made_version
from tests.judges.loopback_server import Loopback, loopback_server
from tests.judges.run_pages import GPT
from tests.judges.written import MODEL, forget


@pytest.fixture(scope="session")
def loopback_of_the_session() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def loopback(loopback_of_the_session: Loopback) -> Loopback:
    """Fresh: no script, an empty log."""
    loopback_of_the_session.reset()
    return loopback_of_the_session


@pytest.fixture
def version() -> CorpusVersion:
    """Three systems that answer six turns in three dialogues; private, so organisers alone see
    it."""
    return made_version(("ann", "bob", "cy"), slug="talks")


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


@pytest.fixture
def endpoint(settings: Any) -> None:
    """An endpoint of somebody else's, whose model has a price: 1 USD for a million tokens in, 10
    out."""
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = (
        "https://api.example.org/v1",
        GPT,
        "secret-key",
    )
    settings.LLM_PRICES = {GPT: (Decimal(1), Decimal(10))}


@pytest.fixture
def alone(notified: list[int], settings: Any) -> Iterator[None]:
    """No broker, no endpoint that answers: only pages."""
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = (
        "http://127.0.0.1:9/v1",
        MODEL,
        "sk-secret-of-the-site",
    )
    forget()
    yield
    forget()
