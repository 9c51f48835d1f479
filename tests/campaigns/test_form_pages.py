"""Setting up what is asked: templates, the editor with its faults and preview, the preview of an
item."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser

import pytest
from django.test import Client

from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.opening import open_campaign
from annotations.campaigns.form_text import as_yaml, lines_of
from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.question_view import answers_in_words
from annotations.questions import templates
from annotations.questions.reading import read_text
from common.roles import ORGANISER
from tests.campaigns.forms import asking, made_form
from tests.campaigns.rating_browser import a_rater, address, browser_of
from tests.campaigns.sets import made_campaign, made_user, made_version

YAML = """schema: 1
name: mine
title: Mine
level: response
questions:
  - key: stars
    type: scale
    text: How many stars?
    maximum: {most}
"""


def organiser() -> Client:
    return browser_of(made_user("", ORGANISER))


# --- the text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", templates.names())
def test_a_form_is_read_again_from_its_text(name: str) -> None:
    form = templates.load(name)
    assert read_text(as_yaml(form)) == form


def test_guidelines_are_a_block_of_lines() -> None:
    assert "guidelines: |" in as_yaml(templates.load("usr"))


def test_a_fault_is_at_its_line() -> None:
    text = YAML.format(most=5)
    paths = ["questions[0].maximum", "questions[0].minimum", "questions[0]", "name", "", "x[3]"]
    assert lines_of(text, paths) == [9, 6, 6, 2, None, 1]
    assert lines_of("{", ["name"]) == [None]


def test_answers_are_told_in_words() -> None:
    options = [{"key": "dull"}, {"key": "rude"}, {"key": "wrong"}]
    order = {"key": "order", "type": "ranking", "text": "?", "options": options, "ties": True}
    severities = [{"key": "minor", "value": 1}, {"key": "major", "label": "grave", "value": 5}]
    errors = {"key": "errors", "type": "span", "text": "?", "options": options}
    form = made_form(order, {**errors, "severities": severities})
    span = {"utterance": 1, "start": 0, "end": 2, "label": "rude", "severity": "major"}
    answers = {"order": {"dull": 1, "rude": 3, "wrong": 1}, "errors": [span]}
    told = answers_in_words(form, answers)
    assert told == {"order": "dull = wrong > rude", "errors": "rude (grave)"}
    assert answers_in_words(form, {"errors": []}) == {"errors": "none"}


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_template_is_chosen_and_the_campaign_can_open() -> None:
    version = made_version()
    form = {
        "kind": "turn",
        "name": "Six aspects",
        "version": version.pk,
        "systems": [system.pk for system in version.systems.all()],
        "seed": 1,
        "raters_per_item": 2,
        "template": "usr",
        "allocation": "uniform",
        "target": "none",
        **{f"label_{score}": f"label {score}" for score in range(1, 6)},
    }
    assert organiser().post("/campaigns/new/", form).status_code == 302
    campaign = Campaign.objects.get()
    assert form_of_campaign(campaign) == templates.load("usr")
    assert campaign.guidelines.get().text == templates.load("usr").guidelines
    assert open_campaign(campaign).items == 12
    adaptive = {**form, "allocation": "adaptive"}
    refused = organiser().post("/campaigns/new/", {**adaptive, "template": "written-response"})
    assert "This template gives no scores" in refused.content.decode()
    assert organiser().post("/campaigns/new/", adaptive).status_code == 302


@pytest.mark.django_db
def test_only_templates_about_what_raters_see_are_offered() -> None:
    page = organiser().post("/campaigns/new/", {"kind": "dialogue", "refresh": "1"})
    text = page.content.decode()
    assert 'value="usr"' not in text
    assert 'value="comperdial-dialogue"' in text
    draft = made_campaign("dialogue", opened=False)
    assert organiser().get(address("campaign-form", draft), {"template": "usr"}).status_code == 404


@pytest.mark.django_db
def test_a_template_is_a_text_to_begin_with_and_is_stored_by_saving() -> None:
    campaign = made_campaign(opened=False)
    browser, form = organiser(), address("campaign-form", campaign)
    assert (
        "key: understandable"
        in browser.get(form, {"template": "usr", "view": "text"}).content.decode()
    )
    assert Campaign.objects.get(pk=campaign.pk).form is None
    assert browser.post(form, {"text": YAML.format(most=7)}).status_code == 302
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert form_of_campaign(campaign).question("stars").maximum == 7
    assert 'name="q.stars" value="7"' in browser.get(form).content.decode()
    browser.post(form, {"remove": "1"})
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
def test_faults_are_shown_at_their_place_and_nothing_is_stored() -> None:
    campaign = made_campaign(opened=False)
    form = address("campaign-form", campaign)
    answer = organiser().post(form, {"text": YAML.format(most=1_000_000)})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "Line 9" in text
    assert "1,000,000 points" in text
    for hostile in ("", "a: [", "\x00", "- 1", "{}", "<script>", "x" * 200_001):
        assert organiser().post(form, {"text": hostile}).status_code == 422
    assert Campaign.objects.get(pk=campaign.pk).form is None


CLEAR = {"key": "clear", "type": "yes_no", "text": "Clear?"}
ON_ITSELF = {**CLEAR, "when": {"question": "clear", "is": True}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("schema", "questions", "says"),
    [
        (1, [ON_ITSELF], "the conditions form a cycle: clear → clear"),
        (1, [CLEAR, CLEAR], "both have the key clear"),
        (2, [CLEAR], "this site reads versions up to 1"),
    ],
)
def test_a_form_that_cannot_be_asked_is_refused_as_text_and_in_the_editor(
    schema: int, questions: list[dict[str, object]], says: str
) -> None:
    campaign = made_campaign(opened=False)
    form = {"schema": schema, "name": "mine", "title": "Mine", "level": "response"}
    data = json.dumps({**form, "questions": questions})
    for sent in ({"text": data}, {"draft": data, "do": "save"}):
        answer = organiser().post(address("campaign-form", campaign), sent)
        assert answer.status_code == 422
        assert says in answer.content.decode()
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
def test_the_preview_shows_the_text_as_it_stands_and_stores_nothing() -> None:
    campaign = made_campaign(opened=False)
    given = {"text": YAML.format(most=5), "preview": "1"}
    answer = organiser().post(address("campaign-form", campaign), given, HTTP_HX_REQUEST="true")
    assert "How many stars?" in answer.content.decode()
    assert "<html" not in answer.content.decode()
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
def test_once_opened_a_changed_form_is_a_version_and_a_changed_scale_is_refused() -> None:
    campaign = asking(read_text(YAML.format(most=5)))
    browser, form = organiser(), address("campaign-form", campaign)
    assert browser.post(form, {"text": YAML.format(most=7)}).status_code == 422
    renamed = YAML.format(most=5).replace("How many", "Say how many")
    assert browser.post(form, {"text": renamed}).status_code == 302
    assert Campaign.objects.get(pk=campaign.pk).form.number == 2
    assert "Version 1" in browser.get(form).content.decode()
    scale = made_campaign()
    assert "stays with it" in browser.get(address("campaign-form", scale)).content.decode()


@pytest.mark.django_db
def test_other_pages_tell_what_is_asked() -> None:
    campaign = asking("usr")
    browser = organiser()
    for name in ("campaign", "campaign-settings", "campaign-preview", "campaign-plan"):
        assert browser.get(address(name, campaign)).status_code == 200
    preview = browser.get(address("campaign-preview", campaign)).content.decode()
    assert 'name="q.natural"' in preview
    _rater, own = a_rater(campaign)
    assert "Maintains context" in own.get(address("rating-start", campaign)).content.decode()


@pytest.mark.django_db
def test_settings_of_a_draft_with_a_form_have_no_scale_and_keep_the_form() -> None:
    campaign = made_campaign(opened=False)
    write_form(campaign, templates.load("usr"))
    settings = address("campaign-settings", campaign)
    assert 'name="label_1"' not in organiser().get(settings).content.decode()
    given = {
        "kind": "turn",
        "name": "Another name",
        "slug": campaign.slug,
        "version": campaign.version_id,
        "systems": [system.pk for system in campaign.systems.all()],
        "seed": 1,
        "raters_per_item": 3,
        "allocation": "uniform",
        "target": "none",
    }
    assert organiser().post(settings, given).status_code == 302
    stored = Campaign.objects.get(pk=campaign.pk)
    assert (stored.name, stored.raters_per_item, stored.form) == ("Another name", 3, campaign.form)


@pytest.mark.django_db
def test_a_preview_has_a_slider_and_one_row_for_marked_words() -> None:
    questions = (
        {"key": "percent", "type": "slider", "text": "How much?", "maximum": 100},
        {"key": "errors", "type": "span", "text": "Where?", "options": [{"key": "fluency"}]},
    )
    campaign = made_campaign(opened=False)
    write_form(campaign, made_form(*questions))
    for name in ("campaign-form", "campaign-preview"):
        page = organiser().get(address(name, campaign)).content.decode()
        assert 'type="range"' in page
        assert page.count("data-span") == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "highest", "fault"),
    [
        ("mt-bench-single", 10, ""),
        ("mt-bench-single", 11, "must be a whole number from 1 to 10"),
        ("ssa", 2, "must be a whole number from 0 to 1"),
        ("error-spans", 1, "no question of the form has a scale"),
    ],
)
def test_check_items_have_ranges_on_the_scale_of_the_main_question(
    form: str, highest: int, fault: str
) -> None:
    campaign = asking(form)
    line = {"role": "attention", "dialogue": "file-0", "turn": 0, "lowest": 1, "highest": highest}
    file = io.BytesIO(json.dumps({**line, "text": "Of seven purple."}).encode())
    file.name = "checks.jsonl"
    answer = organiser().post(address("campaign-checks", campaign), {"file": file})
    assert answer.status_code == (422 if fault else 302)
    assert fault in answer.content.decode()
    assert campaign.items.exclude(role=Item.Role.REGULAR).exists() == (not fault)


# --- the editor -----------------------------------------------------------------------------------


class Editor:
    """What a browser without a script does: it sends the page's fields with the button pressed."""

    def __init__(self, campaign: Campaign, **query: str) -> None:
        self.browser, self.path = organiser(), address("campaign-form", campaign)
        self.answer = self.browser.get(self.path, query)

    @property
    def page(self) -> str:
        return self.answer.content.decode()

    def press(self, do: str, **changed: str) -> str:
        fields = fields_of(self.page)
        fields |= {name.replace("__", "."): [value] for name, value in changed.items()}
        self.answer = self.browser.post(self.path, {**fields, "do": do})
        return self.page


