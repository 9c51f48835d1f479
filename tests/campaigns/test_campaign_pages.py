"""A campaign's pages for its organiser over HTTP: what they show and do, and who is let in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import invitations
from annotations.campaigns.models import Campaign, Item
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


# --- its pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["turn", "dialogue", "interactive", "collection"])
@pytest.mark.parametrize("opened", [True, False])
def test_every_page_of_every_kind_answers(organiser: Client, kind: str, opened: bool) -> None:
    campaign = made_campaign(kind, opened=opened, dialogues_per_system=2)
    for page in (
        "campaign",
        "campaign-settings",
        "campaign-plan",
        "campaign-guidelines",
        "campaign-checks",
        "campaign-preview",
    ):
        assert organiser.get(reverse(page, args=[campaign.slug])).status_code == 200, page


def test_the_list_tells_the_first_step(organiser: Client) -> None:
    assert reverse("campaign-new") in organiser.get(reverse("campaigns")).content.decode()


def test_the_list_can_be_downloaded(organiser: Client) -> None:
    campaign = made_campaign()
    rows = json.loads(organiser.get(reverse("campaigns"), {"download": "campaigns.json"}).content)[
        "rows"
    ]
    assert campaign.name in json.dumps(rows)


def test_the_progress_alone_answers_the_page_s_own_question(organiser: Client) -> None:
    campaign = made_campaign()
    answer = organiser.get(
        reverse("campaign", args=[campaign.slug]), headers={"HX-Request": "true"}
    )
    page = " ".join(answer.content.decode().split())
    assert "0 of 24" in page
    assert "<html" not in page


def test_the_overview_asks_few_questions(
    organiser: Client, django_assert_max_num_queries: Any
) -> None:
    campaign = made_campaign()
    made_raters(campaign, 5)
    for _ in range(5):
        invitations.invite(campaign)
    with django_assert_max_num_queries(32):
        organiser.get(reverse("campaign", args=[campaign.slug]))
    with django_assert_max_num_queries(12):
        organiser.get(reverse("campaign", args=[campaign.slug]), headers={"HX-Request": "true"})


def test_opening_and_closing_by_the_buttons(organiser: Client) -> None:
    campaign = made_campaign(opened=False)
    address = reverse("campaign-state", args=[campaign.slug])
    for step, state in (
        ("open", "open"),
        ("open", "open"),
        ("pause", "paused"),
        ("resume", "open"),
        ("close", "closed"),
    ):
        organiser.post(address, {"to": step})
        campaign.refresh_from_db()
        assert campaign.state == state
    assert campaign.slots.count() == 24


def test_a_step_that_does_not_exist_changes_nothing(organiser: Client) -> None:
    campaign = made_campaign()
    page = organiser.post(
        reverse("campaign-state", args=[campaign.slug]), {"to": "explode"}, follow=True
    )
    assert "nothing was changed" in page.content.decode()


def test_a_closed_campaign_invites_nobody_and_waits_for_nothing(organiser: Client) -> None:
    campaign = made_campaign("turn")
    Campaign.objects.update(state="closed")
    response = organiser.get(reverse("campaign", args=[campaign.slug]))
    page = response.content.decode()
    assert "Nobody: the campaign is closed." in page
    assert "Create link" not in page
    assert not [step.key for step in response.context["steps"] if step.is_next]


def test_deleting_asks_for_nothing_where_nobody_answered(organiser: Client) -> None:
    campaign = made_campaign()
    organiser.post(reverse("campaign-delete", args=[campaign.slug]))
    assert not Campaign.objects.exists()


def test_guidelines_start_from_a_text_and_are_shown_as_raters_see_them(organiser: Client) -> None:
    campaign = made_campaign("dialogue", opened=False, axes_below=3)
    campaign.guidelines.all().delete()
    address = reverse("campaign-guidelines", args=[campaign.slug])
    page = organiser.get(address).content.decode()
    assert "Nothing is stored yet" in page
    assert "below 3" in page
    preview = organiser.post(
        address, {"text": "# A\n<b>x</b>", "preview": "1"}, headers={"HX-Request": "true"}
    )
    assert preview.content.decode().strip().startswith("<h2>A</h2>")
    assert not campaign.guidelines.exists()
    organiser.post(address, {"text": "# A"})
    assert campaign.guidelines.get().text == "# A"


@pytest.mark.parametrize("text", ["", "a\0b", "x" * 50_001])
def test_bad_guidelines_are_refused(organiser: Client, text: str) -> None:
    campaign = made_campaign()
    response = organiser.post(reverse("campaign-guidelines", args=[campaign.slug]), {"text": text})
    assert response.status_code == 422
    assert campaign.guidelines.count() == 1


def test_the_preview_stores_nothing_and_names_no_system(organiser: Client) -> None:
    campaign = made_campaign(opened=False)
    page = organiser.get(reverse("campaign-preview", args=[campaign.slug])).content.decode()
    assert "Answer a0 to question 0" in page
    assert "northwind" not in page
    assert not campaign.items.exists()


# --- checks ---------------------------------------------------------------------------------------


def check_file(*records: dict[str, Any], name: str = "checks.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "\n".join(json.dumps(record) for record in records).encode())


def test_a_file_of_checks_is_taken_shown_and_can_be_deleted(organiser: Client) -> None:
    campaign = made_campaign()
    address = reverse("campaign-checks", args=[campaign.slug])
    good = {
        "role": "attention",
        "dialogue": "file-0",
        "turn": 0,
        "text": "=1+1 <b>",
        "lowest": 1,
        "highest": 1,
    }
    assert organiser.post(address, {"file": check_file(good)}).status_code == 302
    assert "=1+1 &lt;b&gt;" in organiser.get(address).content.decode()
    item = campaign.items.get(role="attention")
    organiser.post(reverse("campaign-check-delete", args=[campaign.slug, item.public_id]))
    assert not campaign.items.filter(role="attention").exists()


def test_a_bad_line_names_line_and_field_and_nothing_is_stored(organiser: Client) -> None:
    campaign = made_campaign()
    good = {
        "role": "training",
        "dialogue": "file-0",
        "turn": 0,
        "text": "A",
        "lowest": 1,
        "highest": 1,
    }
    response = organiser.post(
        reverse("campaign-checks", args=[campaign.slug]),
        {"file": check_file(good, {**good, "turn": 9})},
    )
    assert response.status_code == 422
    assert "line 2, turn: dialogue &#x27;file-0&#x27; has no turn 9" in response.content.decode()
    assert not campaign.items.exclude(role=Item.Role.REGULAR).exists()


def test_a_regular_item_cannot_be_deleted_as_a_check(organiser: Client) -> None:
    campaign = made_campaign()
    item = campaign.items.first()
    address = reverse("campaign-check-delete", args=[campaign.slug, item.public_id])
    assert organiser.post(address).status_code == 404
    assert organiser.post(address.replace(item.public_id, "%00")).status_code == 404


def test_a_pass_mark_without_training_items_is_pointed_out(organiser: Client) -> None:
    campaign = made_campaign(opened=False, pass_mark=0.8, slug="marked")
    assert (
        "there is no training item to pass"
        in organiser.get(reverse("campaign", args=["marked"])).content.decode()
    )
    assert (
        "80 %" in organiser.get(reverse("campaign-checks", args=[campaign.slug])).content.decode()
    )


# --- who is let in --------------------------------------------------------------------------------


PAGES = (
    "campaign",
    "campaign-settings",
    "campaign-plan",
    "campaign-guidelines",
    "campaign-checks",
    "campaign-preview",
)
ACTIONS = ("campaign-state", "campaign-delete", "campaign-invite")


@pytest.mark.parametrize("role", ["rater", "participant", None])
def test_only_organisers_see_or_change_campaigns(client: Client, role: str | None) -> None:
    campaign = made_campaign()
    if role:
        client.force_login(made_user("someone", role))
    for address in [
        reverse("campaigns"),
        reverse("campaign-new"),
        *(reverse(page, args=[campaign.slug]) for page in PAGES),
    ]:
        assert client.get(address).status_code == (403 if role else 302)
    for action in ACTIONS:
        response = client.post(reverse(action, args=[campaign.slug]), {"to": "close"})
        assert response.status_code == (403 if role else 302)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.invitations.count()) == ("open", 0)


def test_actions_are_not_taken_by_following_a_link(organiser: Client) -> None:
    campaign = made_campaign()
    for action in ACTIONS:
        assert organiser.get(reverse(action, args=[campaign.slug])).status_code == 405


def test_no_such_campaign(organiser: Client) -> None:
    for page in PAGES:
        assert organiser.get(reverse(page, args=["nothing"])).status_code == 404
