"""How far raters agree on each question of a campaign's form."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from annotations.campaigns.actions.work_queue import Judgement, rate
from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.queries.question_agreement import question_agreement
from annotations.models import Response
from common.roles import ORGANISER
from tests.campaigns.forms import asking, made_form
from tests.campaigns.rating_browser import address, browser_of, in_hand
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db

OPTIONS = [{"key": "dull", "label": "is dull"}, {"key": "rude"}]
CLEAR = {"key": "clear", "type": "yes_no", "text": "Clear?"}
FLAWS = {"key": "flaws", "type": "choices", "text": "Which?", "options": OPTIONS}
ORDER = {"key": "order", "type": "ranking", "text": "Which is worse?", "options": OPTIONS}
ERRORS = {"key": "errors", "type": "span", "text": "Where?", "options": OPTIONS}
WORDS = {"key": "words", "type": "text", "text": "Why?"}
LABELS = {"key": "labels", "type": "utterance_labels", "text": "How?", "options": OPTIONS}


def rated(
    *by_rater: list[dict[str, Any]], questions: list[dict[str, Any]], **more: Any
) -> Campaign:
    """One system, a dialogue for each answer of a rater; the n-th is of the same item for all."""
    kind = more.pop("kind", "turn")
    level = "response" if kind == "turn" else "conversation"
    campaign = asking(
        made_form(*questions, level=level),
        kind,
        systems=["one"],
        dialogues=len(by_rater[0]),
        **more,
    )
    numbers: dict[str, int] = {}
    for rater, answers in zip(made_raters(campaign, len(by_rater)), by_rater, strict=True):
        for done in range(len(answers)):
            item = in_hand(rater)[0]
            number = numbers.setdefault(item, len(numbers))
            store(rater, item, done, answers[number])
    return campaign


def store(rater: Participation, item: str, number: int, answers: dict[str, Any]) -> None:
    with transaction.atomic():
        judgement = Judgement(f"k{number}", None, form=rater.campaign.form, answers=answers)
        rate(rater, item, judgement)


def coefficients(campaign: Campaign, question: str) -> dict[str, float | None]:
    (found,) = [one for one in question_agreement(campaign) if one.question == question]
    return {f"{one.name} {one.option}".strip(): one.estimate.value for one in found.coefficients}


def test_each_question_has_the_coefficients_of_its_type() -> None:
    same = {"clear": True, "flaws": ["dull"], "order": {"dull": 1, "rude": 2}, "words": "a"}
    other = {"clear": False, "flaws": [], "order": {"dull": 2, "rude": 1}, "words": "b"}
    campaign = rated([same, other], [same, other], questions=[CLEAR, FLAWS, ORDER, WORDS], turns=1)
    assert [one.question for one in question_agreement(campaign)] == ["clear", "flaws", "order"]
    assert coefficients(campaign, "clear")["alpha_nominal"] == 1.0
    assert coefficients(campaign, "flaws")["alpha_nominal is dull"] == 1.0
    assert coefficients(campaign, "order")["kendall_w"] == 1.0


def test_spans_are_read_over_the_characters_of_the_response() -> None:
    span = {"utterance": 1, "start": 0, "end": 1, "label": "dull"}
    campaign = rated([{"errors": [span]}], [{"errors": []}], questions=[ERRORS], turns=1)
    length = len(Response.objects.get(items__campaign=campaign).text)
    # One of n characters differs: o_01 = o_10 = 1, margins 2 n − 1 and 1: α = 1 − (2 n − 1) · 2 /
    # (2 (2 n − 1)) = 0
    assert length > 1
    assert coefficients(campaign, "errors")["alpha_marked"] == pytest.approx(0.0, abs=1e-12)
    assert coefficients(campaign, "errors")["f1_exact"] == 0.0


def test_labels_of_all_responses_of_a_dialogue_are_compared() -> None:
    given = {"labels": {"1": ["dull"], "2": []}}
    campaign = rated([given], [given], questions=[LABELS], kind="dialogue", turns=2)
    assert coefficients(campaign, "labels")["alpha_masi"] == 1.0


def test_a_campaign_on_the_scale_has_no_questions() -> None:
    assert question_agreement(made_campaign()) == []


def text_of(name: str, campaign: Campaign) -> str:
    page = browser_of(made_user("olga", ORGANISER)).get(address(name, campaign))
    assert page.status_code == 200
    return page.content.decode()


def test_an_organiser_reads_it_on_the_page_of_agreement() -> None:
    order = {"order": {"dull": 1, "rude": 2}}
    campaign = rated([order, order], [order, order], questions=[ORDER], turns=1)
    text = text_of("campaign-agreement", campaign)
    assert "Agreement on each question" in text
    assert "Kendall’s W" in text


def only_texts() -> Campaign:
    campaign = rated([{"words": "a"}], [{"words": "b"}], questions=[WORDS], turns=1)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    return campaign


def test_of_texts_alone_there_is_nothing_to_compare() -> None:
    text = text_of("campaign-agreement", only_texts())
    assert "Nothing to compare" in text
    assert "No ratings yet" not in text


def test_of_texts_alone_there_is_nothing_to_publish() -> None:
    text = text_of("campaign-ratings", only_texts())
    assert "there is nothing to publish" in text
    assert "Publish 2 ratings" not in text
    assert "mt-metrics-eval" not in text


def test_scores_of_yes_no_and_of_a_rubric_are_named() -> None:
    """Of values 1 and 2 the share of three: 1 / 3 = 0.33, 2 / 3 = 0.67."""
    options = [{"key": "dull", "value": 1}, {"key": "rude", "value": 2}]
    rubric = {**FLAWS, "options": options}
    given = [{"flaws": ["dull"], "clear": True}, {"flaws": ["rude"], "clear": False}]
    campaign = rated(given, given, questions=[rubric, CLEAR], turns=1)
    text = text_of("campaign-agreement", campaign)
    assert "Scores 0.33 to 0.67" in text
    assert "Distribution of scores" not in text  # they are no steps of a scale
    campaign = rated(given, given, questions=[CLEAR, rubric], turns=1)
    url = address("campaign-agreement", campaign)
    text = browser_of(made_user("ota", ORGANISER)).get(url).content.decode()
    assert "0 · no" in text
    assert "1 · yes" in text
