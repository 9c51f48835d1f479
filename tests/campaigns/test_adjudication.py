"""Items whose raters differ: which they are, what is decided of them, and that it is no rating."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotations.campaigns.actions.adjudication import (
    CannotAdjudicate,
    adjudicate,
    set_rule,
    withdraw,
)
from annotations.campaigns.actions.publishing import publish, unpublish
from annotations.campaigns.actions.setup import delete
from annotations.campaigns.actions.work_queue import Judgement, rate
from annotations.campaigns.models import (
    Adjudication,
    AdjudicationRule,
    Campaign,
    Item,
    Participation,
)
from annotations.campaigns.plan.adjudication import agreed, differing
from annotations.campaigns.queries.adjudication import differing_items
from annotations.campaigns.queries.ratings import campaign_agreement, publication_of
from annotations.models import AuditEntry, CorpusVersion, Rating
from common.roles import ORGANISER
from tests.campaigns.forms import asking, made_form
from tests.campaigns.rating_browser import address, browser_of, in_hand
from tests.campaigns.sets import made_campaign, made_raters, made_user

STARS = {"key": "stars", "type": "scale", "title": "Stars", "text": "How many?"}
CLEAR = {"key": "clear", "type": "yes_no", "text": "Clear?", "cannot_judge": True}
WHY = {"key": "why", "type": "text", "text": "Why?", "required": False}
FORM = made_form(STARS, CLEAR, WHY)


# --- the rule -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "questions"),
    [
        ([{"stars": 1, "clear": True}, {"stars": 3, "clear": True}], ("stars",)),  # 3 - 1 = 2
        ([{"stars": 2, "clear": True}, {"stars": 3, "clear": True}], ()),
        ([{"stars": 2, "clear": True}, {"stars": 3, "clear": False}], ("clear",)),
        ([{"stars": 1, "clear": True}, {"stars": 3, "clear": False}], ("stars", "clear")),
        ([{"clear": "cannot_judge"}, {"clear": False}], ()),
        ([{"stars": 1}, {}, {"stars": 5}], ("stars",)),
        ([{"stars": 1}], ()),
        ([{"why": "a"}, {"why": "b"}], ()),  # texts are compared by no rule
        ([], ()),
    ],
)
def test_raters_differ_on_wide_scores_and_on_nominal_answers(
    answers: list[dict[str, Any]], questions: tuple[str, ...]
) -> None:
    assert differing(FORM.questions, answers, 2) == questions


def test_a_range_is_not_missed_by_rounding() -> None:
    tenths = {"key": "t", "type": "slider", "text": "?", "minimum": 0, "maximum": 1, "step": 0.1}
    assert differing(made_form(tenths).questions, [{"t": 0.1}, {"t": 0.4}], 0.3) == ("t",)


def test_what_all_raters_answered_is_agreed() -> None:
    one, other = {"stars": 2, "clear": True}, {"stars": 3, "clear": True, "why": "."}
    assert agreed([one, other]) == {"clear": True}


# --- items ----------------------------------------------------------------------------------------


def answered_by(rater: Participation, stars: list[int]) -> None:
    """By dialogue, in whatever order the rater gets them."""
    for number in range(len(stars)):
        item = in_hand(rater)[0]
        place = Item.objects.get(public_id=item).dialogue.position
        with transaction.atomic():
            answers = {"stars": stars[place], "clear": True}
            judgement = Judgement(f"key-{number}", None, form=rater.campaign.form, answers=answers)
            rate(rater, item, judgement)


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Closed: on the first dialogue raters differ by 3, on the second by 1."""
    campaign = asking(FORM, slug="pilot", systems=["one"], dialogues=2, turns=1)
    first, second = made_raters(campaign, 2)
    answered_by(first, [1, 4])
    answered_by(second, [4, 5])
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    set_rule(campaign, 2)
    return Campaign.objects.select_related("form", "version__corpus").get(pk=campaign.pk)


