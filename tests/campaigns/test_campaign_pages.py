"""The organiser's pages over HTTP: what the forms take, what they say of bad input, and who is let in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import invitations, setup
from annotations.campaigns.models import Campaign, ChatSystem, Item
from annotations.models import CorpusVersion
from tests.campaigns.sets import made_campaign, made_raters, made_version

pytestmark = pytest.mark.django_db
PASSWORD = "a door of seven colours"


def person(name: str, *roles: str) -> Any:
    """Without a pass word: making one takes longer than most of these tests."""
    user = get_user_model().objects.create(username=name)
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(person("olga", "organiser"))
    return client


def form_of(version: CorpusVersion, kind: str = "turn", **changes: Any) -> dict[str, Any]:
    """What the browser sends when one types a name and nothing else."""
    return {
        "name": "Talk",
        "kind": kind,
        "shown_kind": kind,
        "version": version.pk,
        "shown_version": version.pk,
        "systems": [system.pk for system in version.systems.all()],
        "slug": "",
        "dialogues": "",
        "seed": "7",
        "raters_per_item": "2",
        **{f"label_{score}": f"point {score}" for score in range(1, 6)},
        "axes_below": "",
        "axes": "fluency: Is it fluent?\nsense",
        "utterances": "14",
        "pass_mark": "",
        "attention_every": "",
        "opens_at": "",
        "closes_at": "",
        **changes,
    }


def errors_of(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 422
    assert not Campaign.objects.exists()
    return {field: list(messages) for field, messages in response.context["form"].errors.items()}


# --- the form --------------------------------------------------------------------------------------------------


def test_a_name_is_all_that_must_be_typed(organiser: Client) -> None:
    """Everything the empty form shows, sent back with a name, makes a campaign on the corpus it was opened from."""
    version = made_version()
    form = organiser.get(reverse("campaign-new"), {"corpus": version.corpus.slug}).context["form"]
    shown: dict[str, Any] = {}
    for field in form:
        value = field.value()
        if value not in (None, ""):
            shown[field.name] = [getattr(one, "pk", one) for one in value] if isinstance(value, list) else value
    shown["version"] = version.pk
    assert organiser.post(reverse("campaign-new"), {**shown, "name": "First"}).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.slug, campaign.state, campaign.version, campaign.raters_per_item) == ("first", "draft", version, 2)
    assert campaign.systems.count() == 2
    assert campaign.created_by.username == "olga"
    assert [axis["key"] for axis in campaign.axes][-2:] == ["persona_consistency", "humanness"]


@pytest.mark.parametrize(("kind", "threshold"), [("turn", None), ("dialogue", "3")])
def test_axes_are_asked_of_whole_dialogues_from_the_start(organiser: Client, kind: str, threshold: str | None) -> None:
    version = made_version()
    response = organiser.post(reverse("campaign-new"), form_of(version, kind, shown_kind="collection", refresh="1"))
    assert (response.context["form"]["axes_below"].value() or None) == (threshold and int(threshold))


def test_another_corpus_brings_its_own_systems_all_ticked(organiser: Client) -> None:
    old, new = made_version(), made_version(("x", "y", "z"))
    response = organiser.post(reverse("campaign-new"), {**form_of(old), "version": new.pk, "refresh": "1"})
    form = response.context["form"]
    assert sorted(form["systems"].value()) == sorted(str(system.pk) for system in new.systems.all())
    assert not form.errors


@pytest.mark.parametrize("version", ["x", "-1", "9" * 40, "\u0663", ""])
def test_a_corpus_that_is_none_offers_no_systems(organiser: Client, version: str) -> None:
    made_version()
    response = organiser.post(reverse("campaign-new"), {**form_of(made_version()), "version": version, "refresh": "1"})
    assert response.status_code == 200
    assert list(response.context["form"].systems_by_kind()) == []


def test_the_form_of_each_kind_can_be_stored(organiser: Client) -> None:
    version = made_version()
    chat = ChatSystem.objects.create(name="c", instructions="{persona}")
    for kind, more in (
        ("turn", {}),
        ("dialogue", {"axes_below": "3"}),
        ("interactive", {"chat_systems": [chat.pk], "utterances": "8"}),
        ("collection", {"dialogues": "5"}),
    ):
        response = organiser.post(reverse("campaign-new"), form_of(version, kind, slug=kind, **more))
        assert response.status_code == 302, response.context["form"].errors
    stored = {campaign.kind: campaign for campaign in Campaign.objects.all()}
    assert stored["turn"].axes == [
        {"key": "fluency", "name": "fluency", "question": "Is it fluent?"},
        {"key": "sense", "name": "sense", "question": ""},
    ]
    assert stored["turn"].scale_labels == [f"point {score}" for score in range(1, 6)]
    assert stored["dialogue"].axes_below == 3
    assert (stored["interactive"].utterances, stored["interactive"].chat_systems.get()) == (8, chat)
    assert (stored["collection"].version, stored["collection"].dialogues_per_system) == (None, 5)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"kind": "poll"}, "kind"),
        ({"version": "999999"}, "version"),
        ({"version": "9" * 40}, "version"),
        ({"version": "x"}, "version"),
        ({"systems": []}, "systems"),
        ({"systems": ["999999"]}, "systems"),
        ({"systems": ["' OR 1=1"]}, "systems"),
        ({"systems": ["9" * 30]}, "systems"),
        ({"systems": ["a\0"]}, "systems"),
        ({"slug": "no spaces"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"dialogues": "0"}, "dialogues"),
        ({"dialogues": "9" * 30}, "dialogues"),
        ({"seed": "-1"}, "seed"),
        ({"seed": str(2**31)}, "seed"),
        ({"seed": ""}, "seed"),
        ({"raters_per_item": "0"}, "raters_per_item"),
        ({"raters_per_item": "51"}, "raters_per_item"),
        ({"raters_per_item": "two"}, "raters_per_item"),
        ({"label_3": ""}, "label_3"),
        ({"label_3": "x" * 61}, "label_3"),
        ({"label_2": "same", "label_4": "Same"}, "label_5"),
        ({"axes_below": "1"}, "axes_below"),
        ({"axes_below": "3", "axes": ""}, "axes"),
        ({"axes": ": no name"}, "axes"),
        ({"axes": "fluency\nFluency: again"}, "axes"),
        ({"axes": "\n".join(f"axis {number}" for number in range(13))}, "axes"),
        ({"axes": "a\0b"}, "axes"),
        ({"axes": "Overall: the same name as the score"}, "axes"),
        ({"pass_mark": "101"}, "pass_mark"),
        ({"pass_mark": "nan"}, "pass_mark"),
        ({"attention_every": "1"}, "attention_every"),
        ({"opens_at": "tomorrow"}, "opens_at"),
        ({"opens_at": "2026-11-20T10:00", "closes_at": "2026-11-20T09:00"}, "closes_at"),
        ({"groups": ["999999"]}, "groups"),
        ({"groups": ["9" * 30]}, "groups"),
    ],
)
def test_bad_input_is_named_at_its_field_and_nothing_is_stored(
    organiser: Client, changes: dict[str, Any], field: str
) -> None:
    errors = errors_of(organiser.post(reverse("campaign-new"), {**form_of(made_version()), **changes}))
    assert list(errors) == [field]


def test_dates_are_utc(organiser: Client) -> None:
    organiser.post(reverse("campaign-new"), form_of(made_version(), closes_at="2027-01-02T03:04"))
    assert Campaign.objects.get().closes_at.isoformat() == "2027-01-02T03:04:00+00:00"


def test_hostile_names_are_shown_as_text(organiser: Client) -> None:
    name = "<script>alert(1)</script>"
    organiser.post(reverse("campaign-new"), form_of(made_version(), name=name, label_1=name, axes=f"{name}: {name}"))
    campaign = Campaign.objects.get()
    for page in ("campaign", "campaign-settings", "campaign-guidelines", "campaign-preview"):
        assert name not in organiser.get(reverse(page, args=[campaign.slug])).content.decode()
    assert name not in organiser.get(reverse("campaigns")).content.decode()


def test_who_may_look_up_the_corpus_is_warned_of(organiser: Client) -> None:
    version = made_version()
    words = "a rater could look up what is being rated"
    assert words not in organiser.get(reverse("campaign-new")).content.decode()
    version.corpus.is_public = True
    version.corpus.save()
    assert words in organiser.get(reverse("campaign-new")).content.decode()


def test_the_dry_run_follows_the_form(organiser: Client) -> None:
    """2 systems × 2 of 3 dialogues × 2 turns = 8 items × 5 raters = 40 ratings; 40 × 20 s = 0.2 h."""
    sent = form_of(made_version(), dialogues="2", raters_per_item="5", name="", refresh="1")
    response = organiser.post(reverse("campaign-new"), sent, headers={"HX-Request": "true", "HX-Target": "plan"})
    page = response.content.decode()
    assert "<html" not in page
    assert "8 × 5" in page
    assert "<dd>40" in page
    assert "<dd>0.2" in page
    assert not Campaign.objects.exists()


def test_the_dry_run_of_a_stored_campaign_stores_nothing(organiser: Client) -> None:
    campaign = made_campaign(opened=False)
    assert "12 × 2" in organiser.get(reverse("campaign-plan", args=[campaign.slug])).content.decode()
    assert not campaign.items.exists()


def test_settings_of_an_open_campaign_are_text(organiser: Client) -> None:
    campaign = made_campaign(k=2)
    address = reverse("campaign-settings", args=[campaign.slug])
    assert "raters_per_item" not in organiser.get(address).context["form"].fields
    organiser.post(address, form_of(campaign.version, raters_per_item="9", name="Other"))
    campaign.refresh_from_db()
    assert (campaign.name, campaign.raters_per_item) == ("Other", 2)


# --- its pages -------------------------------------------------------------------------------------------------


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
    rows = json.loads(organiser.get(reverse("campaigns"), {"download": "campaigns.json"}).content)["rows"]
    assert campaign.name in json.dumps(rows)


def test_the_progress_alone_answers_the_page_s_own_question(organiser: Client) -> None:
    campaign = made_campaign()
    page = organiser.get(reverse("campaign", args=[campaign.slug]), headers={"HX-Request": "true"}).content.decode()
    assert "0 of 24" in page
    assert "<html" not in page


def test_the_overview_asks_few_questions(organiser: Client, django_assert_max_num_queries: Any) -> None:
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
    page = organiser.post(reverse("campaign-state", args=[campaign.slug]), {"to": "explode"}, follow=True)
    assert "nothing was changed" in page.content.decode()


def test_a_closed_campaign_invites_nobody_and_waits_for_nothing(organiser: Client) -> None:
    campaign = made_campaign("turn")
    Campaign.objects.update(state="closed")
    response = organiser.get(reverse("campaign", args=[campaign.slug]))
    page = response.content.decode()
    assert "Nobody: the campaign is closed." in page
    assert "Make the link" not in page
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
    preview = organiser.post(address, {"text": "# A\n<b>x</b>", "preview": "1"}, headers={"HX-Request": "true"})
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


# --- checks ----------------------------------------------------------------------------------------------------


def check_file(*records: dict[str, Any], name: str = "checks.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "\n".join(json.dumps(record) for record in records).encode())


def test_a_file_of_checks_is_taken_shown_and_can_be_deleted(organiser: Client) -> None:
    campaign = made_campaign()
    address = reverse("campaign-checks", args=[campaign.slug])
    good = {"role": "attention", "dialogue": "file-0", "turn": 0, "text": "=1+1 <b>", "lowest": 1, "highest": 1}
    assert organiser.post(address, {"file": check_file(good)}).status_code == 302
    assert "=1+1 &lt;b&gt;" in organiser.get(address).content.decode()
    item = campaign.items.get(role="attention")
    organiser.post(reverse("campaign-check-delete", args=[campaign.slug, item.public_id]))
    assert not campaign.items.filter(role="attention").exists()


def test_a_bad_line_names_line_and_field_and_nothing_is_stored(organiser: Client) -> None:
    campaign = made_campaign()
    good = {"role": "training", "dialogue": "file-0", "turn": 0, "text": "A", "lowest": 1, "highest": 1}
    response = organiser.post(
        reverse("campaign-checks", args=[campaign.slug]), {"file": check_file(good, {**good, "turn": 9})}
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


# --- invitations and joining -----------------------------------------------------------------------------------


def link_of(campaign: Campaign, **fields: Any) -> str:
    return reverse("campaign-join", args=[invitations.invite(campaign, **fields).token])


def account(**changes: str) -> dict[str, str]:
    return {"username": "ada", "password": PASSWORD, "again": PASSWORD, **changes}


def test_a_link_is_made_listed_and_revoked(organiser: Client) -> None:
    campaign = made_campaign()
    organiser.post(reverse("campaign-invite", args=[campaign.slug]), {"note": "class", "most_uses": "3"})
    invitation = campaign.invitations.get()
    page = organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert f"http://testserver/join/{invitation.token}/" in page
    assert "used 0 of 3 times" in page
    organiser.post(reverse("campaign-revoke", args=[campaign.slug, invitation.pk]))
    assert "revoked" in organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()


@pytest.mark.parametrize("changes", [{"most_uses": "0"}, {"most_uses": "9" * 20}, {"note": "a\0"}, {"expires_at": "x"}])
def test_a_bad_invitation_is_refused(organiser: Client, changes: dict[str, str]) -> None:
    campaign = made_campaign()
    assert organiser.post(reverse("campaign-invite", args=[campaign.slug]), changes).status_code == 422
    assert not campaign.invitations.exists()


def test_another_campaign_s_invitation_cannot_be_revoked_here(organiser: Client) -> None:
    one, other = made_campaign(), made_campaign()
    invitation = invitations.invite(other)
    assert organiser.post(reverse("campaign-revoke", args=[one.slug, invitation.pk])).status_code == 404


def test_who_has_no_account_makes_one_and_takes_part(client: Client) -> None:
    campaign = made_campaign()
    response = client.post(link_of(campaign), account())
    assert response.headers["Location"] == reverse("rating-start", args=[campaign.slug])
    assert campaign.participations.get().user.username == "ada"
    assert client.get(response.headers["Location"]).status_code == 200


def test_who_is_logged_in_takes_part_with_one_button(client: Client) -> None:
    campaign = made_campaign()
    client.force_login(person("bob"))
    address = link_of(campaign)
    assert "username" not in client.get(address).content.decode().split("<main")[1]
    client.post(address)
    assert campaign.participations.get().user.username == "bob"
    assert client.get(address).headers["Location"] == reverse("rating-start", args=[campaign.slug])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "two words"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "a\0b"}, "username"),
        ({"username": "OLGA"}, "username"),
        ({"password": "12345678", "again": "12345678"}, "password"),
        ({"password": "short", "again": "short"}, "password"),
        ({"password": "x" * 1001, "again": "x" * 1001}, "password"),
        ({"again": "something else"}, "again"),
    ],
)
def test_a_bad_account_is_refused_and_nothing_is_stored(client: Client, changes: dict[str, str], field: str) -> None:
    person("olga")
    campaign = made_campaign()
    response = client.post(link_of(campaign), account(**changes))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert PASSWORD not in response.content.decode()
    assert not campaign.participations.exists()
    assert campaign.invitations.get().uses == 0


def test_a_token_that_nobody_made_tells_nothing(client: Client) -> None:
    campaign = made_campaign()
    invitations.invite(campaign)
    for token in ("abc", campaign.slug, "x" * 500, "%00", "%E2%80%AE"):
        response = client.get(f"/join/{token}/")
        assert response.status_code == 404
        assert campaign.name not in response.content.decode()


@pytest.mark.parametrize(
    ("why", "status", "words"),
    [
        ("revoked", 410, "taken back"),
        ("used_up", 410, "As many people"),
        ("closed", 410, "has ended"),
        ("draft", 200, "Not open yet"),
    ],
)
def test_a_link_that_no_longer_works_says_why_kindly(client: Client, why: str, status: int, words: str) -> None:
    campaign = made_campaign(opened=why != "draft")
    invitation = invitations.invite(campaign, most_uses=1)
    if why == "revoked":
        invitations.revoke(invitation)
    if why == "used_up":
        invitations.join(campaign, person("someone"), invitation)
    if why == "closed":
        setup.close(campaign)
    for answer in (client.get, client.post):
        response = answer(reverse("campaign-join", args=[invitation.token]))
        assert response.status_code == status
        assert words in response.content.decode()


# --- who is let in ---------------------------------------------------------------------------------------------

PAGES = ("campaign", "campaign-settings", "campaign-plan", "campaign-guidelines", "campaign-checks", "campaign-preview")
ACTIONS = ("campaign-state", "campaign-delete", "campaign-invite")


@pytest.mark.parametrize("role", ["rater", "participant", None])
def test_only_organisers_see_or_change_campaigns(client: Client, role: str | None) -> None:
    campaign = made_campaign()
    if role:
        client.force_login(person("someone", role))
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


# --- which systems are ticked at first -------------------------------------------------------------------------


def _ticked(client: Client, version: CorpusVersion) -> set[str]:
    page = client.get(reverse("campaign-new"), {"corpus": version.corpus.slug}).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="systems" value="(\d+)"([^>]*)>', page)
    assert boxes
    return {version.systems.get(pk=pk).name for pk, attributes in boxes if "checked" in attributes}


def test_systems_that_the_corpus_shows_are_ticked_and_what_teams_handed_in_is_not(organiser: Client) -> None:
    version = made_version(systems=["one", "two"])
    version.systems.filter(name="two").update(withheld=True)
    assert _ticked(organiser, version) == {"one"}


def test_where_there_is_only_what_teams_handed_in_all_of_it_is_ticked(organiser: Client) -> None:
    version = made_version(systems=["one", "two"])
    version.systems.update(withheld=True)
    assert _ticked(organiser, version) == {"one", "two"}
    other = made_version(slug="other", systems=["three"])
    form = form_of(version, shown_version=other.pk, systems=[], refresh="1")
    assert organiser.post(reverse("campaign-new"), form).content.decode().count(" checked") >= 2


def test_without_a_corpus_the_form_leads_to_adding_one(organiser: Client) -> None:
    page = organiser.get(reverse("campaign-new")).content.decode()
    assert f'href="{reverse("corpus-new")}"' in page
    assert "This corpus has no systems" not in page


def test_a_public_corpus_s_warning_leads_to_where_it_is_hidden(organiser: Client) -> None:
    version = made_version(systems=["one"])
    version.corpus.is_public = True
    version.corpus.save()
    page = organiser.get(reverse("campaign-new"), {"corpus": version.corpus.slug}).content.decode()
    assert f'href="{reverse("corpus", args=[version.corpus.slug])}#seen-by"' in page


# --- checks ----------------------------------------------------------------------------------------------------


def test_a_pass_mark_without_training_items_is_pointed_out(organiser: Client) -> None:
    campaign = made_campaign(opened=False, pass_mark=0.8, slug="marked")
    assert "there is no training item to pass" in organiser.get(reverse("campaign", args=["marked"])).content.decode()
    assert "80 %" in organiser.get(reverse("campaign-checks", args=[campaign.slug])).content.decode()
