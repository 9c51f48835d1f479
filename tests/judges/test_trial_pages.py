"""The form on which an organiser tries a judge, and a trial's page: what they show, what they
refuse."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from annotations.models import Turn
from tests.judges.prompt_pages import HTMX, words
from tests.judges.written import MODEL, TEXT, configuration_of, organiser, rated_version, written
from workers.inference.language_models.client import Message
from workers.judges import trial_actions
from workers.judges.core.calls import ChatRequest
from workers.judges.models import StoredAnswer, StoredRequest, Trial

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("alone")]


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(organiser())
    return client


# --- trying ---------------------------------------------------------------------------------------


def asked(corpus: Any, **fields: Any) -> dict[str, Any]:
    return {
        "number": 1, "ratings": f"{corpus.pk}|overall", "model": MODEL, "scoring": "answer",
        "samples": 2, "seed": 3, "tokens": 5000, "usd": "", **fields,
    }  # fmt: skip


def test_the_form_begins_with_the_packaged_model_and_a_small_budget(client: Client) -> None:
    written()
    rated_version()
    body = client.get("/judges/kind-words/").content.decode()
    assert re.search(r'name="model" value="smollm2-135m-instruct"', body)
    assert re.search(r'name="tokens" value="100000"', body)
    assert f'<option value="{MODEL}">' in body


def test_without_rated_responses_there_is_nothing_to_try_it_on(client: Client) -> None:
    written()
    assert "No corpus has responses that people rated" in words(client.get("/judges/kind-words/"))


def test_a_trial_is_started_with_what_the_form_says(client: Client) -> None:
    written()
    corpus = rated_version()
    answer = client.post("/judges/kind-words/try/", asked(corpus))
    trial = Trial.objects.get()
    assert answer["Location"] == f"/judges/kind-words/trials/{trial.pk}/"
    assert (
        trial.configuration == f"judge[model={MODEL},prompt=kind-words@1,samples=2,scoring=answer]"
    )
    assert (trial.seed, trial.aspect, trial.budget.tokens_limit, trial.budget.cost_limit) == (
        3,
        "overall",
        5000,
        None,
    )
    assert trial.created_by.username == "olga"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"number": "7"}, "7 is not one of the available choices"),
        ({"number": "\0"}, "not one of the available choices"),
        ({"ratings": "1|overall|x"}, "not one of the available choices"),
        ({"ratings": ""}, "This field is required"),
        ({"model": ""}, "This field is required"),
        ({"model": "nul\0"}, "NUL"),
        ({"model": "x" * 201}, "201"),
        ({"model": "y" * 200, "scoring": "guess"}, "guess is not one of the available choices"),
        ({"samples": "0"}, "greater than or equal to 1"),
        ({"samples": "11"}, "less than or equal to 10"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"seed": str(2**31)}, "less than or equal to"),
        ({"tokens": "-5"}, "From 1"),
        ({"tokens": "NaN"}, "whole number"),
        ({"tokens": "9" * 40}, "less than or equal to"),
        ({"usd": "NaN"}, "Enter a number"),
        ({"usd": "1e99"}, "digit"),
        ({"usd": "1"}, "has no price"),
    ],
)
def test_what_cannot_be_tried_is_told_below_its_field(
    client: Client, fields: dict[str, Any], said: str
) -> None:
    written()
    answer = client.post("/judges/kind-words/try/", asked(rated_version(), **fields))
    assert answer.status_code == 422
    assert said in words(answer)
    assert not Trial.objects.exists()


def test_a_prompt_that_asks_for_what_the_corpus_lacks_is_told_so(client: Client) -> None:
    written(text=TEXT.replace("{response}", "{reference} or {response}"))
    corpus = rated_version()
    Turn.objects.filter(dialogue__version=corpus).update(references=[])
    answer = client.post("/judges/kind-words/try/", asked(corpus))
    assert answer.status_code == 422
    assert "the corpus has no references" in words(answer)


def test_a_model_without_an_endpoint_is_refused_with_what_to_set(
    client: Client, settings: Any
) -> None:
    settings.LLM_URL = ""
    written()
    answer = client.post("/judges/kind-words/try/", asked(rated_version()))
    assert answer.status_code == 422
    assert "DIALEVAL_LLM_URL" in words(answer)


# --- a trial's page -------------------------------------------------------------------------------


def trial_of(state: str = "pending", **fields: Any) -> Trial:
    version, corpus = written(), rated_version()
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
    Trial.objects.filter(pk=trial.pk).update(state=state, **fields)
    return Trial.objects.get(pk=trial.pk)


def done(
    score: float | None = 3.25, reason: str = "", text: str = "- Humanness: 3", **trace: Any
) -> Trial:
    """Every response got the same score from the same answer."""
    request = ChatRequest(
        MODEL, (Message("user", "Rate <i>this</i>."), Message("assistant", "- Humanness: "))
    )
    row = StoredRequest.objects.create(key=request.key, model=MODEL, body=request.body)
    StoredAnswer.objects.create(
        request=row, sample=0, state="answered", text=text, input_tokens=40, output_tokens=5,
        latency_seconds=0.5, answered_at="2026-11-01T00:00Z", reported_model="judge-a-2026",
    )  # fmt: skip
    result = {
        "score": score,
        "reason": reason,
        "remark": "mass .40",
        "trace": {"request": request.key, **trace},
    }
    return trial_of(
        "done", results=[result] * 10, finished_at="2100-01-01T00:00Z", examples_done=10
    )


def page_of(client: Client, trial: Trial, query: str = "", **headers: str) -> Any:
    return client.get(f"/judges/kind-words/trials/{trial.pk}/{query}", headers=headers)


def test_a_waiting_trial_asks_for_itself_and_can_be_stopped(client: Client) -> None:
    trial = trial_of()
    page = page_of(client, trial)
    assert "Waiting for a worker" in words(page)
    assert 'hx-trigger="every 1s"' in page.content.decode()
    part = page_of(client, trial, **HTMX)
    assert b"<html" not in part.content
    assert b'id="trial"' in part.content
    client.post(f"/judges/kind-words/trials/{trial.pk}/stop/")
    said = page_of(client, trial)
    assert "Stopped by olga" in words(said)
    assert 'hx-trigger="every 1s"' not in said.content.decode()


def test_a_failed_trial_says_why_and_goes_on_with_another_budget(client: Client) -> None:
    trial = trial_of(
        "failed", error="the budget of the trial is spent", finished_at="2100-01-01T00:00Z"
    )
    assert "the budget of the trial is spent" in words(page_of(client, trial))
    client.post(f"/judges/kind-words/trials/{trial.pk}/resume/", {"tokens": "7000", "usd": ""})
    trial = Trial.objects.select_related("budget").get()
    assert (trial.state, trial.error, trial.budget.tokens_limit) == ("pending", "", 7000)


@pytest.mark.parametrize(
    ("tokens", "said"), [("-1", "From 1"), ("100", "500 are spent already"), ("x", "whole")]
)
def test_a_budget_that_cannot_be_is_told_and_the_trial_stays_as_it_is(
    client: Client, tokens: str, said: str
) -> None:
    trial = trial_of("failed", error="spent", finished_at="2100-01-01T00:00Z")
    type(trial.budget).objects.update(tokens_spent=500)
    answer = client.post(
        f"/judges/kind-words/trials/{trial.pk}/resume/", {"tokens": tokens, "usd": ""}
    )
    assert answer.status_code == 422
    assert said in words(answer)
    assert Trial.objects.get().state == "failed"


def test_a_finished_trial_shows_prompt_raw_answer_score_and_people_of_each_response(
    client: Client,
) -> None:
    chances = {str(number): 0.2 for number in range(1, 6)}
    said = words(page_of(client, done(chances=chances, mass=0.4)))
    assert said.count("Judge 3.25 1 to 5") == 10
    assert said.count("Rate <i>this</i>.") == 10
    assert "judge-a-2026 - Humanness: 3" in said
    assert "1 call, 45 tokens, 0.5 s" in said
    assert "mass .40" in said
    assert "People 1.50 2 ratings, 1 to 5" in said
    assert "Spearman's ρ – all metric scores are equal" in said


def test_without_a_score_the_reason_stands_there_and_the_raw_answer_is_kept(client: Client) -> None:
    said = words(page_of(client, done(None, "no number in 3 answers", "I <b>cannot</b> say")))
    assert "Scored 0 of 10" in said
    assert said.count("Judge – no number in 3 answers") == 10
    assert "I <b>cannot</b> say" in said
    assert "Spearman's ρ – a correlation needs at least 3 pairs of scores, there are 0" in said


def test_what_the_corpus_would_take_is_shown_when_it_is_asked_for(client: Client) -> None:
    trial = done()
    assert 'hx-trigger="load once"' in page_of(client, trial).content.decode()
    part = words(page_of(client, trial, "?estimate=1", **HTMX))
    assert "4 dialogues of 3 systems, 36 calls" in part
    chosen = "metric=judge%5Bmodel%3Djudge-a%2Cprompt%3Dkind-words%401%5D"
    link = f"/corpora/{trial.version.corpus.slug}/judges/?version=1&amp;{chosen}"
    assert link in page_of(client, trial, "?estimate=1").content.decode()


def test_ratings_of_programs_are_not_called_people(client: Client) -> None:
    trial = done()
    type(trial.version).objects.update(simulated=True)
    said = words(page_of(client, trial))
    assert "The raters of this corpus are programs" in said
    assert "People 1.50" not in said
    assert "Simulated raters 1.50" in said


def test_the_site_s_key_stands_on_no_page(client: Client) -> None:
    trial = done()
    for path in (
        "",
        "new/",
        "kind-words/",
        "kind-words/edit/",
        f"kind-words/trials/{trial.pk}/?estimate=1",
    ):
        assert b"sk-secret-of-the-site" not in client.get(f"/judges/{path}").content