def wide_item(campaign: Campaign) -> str:
    (one,) = differing_items(campaign)
    return one.public_id


def decided(campaign: Campaign, stars: int = 2) -> str:
    item = wide_item(campaign)
    answers = {"stars": stars, "clear": False}
    adjudicate(campaign, item, form=campaign.form, answers=answers)
    return item


def organiser() -> Client:
    return browser_of(made_user("", ORGANISER))


def test_items_are_those_that_the_rule_finds(campaign: Campaign) -> None:
    (one,) = differing_items(campaign)
    assert (one.dialogue, one.questions, one.is_adjudicated) == ("file-0", ("stars",), False)
    assert {rater: given["stars"] for rater, given in one.answers.items()} == {
        "rater 1": 1,
        "rater 2": 4,
    }
    set_rule(campaign, 1)
    assert len(differing_items(Campaign.objects.get(pk=campaign.pk))) == 2


def test_without_a_rule_no_item_waits(campaign: Campaign) -> None:
    assert differing_items(campaign)
    AdjudicationRule.objects.filter(campaign=campaign).delete()
    assert differing_items(Campaign.objects.get(pk=campaign.pk)) == []


def test_an_item_on_which_raters_agree_cannot_be_decided(campaign: Campaign) -> None:
    other = Item.objects.get(campaign=campaign, dialogue__position=1).public_id
    with pytest.raises(CannotAdjudicate, match="do not differ"):
        adjudicate(campaign, other, form=campaign.form, answers={"stars": 3, "clear": True})
    with pytest.raises(CannotAdjudicate, match="not adjudicated"):
        withdraw(campaign, other)


def test_a_decision_is_changed_and_withdrawn_and_the_log_keeps_each(campaign: Campaign) -> None:
    decided(campaign, 2)
    item = decided(campaign, 3)
    assert Adjudication.objects.get().answers == {"stars": 3, "clear": False}
    withdraw(campaign, item)
    assert not Adjudication.objects.exists()
    log = AuditEntry.objects.filter(action__startswith="rating.adjud").order_by("pk")
    assert [entry.action for entry in log] == [
        "rating.adjudicated",
        "rating.adjudicated",
        "rating.adjudication_withdrawn",
    ]
    assert log[1].details["before"] == {"answers": {"stars": 2, "clear": False}}


# --- no rating ------------------------------------------------------------------------------------


def test_agreement_is_of_ratings_alone(campaign: Campaign) -> None:
    before = campaign_agreement(campaign)
    decided(campaign)
    assert campaign_agreement(campaign) == before


def test_adjudicated_values_are_published_under_names_of_their_own(campaign: Campaign) -> None:
    publish(campaign)
    decided(campaign)
    campaign.refresh_from_db()
    assert publication_of(campaign).changed_since
    assert publish(campaign) == 4
    version = CorpusVersion.objects.get(pk=campaign.version_id)
    assert version.aspects == [
        "Stars",
        "clear",
        "Stars (adjudicated)",
        "clear (adjudicated)",
    ]
    assert version.main_aspect == "Stars"
    assert version.scales["Stars (adjudicated)"] == [1, 5]
    scores = Rating.objects.filter(aspect="Stars (adjudicated)")
    assert [(one.rater.name, one.score) for one in scores] == [("pilot/adjudicator", 2.0)]
    assert Rating.objects.filter(aspect="Stars").count() == 4
    campaign.refresh_from_db()
    unpublish(campaign)
    version.refresh_from_db()
    assert (version.aspects, version.raters.count()) == ([], 0)