class _Fields(HTMLParser):
    """The successful controls of the form #form-editor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self.inside, self.select, self.area = False, "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        self.inside = self.inside or given.get("id") == "form-editor"
        if not self.inside or not (name or tag == "option"):
            return
        if tag == "select":
            self.select = name
        elif tag == "option" and ("selected" in given or self.select not in self.found):
            self.found[self.select] = [given["value"] or ""]
        elif tag == "textarea":
            self.area, self.found[name] = name, [""]
        elif tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self.found.setdefault(name, []).append(given.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"
        self.area = "" if tag == "textarea" else self.area

    def handle_data(self, data: str) -> None:
        if self.area:
            self.found[self.area][0] += data


def fields_of(page: str) -> dict[str, list[str]]:
    parser = _Fields()
    parser.feed(page)
    return parser.found


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["usr", "comperdial-dialogue", "error-spans", "pairwise", "ssa"])
def test_a_template_opened_question_by_question_is_stored_unchanged(name: str) -> None:
    kinds = {"comperdial-dialogue": "dialogue", "pairwise": "pair"}
    campaign = made_campaign(kinds.get(name, "turn"), opened=False)
    form = templates.load(name)
    editor = Editor(campaign, template=name)
    for number in range(len(form.questions)):
        editor.press(f"open:{number}")
    editor.press("open:form")
    editor.press("save")
    assert editor.answer.status_code == 302
    assert form_of_campaign(Campaign.objects.get(pk=campaign.pk)) == form


@pytest.mark.django_db
def test_a_form_is_built_from_nothing_by_buttons_alone() -> None:
    campaign = made_campaign(opened=False)
    editor = Editor(campaign)
    editor.press("add", add="scale")
    editor.press("show", text="How helpful?", key="helpful", anchors__0="not", anchors__1="very")
    editor.press("add", add="choices")
    editor.press("show", text="Why not?", key="why", options__0__label="Wrong facts")
    editor.press("show", when__0__question="helpful")
    editor.press("show", when__0__how="below")
    page = editor.press("show", when__0__number="3")
    assert "asked if helpful is below 3" in page
    editor.press("duplicate:1")
    editor.press("up:2")
    editor.press("remove:1")
    editor.press("save")
    assert editor.answer.status_code == 302
    form = form_of_campaign(Campaign.objects.get(pk=campaign.pk))
    assert [one.key for one in form.questions] == ["helpful", "why"]
    assert form.question("helpful").anchors == ("not", "very")
    assert form.question("why").when.below == 3
    assert form.question("why").options[0].label == "Wrong facts"


@pytest.mark.django_db
def test_editor_and_yaml_agree() -> None:
    editor = Editor(made_campaign(opened=False), template="usr")
    page = editor.press("text", text="Do I understand it?")
    assert "text: Do I understand it?" in page
    page = editor.press("editor")
    assert "Do I understand it?" in page
    assert "Uses knowledge" in page
    editor.press("open:0")
    unreadable = editor.press("text", key="Bad Key")
    assert "key: Bad Key" in unreadable
    assert "Line " in unreadable
    assert "Bad Key" in editor.press("editor")  # stays with the text and its faults


@pytest.mark.django_db
def test_a_fault_is_told_at_the_question_it_concerns_and_nothing_is_stored() -> None:
    campaign = made_campaign(opened=False)
    editor = Editor(campaign, template="usr")
    editor.press("open:2")
    editor.press("open:0", maximum="1000000")
    page = editor.press("save")
    assert editor.answer.status_code == 422
    told = page.index("1,000,000 points")
    assert page.index('value="up:2"') < told < page.index('value="up:3"')
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
def test_what_is_typed_is_followed_by_preview_and_faults_alone() -> None:
    campaign = made_campaign(opened=False)
    editor = Editor(campaign, template="usr")
    fields = fields_of(editor.page) | {"text": ["<script>alert(1)</script>"], "key": ["natural"]}
    answer = editor.browser.post(editor.path, {**fields, "preview": "1"}, HTTP_HX_REQUEST="true")
    part = answer.content.decode()
    assert "<html" not in part
    assert "<script>alert" not in part
    assert 'id="faults-1" hx-swap-oob="true"><p class="errorlist">' in part
    assert "both have the key natural" in part
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
@pytest.mark.parametrize("draft", ["", "{", "[]", '{"questions": [1]}', "x" * 200_001])
def test_a_broken_draft_is_refused(draft: str) -> None:
    campaign = made_campaign(opened=False)
    sent = {"draft": draft, "at": "0", "do": "save"}
    answer = organiser().post(address("campaign-form", campaign), sent)
    assert answer.status_code == 422
    assert Campaign.objects.get(pk=campaign.pk).form is None


@pytest.mark.django_db
def test_odd_values_in_a_draft_are_faults() -> None:
    path = address("campaign-form", made_campaign(opened=False))
    browser = organiser()
    odd: list[object] = [
        [],
        {},
        7,
        None,
        "x",
        [[]],
        [{"question": "b", "in": 3}],
        {"question": "b"},
    ]
    for value in odd:
        for name in ("key", "type", "text", "when", "options", "labels", "anchors", "if_hidden"):
            questions = [{"key": "b", "type": "scale", "text": "?"}]
            questions.append({"key": "a", "type": "scale", "text": "?", name: value})
            draft = json.dumps(
                {"name": "a", "title": "a", "level": "response", "questions": questions}
            )
            for do in ("open:1", "text"):
                answer = browser.post(path, {"draft": draft, "at": "", "do": do})
                assert answer.status_code == 200


@pytest.mark.django_db
def test_another_organisers_questions_are_not_overwritten_unseen() -> None:
    campaign = made_campaign(opened=False)
    first, second = Editor(campaign, template="usr"), Editor(campaign, template="likert-7")
    first.press("save")
    page = second.press("save")
    assert second.answer.status_code == 422
    assert "changed elsewhere" in page
    assert form_of_campaign(Campaign.objects.get(pk=campaign.pk)) == templates.load("usr")
    second.press("save")
    assert second.answer.status_code == 302
    assert form_of_campaign(Campaign.objects.get(pk=campaign.pk)) == templates.load("likert-7")


@pytest.mark.django_db
def test_under_ratings_a_changed_scale_is_refused_at_its_question() -> None:
    campaign = asking("usr")
    editor = Editor(campaign)
    editor.press("open:5")
    page = editor.press("save", maximum="7", labels="")
    assert editor.answer.status_code == 422
    told = page.index("Raters have begun")
    assert page.index('value="up:5"') < told < page.index('value="add"')
    editor = Editor(campaign)
    editor.press("save", text="Do you understand it?")
    assert editor.answer.status_code == 302
    assert Campaign.objects.get(pk=campaign.pk).form.number == 2
