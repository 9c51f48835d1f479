"""Setting up what is asked: templates, the editor with its faults and preview, the preview of an
item."""

from __future__ import annotations

import io
import json

import pytest
from django.test import Client

from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.opening import open_campaign
from annotations.campaigns.form_text import as_yaml, lines_of
from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.queries.ratings import form_of_campaign
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
    refused = organiser().post("/campaigns/new/", {**form, "allocation": "adaptive"})
    assert "evenly and without a target" in refused.content.decode()


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
    assert "key: understandable" in browser.get(form, {"template": "usr"}).content.decode()
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
