"""Campaign pages in a language that wraps every message in ⟦⟧: what stands outside the brackets
cannot be translated.

All data (names, texts, labels) is written in Greek letters, so a Latin word outside the brackets is
the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from annotations.campaigns.actions import work_queue
from annotations.campaigns.actions.work_queue import Judgement
from annotations.campaigns.models import Campaign, ChatSystem, Guidelines, Item, Participation, Room
from annotations.models import Corpus, Dialogue, Response, System, Turn
from common.roles import ORGANISER
from tests.campaigns.sets import made_campaign, made_raters
from tests.dialeval_site.visible_words import words_of_html

pytestmark = pytest.mark.django_db

WRAPPED = re.compile(r"⟦[^⟦⟧]*⟧")
LATIN, GREEK = "abcdefghijklmnopqrstuvwxyz", "αβκδεφγηιξκλμνοπθρστυωχψζθ"
IN_GREEK = str.maketrans(LATIN + LATIN.upper(), GREEK + GREEK.upper())
DATA = re.compile(
    r"<textarea.*?</textarea>|>\s*(?:organiser|participant|rater)\s*<|rater \d+"
    r"|>1 [^<]* … 5 [^<]*<",
    re.DOTALL,
)
"""What is typed in a form, groups, pseudonyms, labels of a campaign's scale."""
TABLES = re.compile(r"<figure class=\"data-table\".*?</figure>", re.DOTALL)
"""Made by pure code, which knows no language: tables of statistics say their own words in
English."""
ADDRESSES = re.compile(r"https?://[^\s<\"]+|/(?:join|rate)/[^\s<\"]*")


@pytest.fixture(autouse=True)
def pseudo_language(monkeypatch: pytest.MonkeyPatch) -> None:
    translation.gettext("wake")  # Django chooses its functions at the first call
    real = translation._trans

    def wrapped(name: str) -> Callable[..., str]:
        spoken = getattr(real, name)
        return lambda *arguments: f"⟦{spoken(*arguments)}⟧"

    for name in ("gettext", "ngettext", "pgettext", "npgettext"):
        monkeypatch.setattr(real, name, wrapped(name))


def greek(data: Any) -> Any:
    if isinstance(data, str):
        return data.translate(IN_GREEK)
    return [greek(one) for one in data]


def in_greek(campaign: Campaign) -> Campaign:
    """Every text and name of the campaign and its corpus."""
    _rewrite(Campaign, "name", "scale_labels")
    _rewrite(Guidelines, "text")
    _rewrite(Dialogue, "persona", "partner_persona", "external_id")
    _rewrite(Turn, "references")
    _rewrite(Response, "text")
    _rewrite(System, "name")
    _rewrite(ChatSystem, "name", "instructions")
    _rewrite(Item, "texts", "feedback")
    _rewrite(Corpus, "name")
    for corpus in Corpus.objects.all():
        Corpus.objects.filter(pk=corpus.pk).update(slug=f"{corpus.pk}")
    _rewrite(get_user_model(), "username")
    for turn in Turn.objects.all():
        turn.context = [[speaker, greek(text)] for speaker, text in turn.context]
        turn.save()
    campaign.refresh_from_db()
    campaign.axes = [
        {"key": one["key"], "name": greek(one["name"]), "question": greek(one["question"])}
        for one in campaign.axes
    ]
    campaign.save()
    return campaign


def _rewrite(model: Any, *fields: str) -> None:
    for row in model.objects.all():
        for field in fields:
            setattr(row, field, greek(getattr(row, field)))
        row.save()


def said_in_english(html: str) -> list[str]:
    html = DATA.sub("><", TABLES.sub("", ADDRESSES.sub("", html)))
    while html != (shorter := WRAPPED.sub("", html)):
        html = shorter
    return words_of_html(html)


def shown(browser: Client, address: str, status: int = 200) -> list[str]:
    answer = browser.get(address, follow=True)
    assert answer.status_code == status, address
    return said_in_english(answer.content.decode())


def rater_of(campaign: Campaign, **fields: Any) -> tuple[Participation, Client]:
    (rater,) = made_raters(campaign, 1, guidelines_read=campaign.guidelines.first(), **fields)
    _rewrite(get_user_model(), "username")
    rater.refresh_from_db()
    return rater, logged_in(rater.user)


def logged_in(user: Any) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def at(name: str, campaign: Campaign, *more: str) -> str:
    return reverse(name, args=[campaign.slug, *more])


# --- raters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rate", "rating-start", "rating-guidelines", "rating-work"])
@pytest.mark.parametrize("kind", ["turn", "dialogue", "interactive", "collection"])
def test_pages_before_and_at_work(name: str, kind: str) -> None:
    campaign = in_greek(
        made_campaign(kind, k=1, training=[(1, 2)] if kind == "turn" else [], axes_below=3)
    )
    _, browser = rater_of(campaign)
    assert shown(browser, reverse(name) if name == "rate" else at(name, campaign)) == []


