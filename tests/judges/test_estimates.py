"""What a judge would take, told before it starts: calls exactly, the rest by the model's own
answers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from annotations.models import CorpusVersion, Response
from tests.campaigns.sets import made_version
from workers.judges.core.calls import Answer, Call, Estimate
from workers.judges.estimates import JudgeEstimate, estimate, format_cost
from workers.judges.estimates import estimated as shown
from workers.judges.models import EndpointDialect
from workers.judges.response_cache import DatabaseResponseCache
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, scoring
from workers.runs.queries import examples_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def site(settings: Any) -> Iterator[None]:
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_CONCURRENCY = "http://127.0.0.1:1/v1", "m", 4
    settings.LLM_PRICES = {"m": (Decimal(2), Decimal(10))}
    settings.LLM_REQUESTS_A_MINUTE = settings.LLM_TOKENS_A_MINUTE = 0
    scoring.forget()
    yield
    scoring.forget()


@pytest.fixture
def version() -> CorpusVersion:
    """Two systems × three dialogues × two turns, no two responses alike."""
    version = made_version()
    for number, response in enumerate(Response.objects.order_by("pk")):
        Response.objects.filter(pk=response.pk).update(text=f"I said number {number}.")
    return version


def estimated(
    version: CorpusVersion, written: str = "cpdscore_detail[model=m,scoring=answer]"
) -> JudgeEstimate:
    return estimate(parse(written), version, list(version.systems.all()))


def planned(
    version: CorpusVersion, written: str = "cpdscore_detail[model=m,scoring=answer]"
) -> list[Call]:
    examples = [
        one for system in version.systems.all() for one in examples_of(system) if one is not None
    ]
    return list(scoring.scorer_of(parse(written).text).planned(examples))


def store(calls: list[Call], **fields: Any) -> None:
    book = DatabaseResponseCache()
    said = {"input_tokens": 300, "output_tokens": 20, "latency_seconds": 0.5, **fields}
    book.claim([(call, Estimate(1, None)) for call in calls])
    book.put([(call, Answer("answered", "- Humanness: 4", **said)) for call in calls])


def test_every_response_is_a_call_and_every_sample_another(version: CorpusVersion) -> None:
    one = estimated(version)
    assert (one.systems, one.dialogues, one.responses, one.calls) == (2, 3, 12, 12)
    assert one.stored == 0
    three = estimated(version, "cpdscore_detail[model=m,scoring=answer,samples=3]")
    assert (three.responses, three.calls) == (12, 36)


def test_what_two_systems_say_alike_at_a_turn_is_one_call(version: CorpusVersion) -> None:
    first, _ = version.systems.all()
    turn = Response.objects.filter(system=first).order_by("pk")[0].turn_id
    Response.objects.filter(turn=turn).update(text="The same.")
    assert estimated(version).calls == 11


def test_dialogues_add_a_call_each_and_unfinished_ones_are_left_out(version: CorpusVersion) -> None:
    written = "cpdscore_dialogue[model=m,scoring=answer]"
    assert estimated(version, written).calls == 12 + 6
    Response.objects.order_by("pk")[0].delete()
    left = estimated(version, written)
    assert (left.dialogues, left.responses, left.calls) == (3, 10, 15)


def test_what_is_in_the_store_is_counted_and_costs_nothing(version: CorpusVersion) -> None:
    store(planned(version)[:5])
    found = estimated(version)
    assert (found.calls, found.stored) == (12, 5)
    assert found.output_tokens == 7 * 20


def test_calls_that_are_being_asked_are_not_stored(version: CorpusVersion) -> None:
    DatabaseResponseCache().claim([(call, Estimate(1, None)) for call in planned(version)])
    assert estimated(version).stored == 0


def test_a_system_that_is_judged_is_asked_nothing_more(version: CorpusVersion) -> None:
    """Of a dialogue's second step nobody knows the prompt before the first: the finished run says
    that it is there."""
    judge = parse("cpdscore_dialogue[model=m,scoring=answer]")
    actions.request([judge], list(version.systems.all()), hint=False)
    first = MetricRun.objects.order_by("pk")[0]
    MetricRun.objects.filter(pk=first.pk).update(
        state="done", finished_at="2026-01-01T00:00Z", signature="x", system_score=1.0
    )
    found = estimated(version, judge.text)
    assert (found.calls, found.stored) == (18, 9)


def test_without_any_answer_four_characters_are_a_token_and_answers_are_as_long_as_they_may_be(
    version: CorpusVersion,
) -> None:
    calls = planned(version)
    found = estimated(version)
    assert found.input_tokens == round(sum(call.request.characters for call in calls) / 4)
    assert found.output_tokens == 12 * dict(calls[0].request.parameters)["max_tokens"]
    assert found.seconds is None
    assert (
        found.cost
        == (2 * Decimal(found.input_tokens) + 10 * Decimal(found.output_tokens)) / 1_000_000
    )


def test_the_models_own_answers_say_how_long_a_token_is_and_how_much_it_says(
    version: CorpusVersion,
) -> None:
    """Prompts of c characters took 300 tokens, answers 20 tokens and half a second; four are asked
    at once."""
    calls = planned(version)
    store(calls[:2])
    found = estimated(version)
    a_token = sum(call.request.characters for call in calls[:2]) / 600
    assert found.input_tokens == round(sum(call.request.characters for call in calls[2:]) / a_token)
    assert found.output_tokens == 10 * 20
    assert found.seconds == pytest.approx(10 * 0.5 / 4)


def test_answers_of_another_manner_say_nothing_of_length_and_time(version: CorpusVersion) -> None:
    store(planned(version, "cpdscore_detail[model=m]")[:2], output_tokens=1)
    assert (
        estimated(version).output_tokens
        == 12 * dict(planned(version)[0].request.parameters)["max_tokens"]
    )
    assert estimated(version).seconds is None


def test_reasoning_is_unknown_before_the_first_answer_and_the_page_says_so(
    version: CorpusVersion,
) -> None:
    found = estimated(version)
    assert found.reasoning_tokens is None
    assert shown(found, parse("cpdscore_detail[model=m,scoring=answer]")).sentence.endswith(
        "are not counted: nobody has asked this model yet."
    )
    store(planned(version)[:1])
    assert estimated(version).reasoning_tokens == 0
    assert estimated(version, "cpdscore_detail[scoring=answer]").reasoning_tokens == 0  # packaged


def test_reasoning_that_was_measured_is_added_to_another_prompts_answers(
    version: CorpusVersion,
) -> None:
    """Answers of 500 tokens whose text has 14 characters; a token is c / 300 characters of a
    prompt."""
    calls = planned(version, "cpdscore_simple[model=m,scoring=answer]")[:2]
    store(calls, output_tokens=500)
    EndpointDialect.objects.create(address="127.0.0.1:1/v1", model="m", facts={"reasons": True})
    a_token = sum(call.request.characters for call in calls) / 600
    reasoning = 500 - len("- Humanness: 4") / a_token
    found = estimated(version)
    longest = dict(planned(version)[0].request.parameters)["max_tokens"]
    assert found.reasoning_tokens == round(12 * reasoning)
    assert found.output_tokens == round(12 * (longest + reasoning))


def test_answers_of_the_same_manner_hold_their_reasoning(version: CorpusVersion) -> None:
    store(planned(version)[:2], output_tokens=500)
    EndpointDialect.objects.create(address="127.0.0.1:1/v1", model="m", facts={"reasons": True})
    found = estimated(version)
    assert found.output_tokens == 10 * 500
    assert 0 < (found.reasoning_tokens or 0) < 10 * 500


def test_it_is_no_faster_than_the_rates_allow(version: CorpusVersion, settings: Any) -> None:
    store(planned(version)[:2], latency_seconds=0.001)
    settings.LLM_REQUESTS_A_MINUTE = 30
    assert estimated(version).seconds == pytest.approx(20)  # ten calls, one every two seconds
    settings.LLM_TOKENS_A_MINUTE = 60
    found = estimated(version)
    # A token a second
    assert found.seconds == pytest.approx(found.input_tokens + found.output_tokens)


def test_a_model_without_a_price_has_no_cost_and_the_packaged_one_costs_nothing(
    version: CorpusVersion, settings: Any
) -> None:
    settings.LLM_PRICES = {}
    assert estimated(version).cost is None
    assert estimated(version, "cpdscore_detail[scoring=answer]").cost == 0


def test_systems_without_responses_are_no_calls(version: CorpusVersion) -> None:
    Response.objects.all().delete()
    found = estimated(version)
    assert (found.dialogues, found.responses, found.calls, found.input_tokens, found.cost) == (
        0,
        0,
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("calls", "stored", "cost", "said"),
    [
        (31_185, 0, Decimal("12.4"), "15 dialogues of 99 systems, 31,185 calls, about $12.40"),
        (
            31_185,
            185,
            None,
            "15 dialogues of 99 systems, 31,000 calls (185 more are answered already), at a price",
        ),
        (10, 10, Decimal(0), "15 dialogues of 99 systems, 10 calls, all of them answered already"),
    ],
)
def test_in_words(calls: int, stored: int, cost: Decimal | None, said: str) -> None:
    assert JudgeEstimate(99, 15, 10_395, calls, stored, 0, 0, cost, None).in_words.startswith(said)


def test_small_costs_are_not_called_nothing() -> None:
    assert [format_cost(Decimal(one)) for one in ("0", "0.0001", "0.01")] == [
        "at no cost",
        "less than a cent",
        "about $0.01",
    ]
