"""What is known of an endpoint is learned by one call at a time, shared by workers, and
unlearned."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from annotations.models import AuditEntry, CorpusVersion
from tests.judges.run_pages import page
from tests.judges.speaking_endpoint import Server, speaking
from tests.judges.test_dialects import SAID, _site_desks, is_right, judged
from tests.workers.metrics.judges import turn
from workers.inference.language_models.client import Message
from workers.judges.call_rows import dialect_at, keep_dialect
from workers.judges.clients import learner_for
from workers.judges.core.calls import Answer, ChatRequest
from workers.judges.core.dialects import PLAIN, Dialect, Learner, merged
from workers.judges.core.endpoints import address_of
from workers.judges.models import EndpointDialect
from workers.metrics.common.configuration import parse

__all__ = ["_site_desks"]
TEXT = "cpdscore_detail[model=alias,scoring=answer]"
DIALOGUES = 8


def knows(server: Server, **facts: Any) -> None:
    EndpointDialect.objects.create(address=address_of(server.url), model="alias", facts=facts)


def known(server: Server) -> Dialect:
    return dialect_at(address_of(server.url), "alias")


@pytest.mark.django_db
def test_of_a_dialogue_judges_second_step_one_call_goes_alone(settings: LazySettings) -> None:
    """Eight dialogues of one turn. The endpoint takes max_tokens in the first step alone."""
    with speaking(refuses_max_tokens_with="Final Score") as server:
        settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = server.url, "alias", "sk-x"
        scorer: Any = parse("cpdscore_dialogue[model=alias,scoring=answer]").scorer()
        dialogues = [[replace(turn(f"Clock {n}."), dialogue_id=f"d{n}")] for n in range(DIALOGUES)]
        scores = scorer.score_dialogues(dialogues)
    assert all(isinstance(score, float) for score in scores), scores
    refused = [one for one in server.asked if one["status"] == 400]
    steps = {"Final Score" in one["body"]["messages"][-1]["content"] for one in refused}
    assert (len(refused), steps) == (1, {True})


@pytest.mark.django_db
def test_a_limit_that_is_taken_no_more_is_learned_again(settings: LazySettings) -> None:
    with speaking(
        takes_max_completion_tokens=False, refuses={"max_completion_tokens": 400}
    ) as server:
        knows(server, limit="max_completion_tokens")
        scores, _ = judged(server, settings, TEXT)
        assert [one["status"] for one in server.asked] == [400, 200, 200, 200, 200]
        assert known(server) == PLAIN
    assert all(map(is_right, scores, SAID)), scores


@pytest.mark.django_db
def test_a_form_that_the_endpoint_calls_wrong_without_a_name_is_learned_again(
    settings: LazySettings,
) -> None:
    with speaking(wants_a_limit=True) as server:
        knows(server, limit="")
        scores, _ = judged(server, settings, TEXT)
        assert known(server) == PLAIN
    assert all(map(is_right, scores, SAID)), scores


@pytest.mark.django_db
def test_what_is_known_is_doubted_once_a_run(settings: LazySettings) -> None:
    failing = pytest.raises(Exception, match="refuses what it is asked")
    with speaking(refuses={"messages": 400}) as server, failing:
        knows(server, left_out=["seed"])
        judged(server, settings, TEXT)
    assert len(server.asked) == 2
    assert known(server) == Dialect(left_out=("seed",)), "nothing is stored before a number came"


@pytest.mark.django_db
def test_a_form_in_which_no_number_comes_is_learned_again(settings: LazySettings) -> None:
    with speaking(refuses_schema_in_silence=True) as server:
        knows(server, schema=True)
        scores, _ = judged(server, settings, TEXT)
        assert known(server) == PLAIN
    assert all(map(is_right, scores, SAID)), scores
    assert len(server.generated) == len(SAID) + 3


@pytest.mark.django_db
@pytest.mark.parametrize("content", ["text", "tags", "parts"])
def test_that_a_model_reasons_is_learned_from_its_first_answer(
    content: str, settings: LazySettings
) -> None:
    with speaking(reasons=20, content=content) as server:
        judged(server, settings, TEXT, SAID[:1])
        assert known(server).reasons


def test_a_parameter_that_an_answer_shows_to_be_taken_is_sent_again_once() -> None:
    """Of two calls under way one was refused for its seed, the other was answered."""
    request = ChatRequest("m", (Message("user", "Rate."),), (("max_tokens", 5), ("seed", 1)))
    learner = Learner()
    learner.learn(left_out=("seed",))
    learner.number(request, Answer("answered", "4"), is_continued=False)
    assert learner.dialect == PLAIN
    learner.learn(left_out=("seed",))
    learner.number(request, Answer("answered", "4"), is_continued=False)
    assert learner.dialect.left_out == ("seed",)


@pytest.mark.django_db
def test_two_workers_that_learn_different_things_keep_both() -> None:
    first, second = learner_for("http://a.example/v1", "m"), learner_for("http://a.example/v1", "m")
    first.learn(left_out=("seed",))
    second.learn(limit="max_completion_tokens")
    second.learn(left_out=("logprobs", "seed", "top_logprobs"))
    first.learn(room=300)
    both = Dialect("max_completion_tokens", ("logprobs", "seed", "top_logprobs"), room=300)
    assert first.dialect == dialect_at("a.example/v1", "m") == both


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_learn_at_the_same_moment_keep_both() -> None:
    """Eight threads with connections of their own; each adds one parameter to what is left out."""
    names = [f"p{number}" for number in range(8)]
    together = threading.Barrier(len(names))
    problems: list[Exception] = []

    def learn(name: str) -> None:
        try:
            together.wait(20)
            keep_dialect("a.example/v1", "m", PLAIN, Dialect(left_out=(name,)))
        except Exception as problem:
            problems.append(problem)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=learn, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not problems, (connection.vendor, problems)
    assert dialect_at("a.example/v1", "m").left_out == tuple(names)


def test_what_a_worker_takes_back_is_taken_from_what_another_stored() -> None:
    """Before: seed and temperature left out. This one sends seed again, another left out
    logprobs."""
    before, after = Dialect(left_out=("seed", "temperature")), Dialect(left_out=("temperature",))
    stored = Dialect(left_out=("logprobs", "seed", "temperature"), room=300)
    assert merged(before, after, stored) == Dialect(left_out=("logprobs", "temperature"), room=300)


@pytest.mark.django_db
def test_a_judge_that_is_at_work_does_not_lose_its_form_when_it_is_forgotten() -> None:
    learner = learner_for("http://a.example/v1", "m")
    learner.learn(limit="max_completion_tokens")
    EndpointDialect.objects.all().delete()
    learner.learn(room=300)
    assert learner.dialect == Dialect("max_completion_tokens", room=300)
    assert dialect_at("a.example/v1", "m") == Dialect(room=300)


@pytest.mark.django_db
def test_an_organiser_sees_what_was_learned_and_forgets_it(
    organiser: Client, version: CorpusVersion, endpoint: None
) -> None:
    EndpointDialect.objects.create(
        address="api.example.org/v1", model="gpt", facts={"left_out": ["logprobs", "seed"]}
    )
    shown = page(organiser)
    assert "<b>gpt</b> at <bdi>api.example.org/v1</bdi>: not sent: logprobs, seed." in shown
    address = reverse("judge-forget", args=["talks"])
    data = {"address": "api.example.org/v1", "model": "gpt"}
    assert organiser.post(address, data).status_code == 302
    assert not EndpointDialect.objects.exists()
    assert AuditEntry.objects.get().action == "judge_endpoint.forgotten"
    assert organiser.post(address, data).status_code == 404
