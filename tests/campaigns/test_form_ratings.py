"""Answers to a campaign's form: what the page shows, what is stored, what is refused."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotations.campaigns.actions.forms import FormDoesNotFit, remove_form, write_form
from annotations.campaigns.actions.opening import what_is_missing
from annotations.campaigns.actions.setup import WrongState, delete
from annotations.campaigns.actions.work_queue import Judgement, rate
from annotations.campaigns.models import Assignment, Campaign, FormVersion, RatingRevision
from annotations.questions import templates
from tests.campaigns.forms import USR, asking, made_form
from tests.campaigns.rating_browser import JSON, a_rater, address, in_hand
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db

STARS = {"key": "stars", "type": "scale", "text": "How many stars?"}
WHY = {
    "key": "why",
    "type": "text",
    "text": "Why so few?",
    "when": {"question": "stars", "below": 3},
}


def send(browser: Any, campaign: Campaign, item: str, accept: Any = JSON, **fields: Any) -> Any:
    given = {"item": item, "key": uuid.uuid4().hex, "guidelines": 1, "form": 1, **fields}
    return browser.post(address("rating-submit", campaign), given, **accept)


# --- storing --------------------------------------------------------------------------------------


def test_the_answers_are_stored_by_question_with_their_version_and_times() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    answer = send(browser, campaign, item, **USR, **{"ms.natural": "1200", "ms.overall": "-1"})
    assert answer.json()["stored"]
    stored = RatingRevision.objects.get()
    assert stored.answers == {
        "understandable": True,
        "natural": 3,
        "maintains_context": 2,
        "engaging": 1,
        "uses_knowledge": False,
        "overall": 4,
    }
    assert (stored.score, stored.low_axes, stored.form.number) == (None, None, 1)
    assert stored.question_ms == {"natural": 1200}  # what cannot be is left out
    assert stored.assignment.state == Assignment.State.DONE
    assert stored.assignment.slot is not None


def test_the_same_key_is_one_rating_and_another_is_a_revision() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    numbers = [
        send(browser, campaign, item, **{**USR, "key": key}).json()["revision"]
        for key in ("one", "one", "two")
    ]
    assert numbers == [1, 1, 2]


def test_without_a_script_the_next_item_follows() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], accept={}, **USR)
    assert (answer.status_code, answer.url) == (302, address("rating-work", campaign))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"q.natural": "4"}, "Natural: Choose a number from 1 to 3."),
        ({"q.natural": ""}, "Natural: Choose an answer."),
        ({"q.natural": "1e9"}, "Natural: Choose a number from 1 to 3."),
        ({"q.understandable": "maybe"}, "Understandable: Choose yes or no."),
        ({"form": ""}, "It is not said which version of the form is answered."),
        ({"form": "2"}, "The campaign has no form of this number."),
        ({"form": "x"}, "whole number"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_question(fields: Any, text: str) -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], **{**USR, **fields})
    assert answer.status_code == 422
    assert text in str(answer.json()["errors"])
    assert not RatingRevision.objects.exists()


def test_a_score_is_no_answer_to_a_form_and_answers_are_no_score() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    assert send(browser, campaign, in_hand(rater)[0], score=4, form="").status_code == 422
    scale = made_campaign()
    other, its = a_rater(scale)
    assert send(its, scale, in_hand(other)[0], **USR).status_code == 422
    with pytest.raises(ValueError, match="no version of the campaign's form"):
        rate(rater, in_hand(rater)[0], Judgement("a-key", 4))
    foreign = asking("usr").form
    with pytest.raises(ValueError, match="no version of the campaign's form"):
        rate(rater, in_hand(rater)[0], Judgement("a-key", None, form=foreign, answers={}))


def test_the_answer_to_a_hidden_question_is_not_stored_and_a_shown_one_is_needed() -> None:
    campaign = asking(made_form(STARS, WHY))
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    send(browser, campaign, first, **{"q.stars": "4", "q.why": "Because."})
    assert RatingRevision.objects.get().answers == {"stars": 4}
    refused = send(browser, campaign, second, **{"q.stars": "2"})
    assert refused.json()["errors"] == {"__all__": ["why: Write an answer."]}


def test_a_text_is_as_long_as_the_question_allows() -> None:
    campaign = asking(made_form({**WHY, "when": None, "max_length": 10}))
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    assert send(browser, campaign, item, **{"q.why": "12345678901"}).status_code == 422
    assert send(browser, campaign, item, **{"q.why": "1234567890"}).status_code == 200


def test_marked_words_are_found_in_the_response() -> None:
    campaign = asking(
        made_form(
            {
                "key": "errors",
                "type": "span",
                "text": "Mark errors.",
                "options": [{"key": "fluency"}],
                "severities": [{"key": "minor", "value": 1}, {"key": "major", "value": 5}],
            }
        )
    )
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    text = Assignment.objects.get(item__public_id=first).item.response.text
    row = {"q.errors.0.label": "fluency", "q.errors.0.severity": "major"}
    said = {"q.errors.asked": "1", "q.errors.0.text": text[7:11], **row}
    assert send(browser, campaign, first, **said).status_code == 200
    assert RatingRevision.objects.get().answers["errors"] == [
        {"utterance": 1, "start": 7, "end": 11, "label": "fluency", "severity": "major"}
    ]
    other = {**said, "q.errors.0.text": "words that nobody said"}
    assert send(browser, campaign, second, **other).status_code == 422
    none = {**said, "q.errors.0.text": ""}
    assert send(browser, campaign, second, **none).status_code == 200


def test_a_response_that_is_sent_back_as_it_was_is_no_correction() -> None:
    better = {"key": "better", "type": "correction", "text": "Correct it.", "required": False}
    campaign = asking(made_form(STARS, better))
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    text = Assignment.objects.get(item__public_id=first).item.response.text
    stars = {"q.stars": "4"}
    assert send(browser, campaign, first, **stars, **{"q.better": f"{text}\r\n"}).status_code == 200
    assert RatingRevision.objects.get().answers == {"stars": 4}
    assert send(browser, campaign, second, **stars, **{"q.better": "Why?"}).status_code == 200
    assert RatingRevision.objects.latest("pk").answers == {"stars": 4, "better": "Why?"}


def test_a_required_correction_is_refused_as_long_as_nothing_is_corrected() -> None:
    better = {"key": "better", "type": "correction", "text": "Correct it."}
    campaign = asking(made_form(better))
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    text = Assignment.objects.get(item__public_id=item).item.response.text
    refused = send(browser, campaign, item, **{"q.better": text})
    assert refused.json()["errors"] == {"__all__": ["better: Write the corrected response."]}
    assert send(browser, campaign, item, **{"q.better": text + "!"}).status_code == 200


def test_words_marked_where_they_stand_twice_keep_their_place_and_are_shown_again() -> None:
    span = {"key": "errors", "type": "span", "text": "Mark.", "options": [{"key": "fluency"}]}
    campaign = asking(made_form(span))
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    response = Assignment.objects.get(item__public_id=item).item.response
    response.text = "so so, \N{WAVING HAND SIGN} so"
    response.save()
    place = {"text": "so", "utterance": "1", "start": "9", "label": "fluency"}
    row = {f"q.errors.0.{name}": value for name, value in place.items()}
    assert send(browser, campaign, item, **{"q.errors.asked": "1", **row}).status_code == 200
    marked = {"utterance": 1, "start": 9, "end": 11, "label": "fluency"}
    assert RatingRevision.objects.get().answers == {"errors": [marked]}
    page = browser.get(address("rating-work", campaign), {"item": item}).content.decode()
    assert 'name="q.errors.0.start" value="9"' in page
    assert 'name="q.errors.0.text" value="so"' in page


def test_each_response_of_a_dialogue_gets_its_labels() -> None:
    labels = {
        "key": "flaws",
        "type": "utterance_labels",
        "text": "What is wrong?",
        "options": [{"key": "off_topic"}, {"key": "dull"}],
    }
    campaign = asking(made_form(labels, level="conversation"), "dialogue")
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    page = browser.get(address("rating-work", campaign)).content.decode()
    assert page.count('name="q.flaws.2"') == 4  # two labels, of this item and the next
    fields = {"q.flaws.asked": "1", "q.flaws.2": ["dull", "off_topic"]}
    assert send(browser, campaign, item, **fields).status_code == 200
    assert RatingRevision.objects.get().answers == {"flaws": {"1": [], "2": ["off_topic", "dull"]}}
    assert send(browser, campaign, item, **{**fields, "q.flaws.9": "dull"}).status_code == 422


# --- pages ----------------------------------------------------------------------------------------


def test_a_refused_page_shows_the_answers_again_with_the_fault_at_its_question() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], accept={}, **{**USR, "q.engaging": ""})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count('class="errorlist">Choose an answer.') == 1
    assert 'name="q.natural" value="3" data-key="3"\n          checked' in page


def test_an_earlier_rating_is_changed_from_the_list_of_own_ratings() -> None:
    campaign = asking("usr")
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    send(browser, campaign, item, **USR)
    listed = browser.get(address("own-ratings", campaign)).content.decode()
    assert "Natural:" in listed
    assert "3 (yes)" in listed
    page = browser.get(address("rating-work", campaign), {"item": item}).content.decode()
    assert 'name="q.overall" value="4" data-key="4"\n          checked' in page


# --- versions -------------------------------------------------------------------------------------


def test_a_page_that_was_loaded_before_the_form_changed_answers_the_version_it_showed() -> None:
    campaign = asking(made_form(STARS))
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    write_form(campaign, made_form({**STARS, "text": "How many stars out of five?"}))
    answer = send(browser, campaign, first, **{"q.stars": "4"}).json()
    assert (answer["stored"], answer["form"]) == (True, 2)
    send(browser, campaign, second, **{"q.stars": "5", "form": 2})
    assert list(RatingRevision.objects.order_by("pk").values_list("form__number", flat=True)) == [
        1,
        2,
    ]


def test_a_draft_has_one_version_and_an_opened_campaign_keeps_every_one() -> None:
    campaign = made_campaign(opened=False)
    write_form(campaign, templates.load("usr"))
    version, written = write_form(campaign, made_form(STARS))
    assert (version.number, written, FormVersion.objects.count()) == (1, True, 1)
    assert write_form(campaign, made_form(STARS)) == (version, False)
    Campaign.objects.filter(pk=campaign.pk).update(state="open", opened_at=campaign.created_at)
    later, written = write_form(campaign, made_form(STARS, {**WHY, "required": False}))
    assert (later.number, written, FormVersion.objects.count()) == (2, True, 2)
    assert Campaign.objects.get(pk=campaign.pk).form == later


def test_a_form_is_parsed_once_and_a_draft_that_changed_under_its_number_anew() -> None:
    campaign = made_campaign(opened=False)
    version, _ = write_form(campaign, made_form(STARS))
    assert version.parsed() is FormVersion.objects.get(pk=version.pk).parsed()
    changed, _ = write_form(campaign, made_form({**STARS, "text": "How many?"}))
    assert (changed.pk, changed.parsed().questions[0].text) == (version.pk, "How many?")


def test_once_raters_have_begun_a_question_keeps_its_possible_answers() -> None:
    campaign = asking(made_form(STARS))
    with pytest.raises(FormDoesNotFit, match="stars"):
        write_form(campaign, made_form({**STARS, "maximum": 7}))
    with pytest.raises(FormDoesNotFit, match="scale from 1 to 5"):
        write_form(made_campaign(), made_form(STARS))
    with pytest.raises(WrongState):
        remove_form(campaign)


def test_the_form_is_about_what_the_campaign_shows() -> None:
    campaign = made_campaign("dialogue", opened=False)
    with pytest.raises(FormDoesNotFit, match="level"):
        write_form(campaign, made_form(STARS))
    fits = made_form(STARS, level="conversation")
    write_form(campaign, fits)
    Campaign.objects.filter(pk=campaign.pk).update(kind="turn", target="width", target_value=1)
    missing = " ".join(what_is_missing(Campaign.objects.get(pk=campaign.pk)))
    assert "another form" in missing
    write_form(campaign, made_form(WHY | {"when": None}))
    (missing,) = what_is_missing(Campaign.objects.get(pk=campaign.pk))
    assert "a question that gives scores" in missing


def test_a_form_opens_with_training_items_whose_range_is_on_the_scale_of_its_main_question() -> (
    None
):
    campaign = made_campaign(opened=False, training=[(4, 5)])
    assert what_is_missing(campaign) == []
    write_form(campaign, templates.load("usr"))  # overall, from 1 to 5
    assert what_is_missing(campaign) == []
    write_form(campaign, made_form({**STARS, "maximum": 4}))
    assert "a range that is not on the scale" in what_is_missing(campaign)[0]
    write_form(campaign, made_form(WHY | {"when": None}))  # no score
    assert "a range that is not on the scale" in what_is_missing(campaign)[0]


@pytest.mark.parametrize(
    ("stars", "text", "qualification"),
    [("4", "Within the expected range", "passed"), ("2", "Outside the expected range", "failed")],
)
def test_training_holds_the_answer_to_the_main_question_against_the_range(
    stars: str, text: str, qualification: str
) -> None:
    labels = ["one", "two", "three", "four", "five"]
    campaign = asking(made_form({**STARS, "labels": labels}), training=[(4, 5)], pass_mark=1.0)
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], **{"q.stars": stars}).json()
    assert text in answer["feedback"]
    assert f"You gave <b>{stars} ({labels[int(stars) - 1]})</b>" in answer["feedback"]
    assert "<b>4 (four)</b> to <b>5 (five)</b>" in answer["feedback"]
    rater.refresh_from_db()
    assert rater.qualification == qualification


def test_training_of_yes_and_no_is_right_or_not_and_cannot_judge_is_wrong() -> None:
    clear = {"key": "clear", "type": "yes_no", "text": "Is it?", "cannot_judge": True}
    campaign = asking(made_form(clear), training=[(0, 0), (0, 0)], pass_mark=0.5)
    rater, browser = a_rater(campaign)
    for given, text in (("false", "Within"), ("cannot_judge", "You gave no score.")):
        answer = send(browser, campaign, in_hand(rater)[0], **{"q.clear": given}).json()
        assert text in answer["feedback"]
        assert "Expected is <b>no</b>" in answer["feedback"]
    rater.refresh_from_db()
    assert rater.qualification == "passed"  # one of two


def test_a_draft_can_go_back_to_the_scale_and_a_campaign_can_go() -> None:
    campaign = made_campaign(opened=False)
    write_form(campaign, templates.load("usr"))
    remove_form(campaign)
    assert not FormVersion.objects.exists()
    asked = asking("usr")
    rater, browser = a_rater(asked)
    send(browser, asked, in_hand(rater)[0], **USR)
    delete(asked, asked.slug)
    assert not Campaign.objects.filter(pk=asked.pk).exists()
    assert not FormVersion.objects.exists()


def test_the_database_takes_a_score_or_answers_and_not_both() -> None:
    campaign = asking("usr")
    (rater,) = made_raters(campaign, 1)
    in_hand(rater)
    assignment = Assignment.objects.filter(participation=rater).first()
    wrong: list[dict[str, Any]] = [
        {"score": None},
        {"score": 6},
        {"score": 3, "form": campaign.form, "answers": {}},
        {"form": campaign.form},
        {"answers": {}},
        {"form": campaign.form, "answers": {}, "low_axes": []},
    ]
    for fields in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            RatingRevision.objects.create(assignment=assignment, number=1, key="a", **fields)
