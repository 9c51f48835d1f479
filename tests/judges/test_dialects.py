"""Endpoints differ in what they take and how they answer: a judge has its numbers from each, or
fails and says why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from common.estimates import Undefined
from tests.campaigns.sets import made_version
from tests.judges.speaking_endpoint import Server, score_of, speaking
from tests.workers.metrics.judges import turn
from workers.judges.call_rows import dialect_at
from workers.judges.clients import SiteClients
from workers.judges.core import clients
from workers.judges.core.clients import BillingContext
from workers.judges.core.dialects import Dialect
from workers.judges.core.endpoints import address_of
from workers.judges.core.response_cache import BudgetSpent, EndpointFailed
from workers.judges.models import Budget, EndpointDialect, JudgeRun, StoredAnswer
from workers.metrics.common.configuration import Configuration, parse
from workers.metrics.registry import all_metrics

SAID = ["Clocks.", "I repair clocks.", "I sell tea and cheese.", "Old clocks mostly."]
METRICS = ["cpdscore_simple", "cpdscore_detail"]
WAYS = ["scoring=expected", "scoring=answer"]
SPEECHES: dict[str, dict[str, Any]] = {
    "answers anew": {"knows_all_names": False},
    "goes on": {"begun": "on"},
    "goes on if asked": {"begun": "asked"},
    "refuses a begun answer": {"begun": "refused", "chances": False},
    "max_completion_tokens alone, reasons, no chances": {
        "takes_max_tokens": False,
        "refuses": {"logprobs": 403},
        "knows_all_names": False,
        "reasons": 400,
    },
    "reasons in a field": {"begun": "asked", "reasons": 500},
    "reasons in the text": {"reasons": 500, "content": "tags"},
    "parts of content, strict names": {
        "takes_max_completion_tokens": False,
        "refuses": {"seed": 422, "logprobs": 422, "top_logprobs": 422},
        "begun": "refused",
        "reasons": 100,
        "content": "parts",
    },
    "errors in a list": {
        "refuses": {"seed": 400, "logprobs": 400, "continue_final_message": 400},
        "errors_in_a_list": True,
        "reasons": 300,
    },
    "temperature refused": {"refuses": {"temperature": 400}, "begun": "on"},
    "prose unless there is a schema": {"style": "prose"},
    "prose unless there is a schema, no begun answer": {"style": "prose", "begun": "refused"},
}


@pytest.fixture(autouse=True)
def _site_desks() -> Iterator[None]:
    before = clients.at_hand()
    clients.use(SiteClients())
    yield
    clients.use(before)


def judged(server: Server, settings: LazySettings, text: str, said: list[str] | None = None) -> Any:
    """Scores and the scorer that has them."""
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = server.url, "alias", "sk-x"
    scorer = parse(text).scorer()
    return scorer.score([turn(one) for one in said or SAID]), scorer


def is_right(score: Any, response: str) -> bool:
    """The number that is written, or the mean of it and the one below by their chances of .9 and
    .1."""
    written = score_of(response)
    return not isinstance(score, Undefined) and written - 0.11 <= score <= written


@pytest.mark.django_db
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", SPEECHES)
def test_every_response_has_the_score_that_the_judge_gave(
    name: str, metric: str, way: str, settings: LazySettings
) -> None:
    with speaking(**SPEECHES[name]) as server:
        scores, _ = judged(server, settings, f"{metric}[model=alias,{way}]")
    assert all(map(is_right, scores, SAID)), scores
    assert len(server.generated) <= len(SAID) + 3


@pytest.mark.django_db
@pytest.mark.parametrize("style", ["nothing", "no"])
@pytest.mark.parametrize("way", WAYS)
def test_an_endpoint_that_never_gives_a_number_is_asked_three_times_and_the_run_fails(
    way: str, style: str, settings: LazySettings
) -> None:
    failing = pytest.raises(EndpointFailed, match="no number for Humanness")
    with speaking(style=style) as server, failing as failed:
        judged(server, settings, f"cpdscore_detail[model=alias,{way}]")
    assert len(server.asked) == 3
    assert ("I do not rate people." if style == "no" else "finish_reason stop") in str(failed.value)


@pytest.mark.django_db
def test_what_was_learned_is_known_to_the_next_run(settings: LazySettings) -> None:
    text = "cpdscore_detail[model=alias,scoring=answer]"
    with speaking(takes_max_tokens=False, refuses={"seed": 400}) as server:
        judged(server, settings, text)
        assert [one["status"] for one in server.asked[:3]] == [400, 400, 200]
        before = len(server.asked)
        judged(server, settings, text, ["Something else."])
        assert [one["status"] for one in server.asked[before:]] == [200]
    known = dialect_at(address_of(server.url), "alias")
    assert known == Dialect(limit="max_completion_tokens", left_out=("seed",))
    assert EndpointDialect.objects.count() == 1


@pytest.mark.django_db
def test_what_was_learned_of_one_model_is_not_taken_for_another(settings: LazySettings) -> None:
    with speaking(takes_max_tokens=False) as server:
        judged(server, settings, "cpdscore_detail[model=alias,scoring=answer]")
        before = len(server.asked)
        judged(server, settings, "cpdscore_detail[model=other,scoring=answer]")
    assert "max_tokens" in server.asked[before]["body"]


@pytest.mark.django_db
def test_an_endpoint_that_changed_is_learned_anew(settings: LazySettings) -> None:
    text = "cpdscore_detail[model=alias,scoring=answer]"
    with speaking() as server:
        judged(server, settings, text, SAID[:1])
        server.speech.takes_max_tokens, server.speech.reasons = False, 400
        scores, _ = judged(server, settings, text, SAID)
    assert all(map(is_right, scores, SAID)), scores


@pytest.mark.django_db
def test_what_was_paid_for_is_not_asked_again_after_more_was_learned(
    settings: LazySettings,
) -> None:
    text = "cpdscore_detail[model=alias,scoring=answer]"
    with speaking() as server:
        first, _ = judged(server, settings, text)
        paid = len(server.asked)
        EndpointDialect.objects.all().delete()
        EndpointDialect.objects.create(
            address=address_of(server.url), model="alias", facts={"left_out": ["seed"]}
        )
        again, _ = judged(server, settings, text)
    assert again == first
    assert len(server.asked) == paid


@pytest.mark.django_db
def test_answers_that_were_cut_off_in_an_earlier_version_are_asked_again_with_room(
    settings: LazySettings,
) -> None:
    """The store holds, three times a response, answers that ended in their reasoning."""
    text = "cpdscore_detail[model=alias,scoring=answer]"
    with speaking(reasons=400) as server:
        judged(server, settings, text)
        StoredAnswer.objects.filter(ask__gt=0).delete()
        for row in StoredAnswer.objects.all():
            for ask in range(3):
                row.pk = None if ask else row.pk
                row.ask, row.text, row.finish_reason, row.sent = ask, "", "length", {}
                row.save()
        EndpointDialect.objects.all().delete()
        scores, _ = judged(server, settings, text)
    assert all(map(is_right, scores, SAID)), scores


@pytest.mark.django_db
def test_the_signature_says_what_was_not_sent_and_that_the_written_number_counts(
    settings: LazySettings,
) -> None:
    with speaking(refuses={"seed": 400, "logprobs": 403}, begun="refused") as server:
        _, scorer = judged(server, settings, "cpdscore_detail[model=alias]")
    facts = dict(scorer.account().facts)
    assert facts["asked_with"] == "no_logprobs+no_prefill+no_seed+written_number"
    assert all(
        "the number that the judge wrote" in one for one in scorer.account().remarks.values()
    )


@pytest.mark.django_db
def test_nothing_is_added_to_the_signature_where_all_was_taken(settings: LazySettings) -> None:
    with speaking(begun="on") as server:
        _, scorer = judged(server, settings, "cpdscore_detail[model=alias]")
    assert "asked_with" not in dict(scorer.account().facts)


@pytest.mark.django_db
def test_one_call_alone_is_asked_until_a_number_came(settings: LazySettings) -> None:
    """Each lesson costs one answer, not as many as there are calls at once."""
    said = [f"Clock {number} is mine." for number in range(30)]
    with speaking(reasons=400) as server:
        judged(server, settings, "cpdscore_detail[model=alias,scoring=answer]", said)
    assert len(server.generated) == 31


@pytest.mark.django_db
def test_what_no_form_of_the_request_helps_ends_the_run_with_the_endpoints_words(
    settings: LazySettings,
) -> None:
    failing = pytest.raises(EndpointFailed, match="refuses what it is asked")
    with speaking(refuses={"messages": 400}) as server, failing:
        judged(server, settings, "cpdscore_detail[model=alias]")
    assert len(server.asked) == 1


@pytest.mark.django_db
def test_effort_and_further_parameters_are_sent(settings: LazySettings) -> None:
    extra = '{"top_p": 0.9}'
    detail = all_metrics()["cpdscore_detail"]
    chosen = Configuration.of(detail, model="alias", scoring="answer", effort="low", extra=extra)
    with speaking() as server:
        judged(server, settings, chosen.text)
    bodies = [one["body"] for one in server.asked]
    assert {(one["reasoning_effort"], one["top_p"]) for one in bodies} == {("low", 0.9)}


@pytest.mark.django_db
def test_a_parameter_that_somebody_wished_is_not_left_out_in_silence(
    settings: LazySettings,
) -> None:
    failing = pytest.raises(EndpointFailed, match="reasoning_effort")
    with speaking(refuses={"reasoning_effort": 400}) as server, failing:
        judged(server, settings, "cpdscore_detail[model=alias,effort=low]")
    assert len(server.asked) == 1


def test_further_parameters_that_are_the_judges_own_are_refused_before_anything_is_asked() -> None:
    for extra in ('{"seed": 3}', '{"messages": []}', "[1]", "top_p=1"):
        chosen = {"model": "alias", "extra": extra}
        assert "extra=" in Configuration.of(all_metrics()["cpdscore_detail"], **chosen).missing()


@pytest.mark.django_db
def test_no_answer_is_given_more_room_than_the_option_allows(settings: LazySettings) -> None:
    options = "model=alias,scoring=answer,most_tokens=600"
    failing = pytest.raises(EndpointFailed, match="finish_reason length")
    with speaking(reasons=5_000) as server, failing:
        judged(server, settings, f"cpdscore_detail[{options}]")
    assert max(one["body"]["max_tokens"] for one in server.asked) == 600


@pytest.mark.django_db
def test_the_budget_has_room_for_reasoning_before_it_is_asked_for(settings: LazySettings) -> None:
    """A call that was reserved at its first form is not sent with two thousand tokens more."""
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = "", "alias", "sk-x"
    version = made_version(("ann",), slug="talks")
    configuration = "cpdscore_detail[model=alias,scoring=answer]"
    limits = Budget.objects.create(tokens_limit=4_000)
    JudgeRun.objects.create(version=version, configuration=configuration, budget=limits)
    with speaking(reasons=5_000) as server:
        settings.LLM_URL = server.url
        scorer: Any = parse(configuration).scorer()
        scorer.paid_by(BillingContext(version.pk, configuration, ()))
        with pytest.raises((BudgetSpent, EndpointFailed)):
            scorer.score([turn(one) for one in SAID])
        used = sum(one["usage"]["total_tokens"] for one in server.generated)
    limits.refresh_from_db()
    assert limits.tokens_spent == used <= 4_000


def test_what_was_learned_is_told_in_sentences() -> None:
    learned = Dialect(
        limit="max_completion_tokens", left_out=("logprobs", "seed"), prefill="none", room=4096
    )
    assert learned.sentences() == [
        "the limit is sent as max_completion_tokens",
        "not sent: logprobs, seed",
        "no answer is begun for the model",
        "4,096 tokens more for reasoning or for the form",
    ]
    assert Dialect().sentences() == []