@pytest.mark.django_db
def test_a_score_from_1_to_5_is_adjudicated_and_published() -> None:
    campaign = made_campaign(slug="pilot", systems=["one"], dialogues=1, turns=1)
    for rater, score in zip(made_raters(campaign, 2), (1, 5), strict=True):
        rate(rater, in_hand(rater)[0], Judgement("a-key", score))
    set_rule(campaign, 4)  # 5 - 1
    adjudicate(campaign, wide_item(campaign), score=3)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    publish(Campaign.objects.get(pk=campaign.pk))
    found = Rating.objects.filter(aspect="overall (adjudicated)")
    assert list(found.values_list("score", flat=True)) == [3.0]


def test_a_campaign_is_deleted_with_what_was_decided(campaign: Campaign) -> None:
    decided(campaign)
    delete(campaign, campaign.slug)
    assert not Campaign._base_manager.filter(pk=campaign.pk).exists()
    assert not Adjudication.objects.exists()


# --- pages and files ------------------------------------------------------------------------------


def test_an_organiser_sets_the_rule_and_decides_blind(campaign: Campaign) -> None:
    browser, queue = organiser(), address("campaign-adjudication", campaign)
    assert browser.post(queue, {"points": "3"}).status_code == 302
    page = browser.get(queue).content.decode()
    assert "To be decided: <b>1</b>" in page
    item = wide_item(campaign)
    decide = f"{queue}{item}/"
    page = browser.get(decide).content.decode()
    assert "differs" in page
    assert 'name="q.clear" value="true" data-key="y"\n          checked' in page  # agreed
    assert "one</" not in page.split("<main")[1]
    given = {"item": item, "key": "adjudication", "form": "1", "comment": "As in the guidelines."}
    refused = browser.post(decide, {**given, "q.clear": "true"})
    assert refused.status_code == 422
    assert "Stars: Choose an answer." in refused.content.decode()
    done = browser.post(decide, {**given, "q.clear": "true", "q.stars": "2"})
    assert done.status_code == 302
    stored = Adjudication.objects.get()
    assert (stored.answers, stored.points) == ({"stars": 2, "clear": True}, 3)
    assert (stored.comment, stored.decided_by is None) == ("As in the guidelines.", False)
    assert "Adjudicated: <b>1</b>" in browser.get(queue).content.decode()
    assert browser.post(decide, {"withdraw": "1"}).status_code == 302
    assert not Adjudication.objects.exists()


@pytest.mark.parametrize("points", ["", "0", "-1", "nan", "inf", "1e99", "two", "\x00"])
def test_a_rule_that_is_no_difference_is_refused(campaign: Campaign, points: str) -> None:
    answer = organiser().post(address("campaign-adjudication", campaign), {"points": points})
    assert answer.status_code == 422
    campaign.refresh_from_db()
    assert campaign.adjudication_rule.points == 2


def test_only_items_that_differ_have_a_page(campaign: Campaign) -> None:
    other = Item.objects.get(campaign=campaign, dialogue__position=1).public_id
    queue = address("campaign-adjudication", campaign)
    for name in (other, "nobody", "%00"):
        assert organiser().get(f"{queue}{name}/").status_code == 404


@pytest.mark.django_db
def test_chats_are_not_adjudicated() -> None:
    campaign = made_campaign("interactive", systems=["one"])
    assert organiser().get(address("campaign-adjudication", campaign)).status_code == 404


def test_the_file_has_the_decided_values_and_that_of_ratings_has_none(campaign: Campaign) -> None:
    decided(campaign)
    browser, export = organiser(), address("campaign-export", campaign)

    def rows(form: str) -> list[dict[str, str]]:
        text = b"".join(browser.get(export, {"format": form}).streaming_content).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))

    (row,) = rows("adjudications")
    assert (row["dialogue"], row["turn"], row["system"]) == ("file-0", "0", "one")
    assert (row["points"], row["form"], row["answer_stars"]) == ("2.0", "1", "2")
    assert sorted(one["answer_stars"] for one in rows("csv")) == ["1", "4", "4", "5"]
    page = browser.get(address("campaign-ratings", campaign)).content.decode()
    assert "1 item is adjudicated; its value is not among these ratings." in page
