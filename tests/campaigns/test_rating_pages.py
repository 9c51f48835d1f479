"""The rater's pages, through Django's test client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import (
    Assignment,
    Conversation,
    Guidelines,
    Item,
    Message,
    Participation,
)
from annotations.campaigns.queries import work_queue as queries
from annotations.campaigns.queries.work_queue import item_view
from annotations.models import System
from tests.campaigns.rating_browser import JSON, a_rater, address, browser_of, in_hand, send
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


# --- the way in -----------------------------------------------------------------------------------


def test_a_rater_without_a_campaign_learns_how_one_gets_in() -> None:
    page = browser_of(made_user()).get(reverse("rate"))
    assert page.status_code == 200
    assert "sends you a link" in page.content.decode()


def test_ones_campaigns_stand_with_their_progress() -> None:
    campaign = made_campaign(dialogues=2, turns=1)
    rater, browser = a_rater(campaign)
    send(browser, campaign, in_hand(rater)[0])
    text = browser.get(reverse("rate")).content.decode()
    assert campaign.name in text
    assert "1 of 4" in text  # 2 systems × 2 dialogues × 1 turn, all of them this one rater's


def test_drafts_are_nobodys_campaigns() -> None:
    campaign = made_campaign(opened=False)
    _, browser = a_rater(campaign)
    assert campaign.name not in browser.get(reverse("rate")).content.decode()
    assert browser.get(address("rating-start", campaign)).status_code == 404


@pytest.mark.parametrize("name", ["rating-start", "rating-work", "rating-guidelines"])
def test_a_campaign_does_not_exist_for_others(name: str) -> None:
    assert browser_of(made_user()).get(address(name, made_campaign())).status_code == 404


def test_members_of_a_group_join_on_the_start_page() -> None:
    campaign = made_campaign()
    group = Group.objects.create(name="assistants")
    campaign.groups.add(group)
    user = made_user()
    user.groups.add(group)
    browser = browser_of(user)
    assert "Take part" in browser.get(address("rating-start", campaign)).content.decode()
    answer = browser.post(address("rating-start", campaign), {"guidelines": 1})
    assert answer.headers["Location"] == address("rating-work", campaign)
    assert Participation.objects.get(campaign=campaign, user=user).guidelines_read.number == 1


def test_the_guidelines_come_before_the_first_item() -> None:
    campaign = made_campaign()
    rater = made_raters(campaign, 1)[0]
    browser = browser_of(rater.user)
    assert browser.get(address("rating-work", campaign)).headers["Location"] == address(
        "rating-start", campaign
    )
    assert (
        "Read the whole dialogue first."
        in browser.get(address("rating-start", campaign)).content.decode()
    )
    browser.post(address("rating-start", campaign), {"guidelines": 1})
    assert browser.get(address("rating-work", campaign)).status_code == 200


def test_new_guidelines_are_announced_and_asked_about() -> None:
    campaign = made_campaign()
    _, browser = a_rater(campaign)
    Guidelines.objects.create(campaign=campaign, number=2, text="Now this.")
    assert (
        "The guidelines have changed."
        in browser.get(address("rating-work", campaign)).content.decode()
    )
    document = browser.get(address("rating-guidelines", campaign), **JSON).json()
    assert (document["number"], "Now this." in document["html"]) == (2, True)


# --- an item --------------------------------------------------------------------------------------


def test_a_turn_item_shows_personas_history_and_one_response() -> None:
    campaign = made_campaign()
    item = Item.objects.filter(campaign=campaign, turn__number=1).first()
    view = item_view(item)
    (part,) = view.parts
    assert view.shape == "turn"
    assert [line.text for line in part.lines] == [
        *(text for _, text in item.turn.context),
        item.response.text,
    ]
    assert [line.judged for line in part.lines] == [False, False, False, True]
    assert view.persona == tuple(item.dialogue.persona)
    assert view.partner_persona == tuple(item.dialogue.partner_persona)


def test_a_dialogue_item_tells_original_answers_from_judged_ones() -> None:
    campaign = made_campaign("dialogue", turns=3)
    item = Item.objects.filter(campaign=campaign).first()
    view = item_view(item)
    assert [
        [(line.speaker, line.judged, line.given) for line in part.lines] for part in view.parts
    ] == [
        [("A", False, False), ("B", True, False)],
        [("B", False, True), ("A", False, False), ("B", True, False)],
        [("B", False, True), ("A", False, False), ("B", True, False)],
    ]
    judged = [line.text for part in view.parts for line in part.lines if line.judged]
    answers = item.system.responses.filter(turn__dialogue=item.dialogue).order_by("turn__number")
    assert judged == [answer.text for answer in answers]


def test_attention_items_are_built_like_regular_ones() -> None:
    campaign = made_campaign(attention=[(1, 1)])
    regular = item_view(Item.objects.filter(campaign=campaign, role="regular").first())
    attention = item_view(Item.objects.get(campaign=campaign, role="attention"))
    assert (attention.shape, attention.practice, attention.judged) == (
        regular.shape,
        False,
        regular.judged,
    )
    assert {len(one.public_id) for one in (regular, attention)} == {16}


def test_an_empty_response_is_said_to_be_empty() -> None:
    campaign = made_campaign(dialogues=1, turns=1, systems=("mute",))
    item = Item.objects.get(campaign=campaign)
    item.response.text = " "
    item.response.save()
    _, browser = a_rater(campaign)
    assert "(an empty response)" in browser.get(address("rating-work", campaign)).content.decode()


def test_the_next_item_is_in_the_page() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    text = browser.get(address("rating-work", campaign)).content.decode()
    assert [f'data-item="{item}"' in text for item in in_hand(rater)] == [True, True]


# --- training -------------------------------------------------------------------------------------


def test_a_training_item_is_followed_by_feedback() -> None:
    campaign = made_campaign(training=[(4, 5)])
    rater, browser = a_rater(campaign)
    feedback = send(browser, campaign, in_hand(rater)[0], 2).json()["feedback"]
    assert "Outside the expected range" in feedback
    assert "<b>4</b> to <b>5</b>" in feedback
    assert "Between 4 and 5." in feedback


def test_without_script_the_feedback_is_a_page() -> None:
    campaign = made_campaign(training=[(4, 5)])
    rater, browser = a_rater(campaign)
    page = browser.get(send(browser, campaign, in_hand(rater)[0], 4, accept={}).headers["Location"])
    assert "Within the expected range" in page.content.decode()


def test_feedback_on_an_attention_item_does_not_exist() -> None:
    campaign = made_campaign(dialogues=1, turns=1, attention=[(1, 1)], attention_every=2)
    rater, browser = a_rater(campaign)
    attention = Item.objects.get(campaign=campaign, role="attention").public_id
    for _ in range(3):
        for item in in_hand(rater):
            assert send(browser, campaign, item).json()["feedback"] is None
    assert browser.get(address("rating-work", campaign), {"feedback": attention}).status_code == 404


# --- skipping, pausing, ending --------------------------------------------------------------------


def test_a_skipped_item_goes_with_its_reason() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    given = {"item": item, "reason": "other", "words": "I wrote it"}
    answer = browser.post(address("rating-skip", campaign), given, **JSON)
    assert item not in [one["item"] for one in answer.json()["next"]]
    assert Assignment.objects.get(item__public_id=item).skip_reason == "other: I wrote it"


@pytest.mark.parametrize("words", ["", "  ", "a\0b", "x" * 501])
def test_a_skip_needs_a_reason_that_can_be_stored(words: str) -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    given = {"item": in_hand(rater)[0], "words": words}
    answer = browser.post(address("rating-skip", campaign), given, **JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["words"])


def test_a_pause_gives_the_items_back_and_says_so() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    in_hand(rater)
    page = browser.post(address("rating-leave", campaign), follow=True)
    assert "All your ratings are stored" in page.content.decode()
    assert set(rater.assignments.values_list("state", flat=True)) == {"returned"}


def test_the_heartbeat_says_until_when_items_are_kept() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    assert browser.post(address("rating-heartbeat", campaign)).json() == {"kept_until": None}
    in_hand(rater)
    assert browser.post(address("rating-heartbeat", campaign)).json()["kept_until"] is not None


@pytest.mark.parametrize(
    "name", ["rating-submit", "rating-skip", "rating-heartbeat", "rating-leave"]
)
def test_what_changes_something_is_a_post(name: str) -> None:
    campaign = made_campaign()
    _, browser = a_rater(campaign)
    assert browser.get(address(name, campaign)).status_code == 405


def test_all_rated_is_said() -> None:
    campaign = made_campaign(systems=("only",), dialogues=1, turns=1)
    rater, browser = a_rater(campaign)
    assert send(browser, campaign, in_hand(rater)[0]).json()["ended"] == "finished"
    assert (
        "You have rated all of it" in browser.get(address("rating-work", campaign)).content.decode()
    )


def test_what_others_hold_is_said_to_be_held() -> None:
    campaign = made_campaign(systems=("only",), dialogues=1, turns=1, k=1)
    in_hand(made_raters(campaign, 1)[0])
    _, browser = a_rater(campaign)
    assert (
        "Others hold what is left" in browser.get(address("rating-work", campaign)).content.decode()
    )


def test_an_exclusion_is_said_without_its_reason() -> None:
    """The organiser's words may name a system."""
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    Participation.objects.filter(pk=rater.pk).update(
        state="excluded", exclusion_reason="always 5 for northwind", excluded_at=rater.joined_at
    )
    text = browser.get(address("rating-work", campaign)).content.decode()
    assert "Your part has ended" in text
    assert "northwind" not in text


