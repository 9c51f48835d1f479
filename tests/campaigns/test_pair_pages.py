"""Campaigns of pairs on their pages: set up from a template, rated, exported, published."""

from __future__ import annotations

import csv
import io
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Assignment, Campaign, RatingRevision
from annotations.models import CorpusVersion, Preference
from annotations.questions import templates
from common.roles import ORGANISER
from tests.campaigns.forms import comparing
from tests.campaigns.rating_browser import JSON, a_rater, address, browser_of, in_hand
from tests.campaigns.sets import made_campaign, made_user, made_version

pytestmark = pytest.mark.django_db

SYSTEMS = ("northwind", "southgate")


@pytest.fixture
def organiser() -> Client:
    return browser_of(made_user("", ORGANISER))


# --- set up ---------------------------------------------------------------------------------------


def typed(version: CorpusVersion, kind: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": "Talk",
        "kind": kind,
        "shown_kind": kind,
        "version": version.pk,
        "shown_version": version.pk,
        "systems": [system.pk for system in version.systems.all()],
        "template": "pairwise",
        "seed": "7",
        "raters_per_item": "2",
        **changes,
    }


@pytest.mark.parametrize(
    ("kind", "template", "others"),
    [
        ("pair", "pairwise", {"pairwise-graded", "pairwise-graded-7"}),
        ("dialogue_pair", "acute-eval", {"mt-bench-pair"}),
    ],
)
def test_choosing_the_kind_offers_its_templates_with_one_chosen(
    organiser: Client, kind: str, template: str, others: set[str]
) -> None:
    changed = typed(made_version(), kind, shown_kind="turn", template="usr", refresh="1")
    form = organiser.post(reverse("campaign-new"), changed).context["form"]
    assert form["template"].value() == template
    assert {name for name, _ in form.fields["template"].choices} == {template, *others}
    assert not {"label_1", "axes"} & set(form.fields)


def test_a_template_and_opening_make_the_pairs(organiser: Client) -> None:
    given = typed(made_version(("a", "b", "c"), dialogues=3, turns=1), "pair", pairs="4")
    assert organiser.post(reverse("campaign-new"), given).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.pairs, campaign.form.schema["name"]) == (4, "pairwise")
    assert campaign.guidelines.get().text == templates.load("pairwise").guidelines.strip()
    opened = organiser.post(address("campaign-state", campaign), {"to": "open"})
    assert opened.status_code == 302
    campaign.refresh_from_db()
    assert (campaign.state, campaign.items.count(), campaign.slots.count()) == ("open", 4, 8)


@pytest.mark.parametrize(
    ("changes", "field", "text"),
    [
        ({"pairs": "1"}, "pairs", "At least 2 pairs connect 3 systems."),
        ({"pairs": "0"}, "pairs", "greater than or equal to 1"),
        ({"pairs": "x"}, "pairs", "whole number"),
        ({"template": ""}, "template", "required"),
        ({"template": "usr"}, "template", "not one of the available choices"),
        ({"template": "acute-eval"}, "template", "not one of the available choices"),
    ],
)
def test_bad_settings_are_refused_at_their_field(
    organiser: Client, changes: Any, field: str, text: str
) -> None:
    given = typed(made_version(("a", "b", "c")), "pair", **changes)
    answer = organiser.post(reverse("campaign-new"), given)
    assert answer.status_code == 422
    assert text in str(answer.context["form"].errors[field])
    assert not Campaign.objects.exists()


def test_one_system_is_no_pair(organiser: Client) -> None:
    version = made_version()
    given = typed(version, "pair", systems=[version.systems.first().pk])
    errors = organiser.post(reverse("campaign-new"), given).context["form"].errors
    assert "at least two systems" in str(errors["systems"])


