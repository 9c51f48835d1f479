"""An endpoint that does everything wrong: no call is lost, none is paid twice, by the server's own
log."""

from __future__ import annotations

import socket
import time
from collections import Counter
from typing import Any

import pytest

from tests.judges.calls import ask_all, call_for, engine_for
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from workers.inference.language_models.client import Endpoint
from workers.judges.core import retries
from workers.judges.core.calls import NO_PRICE, estimate
from workers.judges.core.memory_cache import Answers, MemoryResponseCache
from workers.judges.core.response_cache import BudgetSpent, EndpointFailed


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their growth is tested where they are made (``test_retries.py``)."""
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


def paid_by_request(server: Loopback) -> Counter[str]:
    return Counter(entry["request"] for entry in server.log() if entry["paid"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        {"do": "rate_limit"},
        {"do": "rate_limit", "retry_after_ms": 20},
        {"do": "error"},
        {"do": "error", "status": 503, "retry_after": "0.02"},
        {"do": "error", "status": 502},
        {"do": "garbage"},
        {"do": "html"},
        {"do": "no_choices"},
        {"do": "truncated"},
        {"do": "drop"},
        {"do": "half"},
        {"do": "hang"},
        {"do": "drip"},
    ],
    ids=lambda step: "-".join(map(str, step.values())),
)
def test_after_a_failure_that_passes_the_call_is_asked_again(
    loopback: Loopback, step: dict[str, Any]
) -> None:
    """Two failures for six calls: eight requests, six of them paid, each call once."""
    loopback.control(script=[step, step])
    seconds = 1.5 if step["do"] in ("hang", "drip") else 5.0
    came = ask_all(
        engine_for(loopback.endpoint(), seconds=seconds), [call_for(number) for number in range(6)]
    )
    assert len(came) == 6
    assert sum(answer.attempts for _, answer in came) == len(loopback.log()) == 8
    assert set(paid_by_request(loopback).values()) == {1}


@pytest.mark.slow
def test_in_a_storm_of_failures_nothing_is_lost_and_nothing_paid_twice(loopback: Loopback) -> None:
    kinds = (
        "rate_limit",
        "error",
        "garbage",
        "truncated",
        "drop",
        "half",
        "no_choices",
        "html",
        "answer",
    )
    loopback.control(script=[{"do": kinds[number % 9]} for number in range(90)], seconds=0.005)
    answers, calls = Answers(), [call_for(number % 60, sample=number % 2) for number in range(200)]
    came = ask_all(
        engine_for(loopback.endpoint(), MemoryResponseCache(answers), at_once=8, retries=50), calls
    )
    stats = loopback.stats()
    assert len(came) == 200
    assert stats["paid"] == answers.calls == 60
    assert answers.tokens_spent == stats["input_tokens"] + stats["output_tokens"]
    # Garbage, what was cut off, errors: the endpoint may charge for them
    assert answers.tokens_unsettled > 0
    assert {(entry["request"], entry["seed"]) for entry in loopback.log()} == {
        (entry["request"], entry["seed"]) for entry in loopback.log() if entry["paid"]
    }


def test_a_failure_that_stays_ends_it_after_the_retries(loopback: Loopback) -> None:
    loopback.control(rules=[{"contains": "rate 7", "do": "error", "message": "broken disk"}])
    answers = Answers()
    with pytest.raises(
        EndpointFailed,
        match=r"asked 4 times for one answer: it answers with the error 500.*broken disk",
    ):
        ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers), retries=3),
            [call_for(number) for number in range(9)],
        )
    assert Counter(entry["do"] for entry in loopback.log())["error"] == 4
    assert answers.calls == loopback.stats()["paid"]
    assert not answers.held


def test_a_budget_that_lost_answers_have_used_up_ends_the_asking(loopback: Loopback) -> None:
    """There is room for two attempts. Both are lost while the other calls wait for money that may
    come back: none does, and nothing is under way any more."""
    loopback.control(default={"do": "lost"})
    calls = [call_for(number) for number in range(6)]
    answers = Answers(tokens_limit=2 * estimate(calls[0], NO_PRICE).tokens)
    deadline = time.monotonic() + 20

    def watch() -> None:
        assert time.monotonic() < deadline, "it goes on for ever"

    engine = engine_for(loopback.endpoint(), MemoryResponseCache(answers), watch=watch, retries=50)
    with pytest.raises(BudgetSpent):
        ask_all(engine, calls)
    assert len(loopback.log()) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 422])
def test_no_4xx_is_sent_again(loopback: Loopback, status: int) -> None:
    loopback.control(default={"do": "error", "status": status})
    with pytest.raises(EndpointFailed, match=str(status)):
        ask_all(engine_for(loopback.endpoint()), [call_for("a")])
    assert len(loopback.log()) == 1


def test_a_wrong_key_ends_it_and_stands_in_no_error(loopback: Loopback) -> None:
    with pytest.raises(EndpointFailed) as raised:
        ask_all(engine_for(loopback.endpoint(key="sk-wrong-4711")), [call_for("a")])
    assert "refuses this site's key (401)" in str(raised.value)
    assert "4711" not in str(raised.value)


def test_an_error_that_says_the_key_is_told_without_it(loopback: Loopback) -> None:
    loopback.control(default={"do": "error", "status": 404, "message": "no model for {key}"})
    with pytest.raises(EndpointFailed) as raised:
        ask_all(engine_for(loopback.endpoint()), [call_for("a")])
    assert KEY not in str(raised.value)
    assert "[key removed]" in str(raised.value)


def test_a_key_that_cannot_be_sent_is_not_sent(loopback: Loopback) -> None:
    with pytest.raises(EndpointFailed, match="holds characters that cannot be sent"):
        ask_all(engine_for(loopback.endpoint(key="sk-\nä")), [call_for("a")])
    assert not loopback.log()


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("context_length", "longer than its model takes"),
        ("content_filter", "content filter refuses"),
    ],
)
def test_a_refusal_is_that_calls_answer_and_the_others_go_on(
    loopback: Loopback, kind: str, why: str
) -> None:
    loopback.control(rules=[{"contains": "rate 2", "do": kind}])
    answers = Answers()
    came = ask_all(
        engine_for(loopback.endpoint(), MemoryResponseCache(answers)),
        [call_for(number) for number in range(5)],
    )
    assert [answer.state for call, answer in came if "rate 2" in call.request.body] == ["refused"]
    assert [why in answer.error for _, answer in came].count(True) == 1
    assert answers.calls == loopback.stats()["paid"] == 4
    assert len(loopback.log()) == 5


def test_a_refusal_is_not_asked_again_in_a_second_run(loopback: Loopback) -> None:
    loopback.control(default={"do": "context_length"})
    book = MemoryResponseCache()
    for _ in range(2):
        ask_all(engine_for(loopback.endpoint(), book), [call_for("a")])
    assert len(loopback.log()) == 1


def test_it_does_not_go_where_it_is_sent_on_to(loopback: Loopback) -> None:
    with loopback_server() as elsewhere:
        loopback.control(
            default={"do": "redirect", "location": f"{elsewhere.base_url}/chat/completions"}
        )
        with pytest.raises(EndpointFailed, match="another address"):
            ask_all(engine_for(loopback.endpoint()), [call_for("a")])
        assert not elsewhere.log()


@pytest.mark.slow
def test_retry_after_is_honoured_by_all_calls(loopback: Loopback) -> None:
    """The first of four under way is told at once to wait 0.9 s; the others are answered after 0.3
    s. None of those that wait is sent before the 0.9 s are over."""
    loopback.control(script=[{"do": "rate_limit", "retry_after": "0.9", "seconds": 0}], seconds=0.3)
    ask_all(engine_for(loopback.endpoint(), at_once=4), [call_for(number) for number in range(12)])
    times = [entry["at"] for entry in loopback.log()]
    assert sum(at < times[0] + 0.85 for at in times) == 4


@pytest.mark.slow
def test_after_a_429_fewer_are_under_way_and_then_all_again(loopback: Loopback) -> None:
    """More than three at once get a 429: sixteen come down until all are answered, without one
    being given up."""
    loopback.control(allowed=3, seconds=0.02)
    came = ask_all(
        engine_for(loopback.endpoint(), at_once=16, retries=6),
        [call_for(number) for number in range(60)],
    )
    assert len(came) == loopback.stats()["paid"] == 60
    assert Counter(entry["do"] for entry in loopback.log()[-40:])["rate_limit"] <= 16


def test_an_endpoint_that_says_429_for_ever_is_given_up(loopback: Loopback) -> None:
    loopback.control(default={"do": "rate_limit", "message": "come back tomorrow"})
    with pytest.raises(
        EndpointFailed,
        match=r"slowed down 3 times without an answer in between.*come back tomorrow",
    ):
        ask_all(
            engine_for(loopback.endpoint(), at_once=2), [call_for(number) for number in range(4)]
        )
    assert 4 <= len(loopback.log()) <= 5  # two at first, then one at a time


def test_an_empty_account_ends_it_at_once(loopback: Loopback) -> None:
    loopback.control(
        default={"do": "rate_limit", "code": "insufficient_quota", "message": "no quota"}
    )
    with pytest.raises(EndpointFailed, match="no money left"):
        ask_all(engine_for(loopback.endpoint()), [call_for("a")])
    assert len(loopback.log()) == 1


def test_where_nobody_listens_it_says_so_without_waiting_for_long() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begun = time.monotonic()
    with pytest.raises(EndpointFailed, match="cannot be reached"):
        ask_all(
            engine_for(Endpoint(f"http://127.0.0.1:{port}/v1", "m", "none"), retries=2),
            [call_for("a")],
        )
    assert time.monotonic() - begun < 10


def test_a_server_that_dies_and_returns_is_asked_again() -> None:
    """Killed with calls under way; another one listens at its address half a second later."""
    answers, calls = Answers(), [call_for(number) for number in range(60)]
    with loopback_server(seconds=0.05) as first:
        port = int(first.base_url.rsplit(":", 1)[1].split("/")[0])

        def kill_in_the_middle(done: int) -> None:
            if done >= 20:
                first.process.kill()

        engine = engine_for(first.endpoint(), MemoryResponseCache(answers), retries=2)
        with pytest.raises(EndpointFailed):
            engine.ask(calls, lambda _call, _answer: (), kill_in_the_middle)
    assert 20 <= answers.calls < 60
    before = answers.calls
    with loopback_server(port=port) as second:
        assert (
            len(ask_all(engine_for(second.endpoint(), MemoryResponseCache(answers)), calls)) == 60
        )
        assert second.stats()["paid"] == 60 - before


def test_a_password_in_the_address_stands_in_no_error_and_no_label(loopback: Loopback) -> None:
    endpoint = loopback.endpoint()
    hidden = Endpoint(
        endpoint.base_url.replace("//", "//someone:hush-hush@"), endpoint.model, "another-key"
    )
    engine = engine_for(hidden, retries=0)
    with pytest.raises(EndpointFailed) as caught:
        ask_all(engine, [call_for("a")])
    assert "hush-hush" not in f"{caught.value} {engine.device_label}"