def test_an_interactive_item_leads_to_its_chat() -> None:
    campaign = made_campaign("interactive")
    rater, browser = a_rater(campaign)
    answer = browser.get(address("rating-work", campaign))
    conversation = rater.assignments.get().conversation
    assert answer.headers["Location"] == reverse(
        "chat", args=[campaign.slug, conversation.public_id]
    )


def test_the_rating_page_of_a_chat_under_way_leads_back_to_the_chat() -> None:
    campaign = made_campaign("interactive")
    rater, browser = a_rater(campaign)
    browser.get(address("rating-work", campaign))
    item = rater.assignments.get().item.public_id
    answer = browser.get(address("rating-work", campaign) + f"?item={item}", follow=True)
    assert answer.redirect_chain[0][0] == address("rating-work", campaign)
    refused = send(browser, campaign, item, 4)
    assert (refused.status_code, refused.json()["stored"]) == (409, False)


def test_shares_are_the_slots_divided_by_the_raters() -> None:
    """12 items × 2 places = 24; four raters: 6 each."""
    campaign = made_campaign()
    rater = made_raters(campaign, 4)[0]
    assert queries.progress_of(rater).as_json() == {"done": 0, "total": 6}


# --- blindness ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["turn", "dialogue"])
def test_nothing_that_the_browser_gets_names_a_system(kind: str) -> None:
    """Every page and answer of a whole session, with its headers."""
    campaign = made_campaign(
        kind, systems=("zephyrine", "quillback"), attention=[(1, 1)], axes_below=3
    )
    rater, browser = a_rater(campaign)
    names = ["rating-start", "rating-guidelines", "rating-work"]
    received = [
        browser.get(reverse("rate")),
        *(browser.get(address(name, campaign)) for name in names),
    ]
    while items := in_hand(rater):
        received += [send(browser, campaign, item, 3) for item in items]
        received.append(browser.get(address("rating-work", campaign), {"item": items[0]}))
    received.append(browser.get(address("rating-work", campaign)))
    everything = "\n".join(f"{one.headers}{one.content.decode()}" for one in received)
    everything += json.dumps([one.headers.get("Set-Cookie", "") for one in received])
    secret = ["zephyrine", "quillback", campaign.version.corpus.slug, "file-0", "file-1"]
    assert [name for name in secret if name in everything] == []
    assert System.objects.filter(name="zephyrine").exists()
    assert len(received) > 10


