"""The real small model behind xllamacpp's real server, asked as judges ask: a few calls each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from tests.workers.metrics.judges import turn
from workers.inference.language_models.client import Endpoint, Message
from workers.inference.language_models.server import PACKAGED_MODEL_NAME, local_server
from workers.judges.core import clients
from workers.judges.core.calls import Answer, Call, ChatRequest
from workers.judges.core.clients import InProcessClients
from workers.judges.core.endpoints import SiteEndpoint
from workers.judges.core.rate_limit import Limits
from workers.judges.core.response_cache import EndpointFailed
from workers.metrics.common.configuration import parse
from workers.metrics.common.judge_samples import JudgeTrace

BEGUN = "- Humanness: "
GOOD = turn("I repair clocks in a small shop. Do you own one?")
BAD = turn("the the the the the")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with local_server() as found:
        yield found


@pytest.fixture
def desks(endpoint: Endpoint) -> InProcessClients:
    return InProcessClients(site_of(endpoint), Limits(at_once=2))


def site_of(endpoint: Endpoint) -> SiteEndpoint:
    return SiteEndpoint(endpoint.base_url, PACKAGED_MODEL_NAME, endpoint.api_key)


@pytest.fixture
def at_hand(desks: InProcessClients, monkeypatch: pytest.MonkeyPatch) -> InProcessClients:
    monkeypatch.setattr(clients, "_at_hand", desks)
    return desks


def call(text: str, begun: str = BEGUN, **more: object) -> Call:
    parameters = {
        "logprobs": True,
        "top_logprobs": 20,
        "max_tokens": 2,
        "temperature": 1.0,
        "seed": 0,
        **more,
    }
    messages = (
        (Message("user", text), Message("assistant", begun)) if begun else (Message("user", text),)
    )
    return Call(ChatRequest(PACKAGED_MODEL_NAME, messages, tuple(sorted(parameters.items()))))


def asked(desks: InProcessClients, *calls: Call) -> dict[Call, Answer]:
    found: dict[Call, Answer] = {}

    def note(call: Call, answer: Answer) -> Sequence[Call]:
        found[call] = answer
        return ()

    with desks.open(PACKAGED_MODEL_NAME, None) as at:
        at.ask(calls, note)
    return found


def test_the_server_goes_on_with_a_begun_answer_and_digits_are_tokens_of_their_own(
    desks: InProcessClients,
) -> None:
    """Its text holds the beginning, its log-probabilities only what it wrote: the first token
    stands where the number does. All of 1 to 5 are among the likeliest, each one token without a
    blank."""
    one = call('Rate the answer "Hello" from 1 to 5.')
    answer = asked(desks, one)[one]
    assert answer.text.startswith(BEGUN)
    assert answer.chances is not None
    first = dict(answer.chances[0].top)
    assert set("12345") <= set(first)
    assert len(answer.chances[0].top) == 20
    assert answer.input_tokens
    assert answer.output_tokens == 2


def test_it_writes_as_many_tokens_as_it_is_allowed(desks: InProcessClients) -> None:
    one = call("Say something long.", begun="", max_tokens=4)
    assert asked(desks, one)[one].output_tokens == 4


@pytest.mark.slow
def test_a_judge_tells_a_score_for_each_response_and_asks_nothing_the_second_time(
    at_hand: InProcessClients,
) -> None:
    judge = parse("cpdscore_detail").scorer()
    scores = judge.score([GOOD, BAD])
    assert all(isinstance(score, float) and 1.0 < score < 5.0 for score in scores)
    assert scores[0] != scores[1]
    account = judge.account()
    assert account.model.startswith(f"{PACKAGED_MODEL_NAME}@")
    trace = JudgeTrace.from_json(account.traces[0])
    assert trace.mass is not None
    assert 0.0 < trace.mass <= 1.0
    assert sum(trace.chances.values()) == pytest.approx(1.0)
    assert parse("cpdscore_detail").scorer().score([GOOD, BAD]) == scores
    assert at_hand.answers.calls == 2


@pytest.mark.slow
@pytest.mark.long
def test_a_whole_dialogue_is_judged_in_two_steps(at_hand: InProcessClients) -> None:
    judge = parse("cpdscore_dialogue[turns=simple]").scorer()
    (score,) = judge.score_dialogues([(GOOD, replace(BAD, turn=1))])
    assert 1.0 < score < 5.0
    turns = judge.account().traces[0]["turns"]
    assert [one["turn"] for one in turns] == [0, 1]
    assert all(1.0 < one["score"] < 5.0 for one in turns)


@pytest.mark.slow
def test_what_it_writes_is_read_strictly_or_not_at_all(at_hand: InProcessClients) -> None:
    """So small a model may write anything: a number of the scale, or nothing that counts, asked
    three times."""
    judge = parse("cpdscore_detail[scoring=answer]").scorer()
    (score,) = judge.score([BAD])
    asks = JudgeTrace.from_json(judge.account().traces[0]).asks
    assert (isinstance(score, float) and 1.0 <= score <= 5.0) or asks == (3,)


def test_a_text_that_is_too_long_is_refused_in_words_and_the_others_are_judged(
    at_hand: InProcessClients,
) -> None:
    long = turn(" ".join(f"word{number}" for number in range(1500)))
    scores = parse("cpdscore_detail").scorer().score([long, GOOD])
    assert isinstance(scores[1], float)
    assert "longer than its model takes" in scores[0].reason


def test_a_wrong_key_ends_the_run_at_once_and_is_not_told(endpoint: Endpoint) -> None:
    desks = InProcessClients(replace(site_of(endpoint), key="sk-quite-wrong"), Limits(at_once=2))
    with pytest.raises(EndpointFailed) as failed:
        asked(desks, call("Anything."))
    assert "401" in str(failed.value)
    assert "sk-quite-wrong" not in str(failed.value)


@pytest.mark.slow
def test_an_answer_that_does_not_come_in_time_fails_with_words(endpoint: Endpoint) -> None:
    desks = InProcessClients(site_of(endpoint), Limits(at_once=1, seconds=0.05, retries=0))
    with pytest.raises(EndpointFailed, match=r"(?i)time|0\.05"):
        asked(desks, call("Tell a story. " * 100, begun="", max_tokens=300))
