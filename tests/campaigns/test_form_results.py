"""What is made of answers to a form: agreement, raters' statistics, files, publishing."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import transaction

from annotations.campaigns.actions.publishing import CannotPublish, publish, unpublish
from annotations.campaigns.actions.work_queue import Judgement, rate
from annotations.campaigns.models import Campaign, Item, Participation
from annotations.campaigns.queries.quality import raters_of
from annotations.campaigns.queries.ratings import (
    aspects_of,
    campaign_agreement,
    campaign_matrix,
    publication_of,
)
from annotations.corpora.queries import NotFound
from annotations.models import CorpusVersion, Label, Rating
from annotations.questions.answers import Material, check
from annotations.questions.reading import form_of
from common.roles import ORGANISER
from tests.campaigns.forms import asking, made_form
from tests.campaigns.rating_browser import address, browser_of, in_hand
from tests.campaigns.sets import made_raters, made_user

pytestmark = pytest.mark.django_db

STARS = {"key": "stars", "type": "scale", "text": "Stars", "title": "Stars", "maximum": 3}
CLEAR = {"key": "clear", "type": "yes_no", "text": "Clear?", "cannot_judge": True}
KIND = {
    "key": "kind",
    "type": "choice",
    "text": "What is it?",
    "options": [{"key": "question"}, {"key": "answer"}],
}
FLAWS = {
    "key": "flaws",
    "type": "choices",
    "text": "Which?",
    "options": [{"key": "dull"}, {"key": "rude"}],
}


def answer(rater: Participation, given: list[dict[str, Any]]) -> None:
    """All items of a campaign with one for each dialogue, ``given`` by dialogue, in whatever order
    the rater gets them."""
    form = form_of(rater.campaign.form.schema)
    for number in range(len(given)):
        item = in_hand(rater)[0]
        raw = given[Item.objects.get(public_id=item).dialogue.position]
        answers = check(form, raw, Material({1: "…", 2: "…"}))
        with transaction.atomic():
            rate(
                rater,
                item,
                Judgement(f"key-{number}", None, form=rater.campaign.form, answers=answers),
            )


def two_raters(*questions: dict[str, Any], kind: str = "turn", **more: Any) -> Campaign:
    """Closed: one system, two dialogues of one turn, each item rated by two."""
    level = "response" if kind == "turn" else "conversation"
    campaign = asking(
        made_form(*questions, level=level), kind, systems=["one"], dialogues=2, turns=1, **more
    )
    first, second = made_raters(campaign, 2)
    answer(first, [GIVEN | {"stars": 3}, GIVEN | {"stars": 1}])
    answer(second, [GIVEN | {"stars": 3}, GIVEN | {"stars": 2, "clear": "cannot_judge"}])
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    return Campaign.objects.select_related("form", "version__corpus").get(pk=campaign.pk)


GIVEN = {"clear": True, "kind": "question", "flaws": ["rude"]}
ALL = (STARS, CLEAR, KIND, FLAWS)


def test_each_question_that_scores_is_an_aspect() -> None:
    campaign = two_raters(*ALL)
    assert aspects_of(campaign) == [("stars", "Stars"), ("clear", "clear")]
    matrix = campaign_matrix(campaign).matrix  # the first question is the main one
    assert matrix.levels == (1.0, 2.0, 3.0)
    assert sorted(matrix.scores[~(matrix.scores != matrix.scores)].tolist()) == [1, 2, 3, 3]
    clear = campaign_matrix(campaign, "clear").matrix.scores
    assert int((clear == clear).sum()) == 3  # one could not judge
    with pytest.raises(NotFound):
        campaign_matrix(campaign, "kind")
    assert campaign_agreement(campaign, resamples=0)["aspect"] == "stars"


def test_raters_statistics_read_the_main_question() -> None:
    first, _second = raters_of(two_raters(*ALL))
    assert (first.levels, first.use.shares) == ((1.0, 2.0, 3.0), (0.5, 0.0, 0.5))
    assert first.done == 2


def test_a_form_without_scores_has_raters_but_no_scores() -> None:
    campaign = two_raters({**STARS, "required": False}, CLEAR, KIND, FLAWS)
    form = made_form(KIND)
    campaign.form.schema = {
        **campaign.form.schema,
        "questions": [
            question for question in campaign.form.schema["questions"] if question["key"] == "kind"
        ],
    }
    campaign.form.save()
    assert form.scored == ()
    assert [one.use.shares for one in raters_of(campaign)] == [(), ()]
    with pytest.raises(CannotPublish, match="no question"):
        publish(campaign)


def test_organisers_pages_show_the_answers() -> None:
    campaign = two_raters(*ALL)
    browser = browser_of(made_user("", ORGANISER))
    ratings = browser.get(address("campaign-ratings", campaign))
    assert "question" in ratings.content.decode()
    assert browser.get(address("campaign-raters", campaign)).status_code == 200
    for aspect in ("", "clear"):
        page = browser.get(address("campaign-agreement", campaign), {"aspect": aspect})
        assert page.status_code == 200


def test_files_have_a_column_for_each_question_and_the_form_beside_them() -> None:
    campaign = two_raters(*ALL)
    browser = browser_of(made_user("", ORGANISER))
    export = address("campaign-export", campaign)
    text = b"".join(browser.get(export).streaming_content).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert sorted(row["answer_stars"] for row in rows) == ["1", "2", "3", "3"]
    assert {row["answer_flaws"] for row in rows} == {'["rude"]'}
    assert {row["answer_clear"] for row in rows} == {"true", "cannot_judge"}
    assert "score" not in rows[0]
    lines = b"".join(browser.get(export, {"format": "jsonl"}).streaming_content).decode()
    stars = [json.loads(line)["answers"]["stars"] for line in lines.splitlines()]
    assert sorted(stars) == [1, 2, 3, 3]
    form = browser.get(export, {"format": "campaign"})
    document = json.loads(b"".join(form.streaming_content))
    assert form_of(document["forms"][0]["form"]).question("stars").maximum == 3


def test_scores_are_published_as_aspects_and_the_rest_as_labels() -> None:
    campaign = two_raters(*ALL)
    assert publish(campaign) == 4
    version = CorpusVersion.objects.get(pk=campaign.version_id)
    assert version.aspects == ["Stars", "clear"]
    assert (version.main_aspect, version.scales) == ("Stars", {"Stars": [1, 3], "clear": [0, 1]})
    assert Rating.objects.filter(aspect="clear").count() == 3
    labels = Label.objects.filter(rater__version=version)
    assert set(labels.values_list("question", flat=True)) == {"kind", "flaws"}
    assert labels.filter(question="flaws").first().value == ["rude"]
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert not publication_of(campaign).changed_since
    assert publish(campaign) == 4  # again: the same names
    assert CorpusVersion.objects.get(pk=version.pk).aspects == ["Stars", "clear"]
    unpublish(Campaign.objects.get(pk=campaign.pk))
    version.refresh_from_db()
    assert (version.aspects, version.scales) == ([], {})
    assert not Label.objects.exists()


def test_labels_of_utterances_are_labels_of_the_responses_of_their_turns() -> None:
    labels = {**FLAWS, "key": "each", "type": "utterance_labels"}
    campaign = asking(
        made_form(STARS, labels, level="conversation"),
        "dialogue",
        systems=["one"],
        dialogues=1,
        turns=2,
        k=1,
    )
    (rater,) = made_raters(campaign, 1)
    answer(rater, [{"stars": 2, "each": {"1": [], "2": ["dull"]}}])
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    publish(Campaign.objects.get(pk=campaign.pk))
    found = Label.objects.order_by("response__turn__number")
    assert [(one.response.turn.number, one.value) for one in found] == [(0, []), (1, ["dull"])]


def test_labels_of_utterances_with_values_are_published_as_scores_of_their_turns() -> None:
    campaign = asking("conture", "dialogue", systems=["one"], dialogues=1, turns=2, k=1)
    (rater,) = made_raters(campaign, 1)
    answer(rater, [{"overall": 4, "impression": {"1": ["bad"], "2": ["good"]}}])
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    assert publish(Campaign.objects.get(pk=campaign.pk)) == 1
    found = Rating.objects.filter(aspect="Impression").order_by("response__turn__number")
    assert [(one.response.turn.number, one.score) for one in found] == [(0, 0), (1, 2)]
    version = CorpusVersion.objects.get(pk=campaign.version_id)
    assert version.scales == {"Overall": [1, 5], "Impression": [0, 2]}
    unpublish(Campaign.objects.get(pk=campaign.pk))
    assert not Rating.objects.exists()
