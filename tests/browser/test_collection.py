"""Two browsers at once: two raters meet, write a dialogue in turn, lose the connection, come back,
finish."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Held, Visit

PASSWORD = "open the door please"
UTTERANCES = 14
A_POLL = 2_000
"""Milliseconds between two questions of a room for new lines."""

Pair = tuple[Visit, Visit]


def make_campaign(stage: Stage, slug: str, utterances: int) -> list[str]:
    """An open collection with two raters; returns their user names."""
    code = f"""
import json
from django.contrib.auth import get_user_model
from annotations.campaigns.models import Participation
from tests.campaigns.sets import made_campaign
campaign = made_campaign("collection", slug={slug!r}, utterances={utterances})
campaign.guidelines.all().delete()
names = ["{slug}-" + word for word in ("amber", "birch")]
for position, name in enumerate(names):
    user = get_user_model().objects.create_user(name, password={PASSWORD!r})
    Participation.objects.create(campaign=campaign, user=user, position=position)
print(json.dumps(names))
"""
    return list(json.loads(stage.python(code)))


def lines_of(stage: Stage, slug: str) -> list[list[str]]:
    code = f"""
import json
from annotations.campaigns.models import Line
lines = Line.objects.filter(room__campaign__slug={slug!r}).order_by("number")
print(json.dumps(list(lines.values_list("speaker", "text"))))
"""
    return list(json.loads(stage.python(code)))


@pytest.fixture
def meeting(stage: Stage, visit: Callable[..., Visit]) -> Callable[..., Pair]:
    def meet(slug: str, utterances: int = UTTERANCES, **window: object) -> Pair:
        visits = []
        for name in make_campaign(stage, slug, utterances):
            one = visit(**window)
            one.log_in(name, PASSWORD)
            one.go(f"/rate/{slug}/meet/")
            one.page.get_by_role("button", name="Meet a partner").click()
            visits.append(one)
        for one in visits if window.get("script", True) else ():
            # The first one's page came anew
            expect(one.page.get_by_label("Your next utterance")).to_be_visible()
            one.page.wait_for_load_state("load")  # before its script has run, a page hears no key
        return visits[0], visits[1]

    return meet


@pytest.mark.slow
def test_two_raters_write_a_whole_dialogue_by_keyboard(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    """Each types while the other's turn lasts, and Enter sends when the own turn has come. The
    pages' clocks jump to where they ask for new lines, as they do by themselves in the tests
    below."""
    first, second = meeting("whole-dialogue")
    pages = first.page, second.page
    for page in pages:
        page.clock.install()
        page.reload()
    texts = [f"Utterance {number}, said by {'AB'[number % 2]}." for number in range(UTTERANCES)]
    expect(pages[0].get_by_text("You begin.")).to_be_visible()
    expect(pages[1].get_by_text("Your partner writes.")).to_be_visible()
    for number, text in enumerate(texts):
        writer, reader = pages[number % 2], pages[(number + 1) % 2]
        if number + 1 < UTTERANCES:
            reader.get_by_label("Your next utterance").fill(texts[number + 1])
        if number == 0:
            writer.get_by_label("Your next utterance").fill(text)
        expect(writer.get_by_role("button", name="Send")).to_be_enabled()
        writer.get_by_label("Your next utterance").press("Enter")
        if number + 1 < UTTERANCES:
            expect(writer.get_by_label("Your next utterance")).to_have_value("")  # the site has it
            reader.clock.fast_forward(A_POLL)
            expect(reader.locator(".chat .bubble p").last).to_have_text(text)
            expect(reader.locator("#room-status")).to_contain_text(f"{number + 1} of {UTTERANCES}")
    for page in pages:
        expect(page.get_by_role("heading", name="The dialogue is finished")).to_be_visible()
        expect(page.locator(".chat .bubble p")).to_have_text(texts)
        expect(page.get_by_role("button", name="Meet another partner")).to_be_visible()
    assert lines_of(stage, "whole-dialogue") == [
        ["AB"[number % 2], text] for number, text in enumerate(texts)
    ]


@pytest.mark.slow
def test_own_words_stand_right_and_only_the_own_persona_shows(meeting: Callable[..., Pair]) -> None:
    first, second = meeting("own-side")
    first.page.get_by_label("Your next utterance").fill("Hello there.")
    first.page.get_by_role("button", name="Send").click()
    expect(second.page.locator(".bubble", has_text="Hello there.")).to_contain_text("Your partner")
    expect(first.page.locator(".bubble", has_text="Hello there.")).to_contain_text("You")
    personas = [
        set(one.page.locator(".own-persona li").all_inner_texts()) for one in (first, second)
    ]
    assert len(personas[0]) >= 5
    assert not personas[0] & personas[1]
    assert "own-side-amber" not in second.page.content()
    assert_everybody_can_use(second.page)


@pytest.mark.slow
def test_without_a_connection_the_text_waits_and_is_sent_once(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    first, second = meeting("offline")
    page = first.page
    expect(page.get_by_text("You begin.")).to_be_visible()
    page.context.set_offline(True)
    page.get_by_label("Your next utterance").fill("Can you hear me?")
    page.get_by_label("Your next utterance").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not sent yet. Your text is kept here")
    assert page.get_by_label("Your next utterance").input_value() == "Can you hear me?"
    page.context.set_offline(False)
    expect(second.page.locator(".bubble p")).to_have_text("Can you hear me?")
    expect(page.get_by_label("Your next utterance")).to_have_value("")
    assert lines_of(stage, "offline") == [["A", "Can you hear me?"]]
    first.complaints = [
        one
        for one in first.complaints
        if "ERR_INTERNET_DISCONNECTED" not in one and "htmx" not in one
    ]


def test_who_logged_in_again_elsewhere_sends_what_was_kept(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    first, second = meeting("logged-out-room")
    expect(first.page.get_by_text("You begin.")).to_be_visible()
    first.expected_status = {401}  # the page asks every two seconds, between the two log-ins too
    first.log_in_again("logged-out-room-amber", PASSWORD)
    first.page.get_by_label("Your next utterance").fill("Here I am again.")
    first.page.get_by_label("Your next utterance").press("Enter")
    expect(second.page.locator(".bubble p")).to_have_text("Here I am again.")
    # Htmx's own
    first.complaints = [one for one in first.complaints if "Error Code 401" not in one]


def test_a_room_stays_as_it_is_while_its_rater_is_logged_out(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    first, second = meeting("logged-out-while-waiting")
    text = first.page.get_by_label("Your next utterance")
    text.fill("Half of a sente")
    first.expected_status = {401}
    first.page.context.clear_cookies(name="sessionid")
    said = first.page.get_by_role("alert").filter(
        has_text="You are logged out. What you typed is still here."
    )
    expect(said).to_be_visible()
    expect(text).to_have_value("Half of a sente")
    expect(first.page.get_by_label("Password")).to_have_count(0)
    first.log_in_again("logged-out-while-waiting-amber", PASSWORD)
    expect(first.page.get_by_text("What you typed is still here.")).to_have_count(0)
    text.press("Enter")
    expect(second.page.locator(".bubble p")).to_have_text("Half of a sente")
    # Htmx's own
    first.complaints = [one for one in first.complaints if "Error Code 401" not in one]


@pytest.mark.slow
def test_an_answer_that_is_lost_is_asked_for_again_and_stored_once(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    first, _ = meeting("lost-answer")
    page = first.page
    tries = []

    def lose_the_first_answer(route: object) -> None:
        tries.append(1)
        if len(tries) == 1:
            route.fetch()  # type: ignore[attr-defined]  # the server stores it
            route.fulfill(status=502, body="bad gateway")  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    expect(page.get_by_text("You begin.")).to_be_visible()
    page.route("**/say/", lose_the_first_answer)
    page.get_by_label("Your next utterance").fill("Only once, please.")
    page.get_by_label("Your next utterance").press("Enter")
    expect(page.get_by_label("Your next utterance")).to_have_value("")
    assert len(tries) == 2
    assert lines_of(stage, "lost-answer") == [["A", "Only once, please."]]
    first.complaints = [one for one in first.complaints if "status of 502" not in one]


@pytest.mark.slow
def test_a_draft_outlives_a_reload_and_stays_in_a_narrow_dark_window(
    meeting: Callable[..., Pair],
) -> None:
    first, second = meeting("draft", width=390, scheme="dark")
    text = "A sentence that I have not sent. " * 8
    second.page.get_by_label("Your next utterance").fill(text)
    second.page.reload()
    assert second.page.get_by_label("Your next utterance").input_value() == text
    first.page.get_by_label("Your next utterance").fill("Donaudampfschifffahrt" * 20)
    first.page.get_by_role("button", name="Send").click()
    expect(second.page.locator(".bubble")).to_have_count(1)
    for one in (first, second):
        assert one.scroll_width() <= 390


def test_what_is_typed_before_the_script_is_there_outlives_a_reload(
    meeting: Callable[..., Pair],
) -> None:
    """On a slow line the page can be written in before its scripts have come."""
    _, second = meeting("early")
    page = second.page
    expect(page.get_by_label("Your next utterance")).to_be_visible()
    held = Held(page, "**/room*.js")
    page.reload(wait_until="commit")
    page.get_by_label("Your next utterance").fill("Typed early.")
    held.request(0).continue_()
    page.unroute("**/room*.js")
    page.wait_for_load_state("load")
    page.reload()
    assert page.get_by_label("Your next utterance").input_value() == "Typed early."


def test_who_is_left_behind_is_told_and_can_meet_someone_else(meeting: Callable[..., Pair]) -> None:
    first, second = meeting("left-behind")
    second.page.get_by_text("Leave this dialogue").click()
    second.page.get_by_role("button", name="End the dialogue").click()
    expect(second.page.get_by_text("You can meet someone else.")).to_be_visible()
    expect(first.page.get_by_role("heading", name="The dialogue ended early")).to_be_visible()
    first.page.get_by_role("button", name="Meet another partner").click()
    expect(first.page.get_by_role("heading", name="Waiting for a partner")).to_be_visible()


@pytest.mark.slow
def test_without_javascript_a_dialogue_is_written_by_forms(
    stage: Stage, meeting: Callable[..., Pair]
) -> None:
    first, second = meeting("forms", utterances=4, script=False)
    for number in range(4):
        writer = (first, second)[number % 2]
        writer.page.reload()
        writer.page.get_by_label("Your next utterance").fill(f"Line {number}.")
        writer.page.get_by_role("button", name="Send").click()
    expect(second.page.get_by_role("heading", name="The dialogue is finished")).to_be_visible()
    assert [text for _, text in lines_of(stage, "forms")] == [
        f"Line {number}." for number in range(4)
    ]
