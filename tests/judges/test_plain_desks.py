"""Desks without a site: what a script or a notebook asks with."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.judges.calls import call_for
from tests.judges.loopback_server import KEY, Loopback
from workers.inference.language_models.server import LocalServerError
from workers.judges.core import clients
from workers.judges.core.calls import Answer, Call
from workers.judges.core.clients import InProcessClients
from workers.judges.core.endpoints import SiteEndpoint
from workers.judges.core.rate_limit import Limits
from workers.judges.core.response_cache import EndpointFailed


def desks_at(loopback: Loopback) -> InProcessClients:
    return InProcessClients(SiteEndpoint(loopback.base_url, "judge-a", KEY), Limits(at_once=2))


def ask(desks: InProcessClients, count: int) -> list[Answer]:
    came: list[Answer] = []

    def take(_: Call, answer: Answer) -> list[Call]:
        came.append(answer)
        return []

    with desks.open("judge-a", None) as at:
        at.ask([call_for(number) for number in range(count)], take)
    return came


def test_what_is_asked_is_answered_and_kept_for_the_next_desk(loopback: Loopback) -> None:
    desks = desks_at(loopback)
    assert len(ask(desks, 5)) == 5
    assert [answer.from_store for answer in ask(desks, 7)].count(True) == 5
    assert loopback.stats()["requests"] == desks.answers.calls == 7


def test_prices_and_budgets_count(loopback: Loopback) -> None:
    desks = desks_at(loopback)
    desks.prices = {"judge-a": (Decimal(1_000_000), Decimal(0))}
    ask(desks, 3)
    assert desks.answers.cost_spent == loopback.stats()["input_tokens"] == 6


def test_a_desk_says_what_judges_with_it(loopback: Loopback) -> None:
    with desks_at(loopback).open("judge-a", None) as at:
        assert at.model_label == "judge-a"
        assert at.device_label == "endpoint " + loopback.base_url.removeprefix(
            "http://"
        ).removesuffix("/v1")


def test_after_an_error_nothing_is_held(loopback: Loopback) -> None:
    loopback.control(default={"do": "unauthorized"})
    desks = desks_at(loopback)
    with pytest.raises(EndpointFailed):
        ask(desks, 3)
    assert not desks.answers.held


def test_a_model_that_nothing_answers_for_fails_with_what_to_set() -> None:
    desks = InProcessClients(SiteEndpoint())
    assert "DIALEVAL_LLM_URL" in desks.missing("judge-a")
    with pytest.raises(EndpointFailed, match="DIALEVAL_LLM_URL"), desks.open("judge-a", None):
        pass


def test_a_server_that_does_not_start_fails_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LocalServerError("it was not ready within 60 s")

    monkeypatch.setattr(clients, "endpoint_for", broken)
    with (
        pytest.raises(EndpointFailed, match="not ready"),
        InProcessClients(SiteEndpoint()).open("m", None),
    ):
        pass


def test_the_endpoint_stands_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"URL": " http://127.0.0.1:9/v1 ", "MODEL": "m", "KEY": "k"}.items():
        monkeypatch.setenv(f"DIALEVAL_LLM_{name}", value)
    assert InProcessClients().site == SiteEndpoint("http://127.0.0.1:9/v1", "m", "k")


def test_without_a_site_they_are_the_desks_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_at_hand", None)
    assert isinstance(clients.at_hand(), InProcessClients)
    assert clients.at_hand() is clients.at_hand()