def test_feedback_refusals_and_the_page_of_an_earlier_item() -> None:
    campaign = in_greek(made_campaign(k=1, training=[(1, 2)], axes_below=3))
    _, browser = rater_of(campaign)
    browser.get(at("rating-work", campaign))
    item = Item.objects.get(role="training").public_id
    submit = at("rating-submit", campaign)
    for form in (
        {"item": item, "key": "a"},
        {"item": item, "key": "b", "score": "1"},
        {"item": "none", "key": "c"},
    ):
        assert said_in_english(browser.post(submit, form, follow=True).content.decode()) == [], form
    sent = {"item": item, "key": "d", "score": "5"}
    assert said_in_english(browser.post(submit, sent, follow=True).content.decode()) == []
    assert shown(browser, f"{at('rating-work', campaign)}?item={item}") == []


@pytest.mark.parametrize(
    "form",
    [
        {"item": "?"},
        {"key": ""},
        {"score": "9"},
        {"axis": "none"},
        {"comment": "a\x00b"},
        {"guidelines": "7"},
        {},
    ],
)
def test_what_scripts_are_told(form: dict[str, str]) -> None:
    campaign = in_greek(made_campaign(k=1, axes_below=3))
    _, browser = rater_of(campaign)
    given = {"item": "nobodys", "key": "k", "score": "4", **form}
    answer = browser.post(
        at("rating-submit", campaign), given, headers={"accept": "application/json"}
    ).json()
    told = [
        answer.get("reason", ""),
        *(text for texts in answer.get("errors", {}).values() for text in texts),
    ]
    assert [said_in_english(text) for text in told] == [[] for _ in told]
    assert any(told)


def ends() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    now = timezone.now()
    yield "finished", {}, {}
    yield "paused", {"state": "paused"}, {}
    yield "closed", {"state": "closed", "closed_at": now}, {}
    yield "over", {"closes_at": now}, {}
    yield "excluded", {}, {"state": "excluded", "exclusion_reason": "αβγ", "excluded_at": now}
    yield "failed", {}, {"qualification": "failed"}


@pytest.mark.parametrize(
    ("why", "of_campaign", "of_rater"),
    list(ends()),
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_pages_of_the_end(why: str, of_campaign: dict[str, Any], of_rater: dict[str, Any]) -> None:
    campaign = in_greek(made_campaign(k=1, dialogues=1, turns=1))
    rater, browser = rater_of(campaign)
    if why == "finished":
        while given := work_queue.fill_queue(rater).assignments:
            work_queue.rate(rater, given[0].item.public_id, Judgement(key="k", score=3))
    Campaign.objects.filter(pk=campaign.pk).update(**of_campaign)
    Participation.objects.filter(pk=rater.pk).update(**of_rater)
    assert shown(browser, at("rating-work", campaign)) == []
    assert shown(browser, at("rating-start", campaign)) == []
    assert shown(browser, reverse("rate")) == []


def test_the_page_of_one_who_waits() -> None:
    campaign = in_greek(made_campaign(k=1, dialogues=1, turns=1))
    (holds, _), (_, waits) = rater_of(campaign), rater_of(campaign)
    assert len(work_queue.fill_queue(holds).assignments) == 2  # 2 systems × 1 turn: both are taken
    assert shown(waits, at("rating-work", campaign)) == []


def test_a_room() -> None:
    campaign = in_greek(made_campaign("collection", dialogues_per_system=2))
    (_, first), (_, second) = rater_of(campaign), rater_of(campaign)
    for browser in (first, second):
        browser.post(at("meet", campaign))
    for room in Room.objects.all():
        room.persona_a, room.persona_b = greek(room.persona_a), greek(room.persona_b)
        room.save()
    assert [shown(browser, at("meet", campaign)) for browser in (first, second)] == [[], []]


# --- organisers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "campaigns",
        "campaign-new",
        "campaign",
        "campaign-settings",
        "campaign-plan",
        "campaign-guidelines",
        "campaign-form",
        "campaign-checks",
        "campaign-preview",
        "campaign-raters",
        "campaign-dialogues",
        "chat-systems",
    ],
)
def test_organisers_pages(name: str) -> None:
    campaign = made_campaign(
        "collection" if name == "campaign-dialogues" else "turn", training=[], k=1
    )
    (rater,) = made_raters(in_greek(campaign), 1)
    if campaign.kind == "turn":
        for place in range(3):
            given = work_queue.fill_queue(rater).assignments
            work_queue.rate(
                rater, given[0].item.public_id, Judgement(key=f"k{place}", score=place + 2)
            )
    _rewrite(get_user_model(), "username")
    organiser = get_user_model().objects.create_user(greek("organiser"))
    organiser.groups.add(Group.objects.get_or_create(name=ORGANISER)[0])
    needs_campaign = name not in ("campaigns", "campaign-new", "chat-systems")
    assert (
        shown(logged_in(organiser), at(name, campaign) if needs_campaign else reverse(name)) == []
    )
