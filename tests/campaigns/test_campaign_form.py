"""The form of a campaign over HTTP: what it takes, what it offers, and what it says of bad
input."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Campaign, ChatSystem
from annotations.models import CorpusVersion
from tests.campaigns.sets import made_campaign, made_user, made_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
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


# --- the form -------------------------------------------------------------------------------------


def test_a_name_is_all_that_must_be_typed(organiser: Client) -> None:
    """Everything the empty form shows, sent back with a name, makes a campaign on the corpus it was
    opened from."""
    version = made_version()
    form = organiser.get(reverse("campaign-new"), {"corpus": version.corpus.slug}).context["form"]
    shown: dict[str, Any] = {}
    for field in form:
        value = field.value()
        if value not in (None, ""):
            shown[field.name] = (
                [getattr(one, "pk", one) for one in value] if isinstance(value, list) else value
            )
    shown["version"] = version.pk
    assert organiser.post(reverse("campaign-new"), {**shown, "name": "First"}).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.slug, campaign.state, campaign.version, campaign.raters_per_item) == (
        "first",
        "draft",
        version,
        2,
    )
    assert campaign.systems.count() == 2
    assert campaign.created_by.username == "olga"
    assert [axis["key"] for axis in campaign.axes][-2:] == ["persona_consistency", "humanness"]


@pytest.mark.parametrize(("kind", "threshold"), [("turn", None), ("dialogue", "3")])
def test_axes_are_asked_of_whole_dialogues_from_the_start(
    organiser: Client, kind: str, threshold: str | None
) -> None:
    version = made_version()
    response = organiser.post(
        reverse("campaign-new"), form_of(version, kind, shown_kind="collection", refresh="1")
    )
    assert (response.context["form"]["axes_below"].value() or None) == (
        threshold and int(threshold)
    )


def test_another_corpus_brings_its_own_systems_all_ticked(organiser: Client) -> None:
    old, new = made_version(), made_version(("x", "y", "z"))
    response = organiser.post(
        reverse("campaign-new"), {**form_of(old), "version": new.pk, "refresh": "1"}
    )
    form = response.context["form"]
    assert sorted(form["systems"].value()) == sorted(str(system.pk) for system in new.systems.all())
    assert not form.errors


@pytest.mark.parametrize("version", ["x", "-1", "9" * 40, "\u0663", ""])
def test_a_corpus_that_is_none_offers_no_systems(organiser: Client, version: str) -> None:
    made_version()
    response = organiser.post(
        reverse("campaign-new"), {**form_of(made_version()), "version": version, "refresh": "1"}
    )
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
        response = organiser.post(
            reverse("campaign-new"), form_of(version, kind, slug=kind, **more)
        )
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
    errors = errors_of(
        organiser.post(reverse("campaign-new"), {**form_of(made_version()), **changes})
    )
    assert list(errors) == [field]


def test_dates_are_utc(organiser: Client) -> None:
    organiser.post(reverse("campaign-new"), form_of(made_version(), closes_at="2027-01-02T03:04"))
    assert Campaign.objects.get().closes_at.isoformat() == "2027-01-02T03:04:00+00:00"


def test_hostile_names_are_shown_as_text(organiser: Client) -> None:
    name = "<script>alert(1)</script>"
    organiser.post(
        reverse("campaign-new"),
        form_of(made_version(), name=name, label_1=name, axes=f"{name}: {name}"),
    )
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
    """2 systems × 2 of 3 dialogues × 2 turns = 8 items × 5 raters = 40 ratings; 40 × 20 s = 0.2
    h."""
    sent = form_of(made_version(), dialogues="2", raters_per_item="5", name="", refresh="1")
    response = organiser.post(
        reverse("campaign-new"), sent, headers={"HX-Request": "true", "HX-Target": "plan"}
    )
    page = response.content.decode()
    assert "<html" not in page
    assert "8 × 5" in page
    assert "<dd>40" in page
    assert "<dd>0.2" in page
    assert not Campaign.objects.exists()


def test_the_dry_run_of_a_stored_campaign_stores_nothing(organiser: Client) -> None:
    campaign = made_campaign(opened=False)
    assert (
        "12 × 2" in organiser.get(reverse("campaign-plan", args=[campaign.slug])).content.decode()
    )
    assert not campaign.items.exists()


def test_settings_of_an_open_campaign_are_text(organiser: Client) -> None:
    campaign = made_campaign(k=2)
    address = reverse("campaign-settings", args=[campaign.slug])
    assert "raters_per_item" not in organiser.get(address).context["form"].fields
    organiser.post(address, form_of(campaign.version, raters_per_item="9", name="Other"))
    campaign.refresh_from_db()
    assert (campaign.name, campaign.raters_per_item) == ("Other", 2)


# --- which systems are ticked at first ------------------------------------------------------------


def _ticked(client: Client, version: CorpusVersion) -> set[str]:
    page = client.get(reverse("campaign-new"), {"corpus": version.corpus.slug}).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="systems" value="(\d+)"([^>]*)>', page)
    assert boxes
    return {version.systems.get(pk=pk).name for pk, attributes in boxes if "checked" in attributes}


def test_systems_that_the_corpus_shows_are_ticked_and_what_teams_handed_in_is_not(
    organiser: Client,
) -> None:
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


def open_sections(page: str) -> list[str]:
    return re.findall(r'<details class="section[^"]*" id="([^"]*)" open>', page)


def test_sections_fold_but_for_the_task_and_what_is_wrong(organiser: Client) -> None:
    version = made_version()
    page = organiser.get(reverse("campaign-new")).content.decode()
    assert open_sections(page) == ["task", "items", "questions-asked"]
    answer = organiser.post(reverse("campaign-new"), form_of(version, seed="-1", label_5="point 4"))
    assert open_sections(answer.content.decode()) == [
        *("task", "items", "questions-asked"),
        *("scale", "checks-and-address"),
    ]
    assert "2 of 2 chosen" in " ".join(page.split())
    none = organiser.post(reverse("campaign-new"), form_of(version, systems=[]))
    assert "chosen-systems" in open_sections(none.content.decode())
