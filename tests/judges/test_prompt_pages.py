"""The pages on which an organiser writes a judge, looks at it, tries it: what they show, what they refuse."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from annotations.models import Dialogue, Response, System, Turn
from tests.judges.written import MODEL, TEXT, configuration_of, forget, organiser, rated_version, written
from workers import runs
from workers.judges import prompt_actions, trials
from workers.judges.models import JudgePrompt, PromptVersion, StoredAnswer, StoredRequest, Trial
from workers.judges.prompt_forms import EMPTY, STARTS
from workers.judging.calls import ChatRequest
from workers.judging.prompt_file import read_prompt
from workers.language_models.client import Message

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
OF_DIALOGUES = TEXT.replace("step: turn", "step: dialogue").replace("{response}", "{responses} {turn_scores}")
MARKUP = '<script>alert(1)</script> & "quoted" {{ x }} {% now %}'


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """No broker, no endpoint that answers: only pages."""
    monkeypatch.setattr(trials, "tell_workers", lambda task, rows: [pk for pk, _ in rows])
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = "http://127.0.0.1:9/v1", MODEL, "sk-secret-of-the-site"
    forget()
    yield
    forget()


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(organiser())
    return client


def words(answer: Any) -> str:
    """What a reader sees, tags taken out."""
    text = re.sub(r"<textarea.*?</textarea>|<head>.*?</head>", "", answer.content.decode(), flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


def area(answer: Any) -> str:
    return html.unescape(re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", answer.content.decode(), re.DOTALL)[1])


def sent(**fields: str) -> dict[str, str]:
    return {"title": "Kind words", "slug": "", "text": TEXT, **fields}


# --- the list --------------------------------------------------------------------------------------------------


def test_the_empty_list_tells_the_first_step(client: Client) -> None:
    page = client.get("/judges/")
    assert "No judge yet" in words(page)
    assert 'href="/judges/new/"' in page.content.decode()


def test_the_list_tells_each_judge_s_versions_trials_and_uses(client: Client) -> None:
    version, corpus = written(), rated_version()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    trials.start(version, corpus, configuration_of(version), "overall")
    runs.request([configuration_of(version)], list(corpus.systems.all()), hint=False)
    said = words(client.get("/judges/"))
    assert "kind-words@2 · 2 versions · 1 trial" in said
    assert f"@1 {corpus.corpus.slug} v1 : 0 of 3 systems judged judge[model=judge-a,prompt=kind-words@1]" in said


# --- writing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", STARTS)
def test_what_a_new_judge_may_begin_as_is_sound(client: Client, start: str) -> None:
    page = client.get(f"/judges/new/?start={start}")
    assert read_prompt(area(page)).step == "turn"
    assert "sound" in words(page)


@pytest.mark.parametrize("start", ["dialogue", "../detail", "nothing", "<b>"])
def test_any_other_beginning_is_the_first_one(client: Client, start: str) -> None:
    assert area(client.get("/judges/new/", {"start": start})) == area(client.get("/judges/new/"))


def test_storing_makes_a_first_version_and_leads_to_its_page(client: Client) -> None:
    answer = client.post("/judges/new/", sent(text=TEXT.replace("\n", "\r\n")))
    assert answer["Location"] == "/judges/kind-words/"
    assert PromptVersion.objects.get().text == TEXT
    assert TEXT.strip() in html.unescape(client.get("/judges/kind-words/").content.decode())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": ""}, "This field is required"),
        ({"title": "善"}, "has no letters"),
        ({"title": "nul\0"}, "NUL"),
        ({"title": "x" * 121}, "121"),
        ({"slug": "a b"}, "small letters"),
        ({"slug": "new"}, "new is taken"),
        ({"text": ""}, "This field is required"),
        ({"text": TEXT.replace("{fact}", "{facts}")}, "Line 11: user: "),
        ({"text": OF_DIALOGUES}, "Line 2: step: "),
        ({"text": TEXT + "\0"}, "NUL"),
        ({"text": TEXT + "é" * 400_000}, "characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_told_below_its_field_and_what_was_typed_stays(
    client: Client, fields: dict[str, str], said: str
) -> None:
    answer = client.post("/judges/new/", sent(**fields))
    assert answer.status_code == 422
    assert said in words(answer)
    if "text" not in fields:
        assert area(answer) == TEXT
    assert not JudgePrompt.objects.exists()


def test_all_that_is_wrong_is_told_at_once(client: Client) -> None:
    said = words(client.post("/judges/new/", sent(title="", text=OF_DIALOGUES)))
    assert "This field is required" in said
    assert "Line 2: step: " in said


def test_half_of_a_surrogate_pair_is_refused_or_mended_never_an_error(client: Client) -> None:
    body = b"title=Kind&text=" + TEXT.replace("Said", "%ED%A0%80").replace("\n", "%0A").encode()
    answer = client.generic("POST", "/judges/new/", body, "application/x-www-form-urlencoded")
    assert answer.status_code in (302, 422)


def test_a_name_that_is_taken_is_told_and_nothing_is_lost(client: Client) -> None:
    written("Kind words")
    answer = client.post("/judges/new/", sent())
    assert answer.status_code == 422
    assert "kind-words is taken" in words(answer)
    assert area(answer) == TEXT


def test_a_new_wording_is_the_next_version_and_the_same_one_is_told(client: Client) -> None:
    written()
    changed = TEXT.replace("About", "On")
    client.post("/judges/kind-words/edit/", {"text": changed})
    assert [one.number for one in PromptVersion.objects.all()] == [1, 2]
    answer = client.post("/judges/kind-words/edit/", {"text": TEXT}, follow=True)
    assert "kind-words@1 says the same: nothing new was stored" in words(answer)
    assert PromptVersion.objects.count() == 2


def test_editing_begins_with_the_newest_version_or_the_one_that_is_named(client: Client) -> None:
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    assert "On B" in area(client.get("/judges/kind-words/edit/"))
    assert area(client.get("/judges/kind-words/edit/?version=1")) == TEXT


def test_a_prompt_deleted_while_it_is_edited_leaves_the_text_in_the_form(client: Client, monkeypatch: Any) -> None:
    prompt = written().prompt
    write = prompt_actions.write

    def late(*arguments: Any) -> Any:
        JudgePrompt.objects.all().delete()
        return write(*arguments)

    monkeypatch.setattr(prompt_actions, "write", late)
    changed = TEXT.replace("About", "On")
    answer = client.post(f"/judges/{prompt.slug}/edit/", {"text": changed})
    assert answer.status_code == 422
    assert "was deleted meanwhile" in words(answer)
    assert area(answer) == changed


# --- looking at it ---------------------------------------------------------------------------------------------


def look(client: Client, text: str = TEXT, htmx: bool = True, **fields: Any) -> Any:
    data = {"look": "1", "title": "", "text": text, **fields}
    return client.post("/judges/new/", data, headers=HTMX if htmx else {})


def test_while_typing_every_fault_is_told_with_its_line(client: Client) -> None:
    text = TEXT.replace("scale: 1-5", "scale: 5").replace("{fact}", "{facts}")
    answer = look(client, text)
    assert answer.status_code == 200
    assert "It cannot be used yet: 2 faults" in words(answer)
    assert re.findall(r"Line (\d+)", words(answer)) == ["4", "11"]
    assert b"<html" not in answer.content


def test_a_sound_prompt_is_shown_with_a_response_of_the_corpus(client: Client) -> None:
    corpus = rated_version()
    for number, system, place in ((1, "ada", (0, 0)), (2, "bob", (0, 0)), (4, "ada", (0, 1)), (36, "cyd", (3, 2))):
        shown = words(look(client, corpus=corpus.pk, response=number))
        said = Response.objects.get(
            system__name=system, turn__number=place[1], turn__dialogue__position=place[0], system__version=corpus
        )
        assert f"Response {number} of 36: {system} at turn {place[1]} of dialogue file-{place[0]}" in shown
        assert f"B said: {said.text}" in shown
        assert f"I have {place[0] + 2} bicycles." in shown


@pytest.mark.parametrize(
    ("number", "shown"), [("0", 1), ("-4", 1), ("37", 36), ("9" * 30, 36), ("x", 1), ("", 1), ("1.5", 1), ("\0", 1)]
)
def test_a_response_that_is_none_shows_one_that_is(client: Client, number: str, shown: int) -> None:
    corpus = rated_version()
    assert f"Response {shown} of 36" in words(look(client, corpus=corpus.pk, response=number))


@pytest.mark.parametrize("corpus", ["0", "x", "9" * 30, "", "\0"])
def test_a_corpus_that_is_none_shows_the_first(client: Client, corpus: str) -> None:
    rated_version()
    assert "Response 1 of 36" in words(look(client, corpus=corpus))


def test_a_withheld_system_s_response_is_not_shown(client: Client) -> None:
    corpus = rated_version()
    System.objects.filter(version=corpus, name="ada").update(withheld=True)
    assert "Response 1 of 24: bob" in words(look(client, corpus=corpus.pk))


def test_without_script_the_button_shows_the_same_and_keeps_what_was_typed(client: Client) -> None:
    rated_version()
    answer = look(client, htmx=False, title="Half a <title>")
    assert answer.status_code == 200
    assert area(answer) == TEXT
    assert 'value="Half a &lt;title&gt;"' in answer.content.decode()
    assert "Response 1 of 36" in words(answer)
    assert "What is wrong" not in words(answer)
    assert not JudgePrompt.objects.exists()


def test_without_a_corpus_the_checker_still_speaks(client: Client) -> None:
    answer = look(client)
    assert "sound" in words(answer)
    assert "no corpus with responses" in words(answer)


def test_what_the_corpus_lacks_is_told(client: Client) -> None:
    corpus = rated_version()
    Turn.objects.filter(dialogue__version=corpus).update(references=[])
    Dialogue.objects.filter(version=corpus).update(persona=[])
    said = words(look(client, TEXT.replace("{response}", "{reference} or {response}"), corpus=corpus.pk))
    assert "this turn has none" in said
    assert "this dialogue has none" in said


def test_braces_markup_and_section_marks_in_a_response_stay_its_own(client: Client) -> None:
    corpus = rated_version(dialogues=1, turns=1, systems=("ada",))
    Response.objects.filter(system__version=corpus).update(text=f"{MARKUP}\n=== user\n{{history}}")
    answer = look(client, corpus=corpus.pk)
    assert b"<script>alert" not in answer.content
    assert f"B said: {MARKUP} === user {{history}} Answer" in words(answer)


# --- one judge -------------------------------------------------------------------------------------------------


def test_two_versions_are_compared_line_by_line(client: Client) -> None:
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About B:", "<b>On</b> B:"), None)
    body = client.get("/judges/kind-words/?before=1&after=2").content.decode()
    assert '<li class="removed"><span class="mark" aria-hidden="true">−</span>' in body
    assert "&lt;b&gt;On&lt;/b&gt; B:" in body
    assert "They say the same" in words(client.get("/judges/kind-words/?before=2&after=2"))


@pytest.mark.parametrize("wish", ["version=3", "version=x", "version=-1", "version=9999999999", "before=7", "after=x"])
def test_a_version_that_is_none_is_not_found(client: Client, wish: str) -> None:
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    assert client.get(f"/judges/kind-words/?{wish}").status_code == 404


@pytest.mark.parametrize("path", ["nobody/", "nobody/edit/", "kind-words/trials/1/", f"kind-words/trials/{2**64}/"])
def test_what_is_not_there_is_not_found(client: Client, path: str) -> None:
    written()
    assert client.get(f"/judges/{path}").status_code == 404


def test_markup_in_titles_and_texts_is_text_on_every_page(client: Client) -> None:
    version = written(MARKUP, TEXT.replace("About", MARKUP.replace("{", "{{").replace("}", "}}")), slug="hostile")
    corpus = rated_version()
    Response.objects.filter(system__version=corpus).update(text=MARKUP)
    System.objects.filter(version=corpus, name="ada").update(name=MARKUP)
    trial = trials.start(version, corpus, configuration_of(version), "overall")
    for path in ("", "new/", "hostile/", "hostile/edit/", f"hostile/trials/{trial.pk}/"):
        body = client.get(f"/judges/{path}").content.decode()
        assert "<script>alert" not in body, path
        if path != "new/":
            assert html.escape(MARKUP.split(" &")[0]) in body, path


def test_a_wording_that_this_release_refuses_is_shown_and_said(client: Client) -> None:
    version = written()
    PromptVersion.objects.filter(pk=version.pk).update(text="an old format")
    page = client.get("/judges/kind-words/")
    assert "checker does not take this wording" in words(page)
    assert "an old format" in words(page)


def test_deleting_leads_to_the_list_and_a_refusal_back_with_its_reason(client: Client) -> None:
    version, corpus = written(), rated_version()
    trial = trials.start(version, corpus, configuration_of(version), "overall")
    answer = client.post("/judges/kind-words/delete/", follow=True)
    assert "A trial of it is under way" in words(answer)
    trials.stop(trial)
    answer = client.post("/judges/kind-words/delete/", follow=True)
    assert answer.redirect_chain == [("/judges/", 302)]
    assert not JudgePrompt.objects.exists()


# --- trying ----------------------------------------------------------------------------------------------------


def asked(corpus: Any, **fields: Any) -> dict[str, Any]:
    return {
        "number": 1, "ratings": f"{corpus.pk}|overall", "model": MODEL, "scoring": "answer", "samples": 2, "seed": 3,
        "tokens": 5000, "usd": "", **fields,
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
    assert trial.configuration == f"judge[model={MODEL},prompt=kind-words@1,samples=2,scoring=answer]"
    assert (trial.seed, trial.aspect, trial.purse.tokens_limit, trial.purse.cost_limit) == (3, "overall", 5000, None)
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
def test_what_cannot_be_tried_is_told_below_its_field(client: Client, fields: dict[str, Any], said: str) -> None:
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


def test_a_model_without_an_endpoint_is_refused_with_what_to_set(client: Client, settings: Any) -> None:
    settings.LLM_URL = ""
    written()
    answer = client.post("/judges/kind-words/try/", asked(rated_version()))
    assert answer.status_code == 422
    assert "DIALEVAL_LLM_URL" in words(answer)


# --- a trial's page --------------------------------------------------------------------------------------------


def trial_of(state: str = "pending", **fields: Any) -> Trial:
    version, corpus = written(), rated_version()
    trial = trials.start(version, corpus, configuration_of(version), "overall")
    Trial.objects.filter(pk=trial.pk).update(state=state, **fields)
    return Trial.objects.get(pk=trial.pk)


def done(score: float | None = 3.25, reason: str = "", text: str = "- Humanness: 3", **trace: Any) -> Trial:
    """Every response got the same score from the same answer."""
    request = ChatRequest(MODEL, (Message("user", "Rate <i>this</i>."), Message("assistant", "- Humanness: ")))
    row = StoredRequest.objects.create(key=request.key, model=MODEL, body=request.body)
    StoredAnswer.objects.create(
        request=row, sample=0, state="answered", text=text, input_tokens=40, output_tokens=5, latency_seconds=0.5,
        answered_at="2026-11-01T00:00Z", reported_model="judge-a-2026",
    )  # fmt: skip
    result = {"score": score, "reason": reason, "remark": "mass .40", "trace": {"request": request.key, **trace}}
    return trial_of("done", results=[result] * 10, finished_at="2100-01-01T00:00Z", examples_done=10)


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
    trial = trial_of("failed", error="the budget of the trial is spent", finished_at="2100-01-01T00:00Z")
    assert "the budget of the trial is spent" in words(page_of(client, trial))
    client.post(f"/judges/kind-words/trials/{trial.pk}/resume/", {"tokens": "7000", "usd": ""})
    trial = Trial.objects.select_related("purse").get()
    assert (trial.state, trial.error, trial.purse.tokens_limit) == ("pending", "", 7000)


@pytest.mark.parametrize(("tokens", "said"), [("-1", "From 1"), ("100", "500 are spent already"), ("x", "whole")])
def test_a_budget_that_cannot_be_is_told_and_the_trial_stays_as_it_is(client: Client, tokens: str, said: str) -> None:
    trial = trial_of("failed", error="spent", finished_at="2100-01-01T00:00Z")
    type(trial.purse).objects.update(tokens_spent=500)
    answer = client.post(f"/judges/kind-words/trials/{trial.pk}/resume/", {"tokens": tokens, "usd": ""})
    assert answer.status_code == 422
    assert said in words(answer)
    assert Trial.objects.get().state == "failed"


def test_a_finished_trial_shows_prompt_raw_answer_score_and_people_of_each_response(client: Client) -> None:
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
    assert "12 dialogues, 36 calls" in part
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
    for path in ("", "new/", "kind-words/", "kind-words/edit/", f"kind-words/trials/{trial.pk}/?estimate=1"):
        assert b"sk-secret-of-the-site" not in client.get(f"/judges/{path}").content


def test_a_beginning_of_hardly_anything_is_valid() -> None:
    assert read_prompt(EMPTY).score == "Score"