def test_the_dry_run_counts_pairs(organiser: Client) -> None:
    version = made_version(("a", "b", "c"), dialogues=2, turns=2)
    given = typed(version, "pair", refresh="1")
    plan = organiser.post(reverse("campaign-new"), given).context["plan"]
    assert (plan.planned.items, plan.cost.ratings) == (12, 24)  # 4 turns × 3 pairs, two raters
    plan = organiser.post(reverse("campaign-new"), {**given, "pairs": "5"}).context["plan"]
    assert plan.planned.items == 5


@pytest.mark.parametrize("kind", ["pair", "dialogue_pair"])
def test_every_page_of_a_campaign_of_pairs_opens(organiser: Client, kind: str) -> None:
    campaign = comparing("pairwise" if kind == "pair" else "acute-eval", kind)
    for name in (
        *("campaign", "campaign-settings", "campaign-guidelines", "campaign-form"),
        *("campaign-checks", "campaign-raters", "campaign-ratings", "campaign-plan"),
        *("campaign-preview", "campaign-agreement"),
    ):
        assert organiser.get(address(name, campaign)).status_code == 200, name
    draft = made_campaign(kind, opened=False)
    assert organiser.get(address("campaign-preview", draft)).status_code == 200


def test_the_button_that_removes_the_form_is_not_there(organiser: Client) -> None:
    for kind, is_there in (("pair", False), ("turn", True)):
        campaign = made_campaign(kind, opened=False)
        given = {"text": json.dumps({**SCHEMA, "level": "pair" if kind == "pair" else "response"})}
        assert organiser.post(address("campaign-form", campaign), given).status_code == 302
        page = organiser.get(address("campaign-form", campaign)).content.decode()
        assert ('name="remove"' in page) == is_there


SCHEMA = {
    "schema": 1,
    "name": "why",
    "title": "Why",
    "questions": [{"key": "why", "type": "text", "text": "What differs?"}],
}


# --- rating ---------------------------------------------------------------------------------------


def compare(browser: Client, campaign: Campaign, item: str, **answers: str) -> Any:
    given = {"item": item, "key": uuid.uuid4().hex, "guidelines": 1, "form": 1, **answers}
    return browser.post(address("rating-submit", campaign), given, **JSON)


def test_the_page_shows_both_in_the_rater_s_order_and_names_no_system() -> None:
    campaign = comparing(systems=SYSTEMS)
    rater, browser = a_rater(campaign)
    for item in in_hand(rater):
        page = browser.get(address("rating-work", campaign), {"item": item}).content.decode()
        shown = page.partition('id="item-place"')[2].partition("</article>")[0]
        one = Assignment.objects.select_related("item__response", "item__response_b").get(
            item__public_id=item
        )
        texts = [one.item.response.text, one.item.response_b.text]
        found = re.findall(r"Answer \w+ to question \d of talk \d\.", shown)
        assert found == (texts[::-1] if one.is_swapped else texts)
        assert not [name for name in SYSTEMS if name in page]


def test_history_and_personas_stand_on_the_page_once() -> None:
    campaign = comparing("acute-eval", "dialogue_pair", dialogues=1, turns=2)
    rater, browser = a_rater(campaign)
    page = browser.get(address("rating-work", campaign)).content.decode()
    shown = page.partition('id="item-place"')[2].partition("</article>")[0]
    for text in ("I have 2 cats.", "What did you do on day 0 of talk 0?"):
        assert shown.count(f">{text}<") == 1
    assert shown.count('class="arm"') == 4  # two turns
    assert in_hand(rater)


def test_the_next_item_comes_with_its_pair() -> None:
    campaign = comparing(dialogues=3, turns=1)
    rater, browser = a_rater(campaign)
    first, *_ = in_hand(rater)
    came = compare(browser, campaign, first, **{"q.preference": "tie"}).json()
    (html,) = [one["html"] for one in came["next"] if one["html"]][:1]
    assert html.count('class="arm"') == 2