def test_no_primary_key_is_in_the_item() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    start = 987_654
    item = Item.objects.create(
        pk=start,
        campaign=campaign,
        role="training",
        dialogue=campaign.version.dialogues.first(),
        turn=campaign.version.dialogues.first().turns.first(),
        texts=["hm"],
        lowest=1,
        highest=2,
    )
    Participation.objects.filter(pk=rater.pk).update(qualification="open")
    text = browser.get(address("rating-work", campaign)).content.decode()
    assert f'data-item="{item.public_id}"' in text
    assert str(start) not in text


def test_a_submit_with_the_next_item_needs_few_queries(django_assert_max_num_queries: Any) -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    send(browser, campaign, first, have=[first, second])
    first, second = in_hand(rater)
    with django_assert_max_num_queries(17):
        send(browser, campaign, first, have=[first, second])


def test_leases_are_kept_by_a_heartbeat_well_before_they_end() -> None:
    campaign = made_campaign()
    _, browser = a_rater(campaign)
    text = browser.get(address("rating-work", campaign)).content.decode()
    assert f'data-heartbeat-seconds="{settings.RATING_LEASE_SECONDS / 4}"' in text


def test_a_finished_chat_is_rated_as_a_dialogue() -> None:
    campaign = made_campaign("interactive", axes_below=3)
    rater, browser = a_rater(campaign)
    in_hand(rater)
    assignment = rater.assignments.first()
    conversation = Conversation.objects.create(assignment=assignment, finished_at=timezone.now())
    for number, (speaker, text) in enumerate(
        [("A", "Hello there"), ("B", "Good day"), ("A", "And you?")]
    ):
        Message.objects.create(
            conversation=conversation, number=number, speaker=speaker, text=text, key=str(number)
        )
    (view,) = queries.assignment_views([assignment])
    assert [(line.text, line.judged) for line in view.parts[0].lines] == [
        ("Hello there", False),
        ("Good day", True),
        ("And you?", False),
    ]
    page = browser.get(address("rating-work", campaign))
    assert "answer 1, to rate" in page.content.decode()
    document = send(browser, campaign, view.public_id, 4).json()
    # The next chat comes first
    assert (document["stored"], document["next"], document["ended"]) == (True, [], "")
