"""The pages on which an organiser writes a judge and looks at it: what they show, what they
refuse."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from annotations.models import Dialogue, Response, System, Turn
from tests.judges.prompt_pages import HTMX, MARKUP, OF_DIALOGUES, area, sent, words
from tests.judges.written import TEXT, configuration_of, organiser, rated_version, written
from workers.judges import prompt_actions, trial_actions
from workers.judges.core.prompt_file import read_prompt
from workers.judges.models import JudgePrompt, PromptVersion
from workers.judges.prompt_forms import EMPTY, STARTS
from workers.runs import actions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("alone")]


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(organiser())
    return client


# --- the list -------------------------------------------------------------------------------------


def test_the_empty_list_tells_the_first_step(client: Client) -> None:
    page = client.get("/judges/")
    assert "No judge yet" in words(page)
    assert 'href="/judges/new/"' in page.content.decode()


def test_the_list_tells_each_judge_s_versions_trials_and_uses(client: Client) -> None:
    version, corpus = written(), rated_version()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    trial_actions.start(version, corpus, configuration_of(version), "overall")
    actions.request([configuration_of(version)], list(corpus.systems.all()), hint=False)
    said = words(client.get("/judges/"))
    assert "kind-words@2 · 2 versions · 1 trial" in said
    assert (
        f"@1 {corpus.corpus.slug} v1 : 0 of 3 systems judged "
        "judge[model=judge-a,prompt=kind-words@1]" in said
    )


# --- writing --------------------------------------------------------------------------------------


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
        ({"slug": "a b"}, "lower-case letters"),
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


def test_a_prompt_deleted_while_it_is_edited_leaves_the_text_in_the_form(
    client: Client, monkeypatch: Any
) -> None:
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


# --- looking at it --------------------------------------------------------------------------------


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
    for number, system, place in (
        (1, "ada", (0, 0)),
        (2, "bob", (0, 0)),
        (4, "ada", (0, 1)),
        (36, "cyd", (3, 2)),
    ):
        shown = words(look(client, corpus=corpus.pk, response=number))
        said = Response.objects.get(
            system__name=system,
            turn__number=place[1],
            turn__dialogue__position=place[0],
            system__version=corpus,
        )
        assert (
            f"Response {number} of 36: {system} at turn {place[1]} of dialogue file-{place[0]}"
            in shown
        )
        assert f"B said: {said.text}" in shown
        assert f"I have {place[0] + 2} bicycles." in shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [("0", 1), ("-4", 1), ("37", 36), ("9" * 30, 36), ("x", 1), ("", 1), ("1.5", 1), ("\0", 1)],
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
    said = words(
        look(client, TEXT.replace("{response}", "{reference} or {response}"), corpus=corpus.pk)
    )
    assert "this turn has none" in said
    assert "this dialogue has none" in said


def test_braces_markup_and_section_marks_in_a_response_stay_its_own(client: Client) -> None:
    corpus = rated_version(dialogues=1, turns=1, systems=("ada",))
    Response.objects.filter(system__version=corpus).update(text=f"{MARKUP}\n=== user\n{{history}}")
    answer = look(client, corpus=corpus.pk)
    assert b"<script>alert" not in answer.content
    assert f"B said: {MARKUP} === user {{history}} Answer" in words(answer)


# --- one judge ------------------------------------------------------------------------------------


def test_two_versions_are_compared_line_by_line(client: Client) -> None:
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About B:", "<b>On</b> B:"), None)
    body = client.get("/judges/kind-words/?before=1&after=2").content.decode()
    assert '<li class="removed"><span class="mark" aria-hidden="true">−</span>' in body
    assert "&lt;b&gt;On&lt;/b&gt; B:" in body
    assert "They say the same" in words(client.get("/judges/kind-words/?before=2&after=2"))


@pytest.mark.parametrize(
    "params", ["version=3", "version=x", "version=-1", "version=9999999999", "before=7", "after=x"]
)
def test_a_version_that_is_none_is_not_found(client: Client, params: str) -> None:
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    assert client.get(f"/judges/kind-words/?{params}").status_code == 404


@pytest.mark.parametrize(
    "path", ["nobody/", "nobody/edit/", "kind-words/trials/1/", f"kind-words/trials/{2**64}/"]
)
def test_what_is_not_there_is_not_found(client: Client, path: str) -> None:
    written()
    assert client.get(f"/judges/{path}").status_code == 404


def test_markup_in_titles_and_texts_is_text_on_every_page(client: Client) -> None:
    version = written(
        MARKUP, TEXT.replace("About", MARKUP.replace("{", "{{").replace("}", "}}")), slug="hostile"
    )
    corpus = rated_version()
    Response.objects.filter(system__version=corpus).update(text=MARKUP)
    System.objects.filter(version=corpus, name="ada").update(name=MARKUP)
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
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
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
    answer = client.post("/judges/kind-words/delete/", follow=True)
    assert "A trial of it is under way" in words(answer)
    trial_actions.stop(trial)
    answer = client.post("/judges/kind-words/delete/", follow=True)
    assert answer.redirect_chain == [("/judges/", 302)]
    assert not JudgePrompt.objects.exists()


def test_a_beginning_of_hardly_anything_is_valid() -> None:
    assert read_prompt(EMPTY).score == "Score"