@pytest.mark.parametrize("answer", ["", "first", "a1", "both", "A"])
def test_what_is_no_preference_is_refused(answer: str) -> None:
    campaign = comparing()
    rater, browser = a_rater(campaign)
    refused = compare(browser, campaign, in_hand(rater)[0], **{"q.preference": answer})
    assert refused.status_code == 422
    assert not RatingRevision.objects.exists()


def test_graded_answers_say_which_and_how_much() -> None:
    campaign = comparing("pairwise-graded")
    rater, browser = a_rater(campaign)
    page = browser.get(address("rating-work", campaign)).content.decode()
    values = re.findall(r'name="q.preference" value="(\w+)"', page)
    assert values == ["a2", "a1", "tie", "b1", "b2", "both_bad"]
    item = in_hand(rater)[0]
    assert compare(browser, campaign, item, **{"q.preference": "b2"}).json()["stored"]
    own = browser.get(address("own-ratings", campaign)).content.decode()
    assert "second is much better" in own


# --- results --------------------------------------------------------------------------------------


def rated() -> Campaign:
    """Two raters, one pair: both prefer southgate, which one sees first and one second."""
    campaign = comparing(systems=SYSTEMS, dialogues=1, turns=1)
    for _ in range(2):
        rater, browser = a_rater(campaign)
        (item,) = in_hand(rater)
        one = Assignment.objects.get(participation=rater)
        answer = "a" if one.is_swapped else "b"
        assert compare(browser, campaign, item, **{"q.preference": answer}).json()["stored"]
    Campaign.objects.update(state="closed")
    return campaign


def test_files_name_both_systems_in_the_order_shown(organiser: Client) -> None:
    campaign = rated()
    export = address("campaign-export", campaign)
    text = b"".join(organiser.get(export).streaming_content).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    shown = [(row["system"], row["system_b"], row["answer_preference"]) for row in rows]
    assert sorted(shown) == [("northwind", "southgate", "b"), ("southgate", "northwind", "a")]
    lines = b"".join(organiser.get(export, {"format": "jsonl"}).streaming_content).splitlines()
    documents = [json.loads(line) for line in lines]
    assert [
        (one["system"], one["system_b"], one["answers"]["preference"]) for one in documents
    ] == shown
    revisions = b"".join(organiser.get(export, {"format": "revisions-csv"}).streaming_content)
    assert b'"system","system_b","rater",' in revisions.splitlines()[0]


def test_other_campaigns_have_no_second_system_in_their_files(organiser: Client) -> None:
    export = address("campaign-export", made_campaign())
    heading = b"".join(organiser.get(export).streaming_content)
    assert b"system_b" not in heading


def test_scores_for_mt_metrics_eval_are_not_made_of_preferences(
    organiser: Client, tmp_path: Path
) -> None:
    campaign = rated()
    export = address("campaign-export", campaign)
    assert organiser.get(export, {"format": "mt-metrics-eval"}).status_code == 404
    page = organiser.get(address("campaign-ratings", campaign)).content.decode()
    assert "mt-metrics-eval" not in page
    with pytest.raises(CommandError, match="raters of pairs give none"):
        call_command("export_ratings", campaign.slug, to=tmp_path / "x", format="mt-metrics-eval")


def test_the_ratings_page_publishes_preferences_and_leads_to_them(organiser: Client) -> None:
    campaign = rated()
    page = organiser.get(address("campaign-ratings", campaign))
    assert "southgate | northwind" in page.content.decode()
    assert page.context["form"]["aspect"].value() == "Preference"
    organiser.post(address("campaign-publish", campaign), {"aspect": "Preference"})
    assert Preference.objects.count() == 2
    page = organiser.get(address("campaign-ratings", campaign)).content.decode()
    assert "2 preferences are part of the corpus" in page
    board = reverse("preference-leaderboard", args=[campaign.version.corpus.slug])
    assert f"{board}?version=1&amp;aspect=Preference" in page
    assert organiser.get(board, {"aspect": "Preference"}).status_code in (200, 202)
    organiser.post(address("campaign-unpublish", campaign))
    assert not Preference.objects.exists()
