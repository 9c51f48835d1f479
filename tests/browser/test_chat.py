"""A rater chats with a system in a browser: two rounds by keyboard, an answer that fails, the end,
the rating."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.site import wait_until
from tests.workers.endpoint import StubEndpoint, stub_endpoint

PASSWORD = "open the door please"
ANSWERED = 240_000
"""The worker may have statistics to compute before."""


@pytest.fixture
def endpoint() -> Iterator[StubEndpoint]:
    with stub_endpoint() as stub:
        yield stub


@pytest.fixture
def chat(stage: Stage, endpoint: StubEndpoint) -> tuple[str, str]:
    """The address of a chat of at most six utterances, and its rater's log-in."""
    return new_chat(stage, endpoint.base_url)


def new_chat(stage: Stage, base_url: str) -> tuple[str, str]:
    made = stage.python(
        "import secrets\n"
        "from django.utils import timezone\n"
        "from annotations.campaigns.models import Guidelines, Participation\n"
        "from annotations.models import Corpus\n"
        "from tests.workers.chats import made_chat\n"
        "import tests.campaigns.sets as sets, itertools\n"
        "sets._numbers = itertools.count(secrets.randbelow(10**9) + 10**6)\n"
        f"chat = made_chat(base_url={base_url!r}, system='stub ' + secrets.token_hex(4))\n"
        "rater = chat.assignment.participation\n"
        f"rater.user.set_password({PASSWORD!r})\n"
        "rater.user.save()\n"
        "newest = Guidelines.objects.filter(campaign=rater.campaign).first()\n"
        "Participation.objects.filter(pk=rater.pk).update(guidelines_read=newest)\n"
        "print(rater.campaign.slug, chat.public_id, rater.user.username)"
    )
    slug, public_id, name = made.split()
    return f"/rate/{slug}/chat/{public_id}/", name


def turn(page: Page, state: str, milliseconds: float = ANSWERED) -> None:
    page.locator(f"#chat-state[data-turn={state}]").wait_for(state="attached", timeout=milliseconds)


def say(page: Page, words: str) -> None:
    page.get_by_label("Your message").fill(words)
    page.keyboard.press("Enter")


def test_who_logged_in_again_elsewhere_sends_what_was_kept(
    visit: Callable[..., Visit], chat: tuple[str, str]
) -> None:
    address, name = chat
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    page.context.clear_cookies(name="sessionid")
    visitor.expected_status = {401}
    say(page, "Hello there.")
    expect(page.get_by_role("alert")).to_contain_text("You are logged out. Your message is kept.")
    visitor.log_in_again(name, PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_text("You said: Hello there.").wait_for(timeout=ANSWERED)
    expect(page.get_by_text("You are logged out.")).to_be_hidden()
    # Htmx's own
    visitor.complaints = [text for text in visitor.complaints if "Error Code 401" not in text]


def test_a_message_that_was_corrected_after_a_lost_answer_is_another_one(
    visit: Callable[..., Visit], chat: tuple[str, str]
) -> None:
    """The first was stored, only its answer was lost. The second may not be taken for it and thrown
    away."""
    address, name = chat
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/say/", lose)
    say(page, "I has a dog.")
    expect(page.get_by_role("alert")).to_contain_text("It could not be sent.")
    page.unroute("**/say/")
    # this page does not ask for it: it does not know that the message is there
    answered = "You said: I has a dog."
    wait_until(
        lambda: answered in page.context.request.get(address).text(), 60, "the partner has answered"
    )
    say(page, "I have a dog.")
    page.get_by_text("You said: I has a dog.").wait_for(timeout=ANSWERED)
    page.get_by_text("You said: I have a dog.").wait_for(timeout=ANSWERED)
    visitor.complaints = [
        text for text in visitor.complaints if "ERR_FAILED" not in text and "htmx" not in text
    ]


def test_a_chat_that_was_ended_in_another_tab_leads_to_its_rating(
    visit: Callable[..., Visit], chat: tuple[str, str], stage: Stage
) -> None:
    address, name = chat
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    public_id = address.strip("/").split("/")[-1]
    stage.python(
        "from django.utils import timezone; from annotations.campaigns.models import "
        "Conversation as "
        f"C;C.objects.filter(public_id='{public_id}').update(finished_at=timezone.now())"
    )
    visitor.expected_status = {409}
    say(page, "Are you still there?")
    page.get_by_role("link", name="Go on to the rating").wait_for()


@pytest.mark.slow
def test_two_rounds_by_keyboard_then_the_end_and_the_rating(
    visit: Callable[..., Visit], chat: tuple[str, str], endpoint: StubEndpoint
) -> None:
    address, name = chat
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    assert page.evaluate("document.activeElement.id") == "id_text"
    say(page, "Hello, how was your day?")
    page.get_by_text("You said: Hello, how was your day?").wait_for(timeout=ANSWERED)
    turn(page, "yours")
    assert page.get_by_label("Your message").input_value() == ""
    assert page.evaluate("document.activeElement.id") == "id_text"
    assert page.get_by_role("button", name="End and rate").count() == 0
    page.get_by_label("Your message").type("Two")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("lines.")
    page.keyboard.press("Enter")
    page.get_by_text("That was your message number 2.").wait_for(timeout=ANSWERED)
    turn(page, "yours")
    assert page.locator("#chat > li").count() == 4
    assert page.locator("#chat > li").nth(2).locator("p").inner_text() == "Two\nlines."
    assert "4 of 6 messages" in page.locator("#chat-foot").inner_text()
    assert_everybody_can_use(page)
    page.get_by_role("button", name="End and rate").click()
    page.wait_for_url("**/item/")
    assert "That was your message number 2." in page.content()
    assert [len(asked["messages"]) for asked in endpoint.asked] == [2, 4]


@pytest.mark.slow
def test_an_answer_that_fails_is_told_and_asked_for_again(
    visit: Callable[..., Visit], chat: tuple[str, str], endpoint: StubEndpoint
) -> None:
    address, name = chat
    endpoint.answer = lambda asked: 404
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    say(page, "Hello.")
    page.get_by_text("Your partner did not answer. Nothing is lost").wait_for(timeout=ANSWERED)
    said = page.locator("main").inner_text()
    # The campaign's own name is a number in which it may occur
    assert not re.search(r"\b404\b", said), said
    endpoint.answer = lambda asked: "Here I am."
    page.get_by_role("button", name="Ask again").click()
    page.get_by_text("Here I am.").wait_for(timeout=ANSWERED)
    turn(page, "yours")
    assert page.locator("#chat > li").count() == 2


def test_a_message_that_cannot_be_sent_stays_and_is_sent_once(
    visit: Callable[..., Visit], chat: tuple[str, str], endpoint: StubEndpoint
) -> None:
    address, name = chat
    visitor = visit(width=390, scheme="dark")
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    page.context.set_offline(True)
    say(page, "Can you hear me?")
    page.get_by_text("It could not be sent. Your message is kept").wait_for()
    assert page.get_by_label("Your message").input_value() == "Can you hear me?"
    page.context.set_offline(False)
    page.get_by_label("Your message").press("Enter")
    page.get_by_text("You said: Can you hear me?").wait_for(timeout=ANSWERED)
    turn(page, "yours")
    assert page.locator("#chat > li").count() == 2
    assert visitor.scroll_width() <= 390
    # the browser and htmx note the request that failed; nothing else may have complained
    expected = ("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    assert [one for one in visitor.complaints if not any(word in one for word in expected)] == []
    visitor.complaints.clear()


def test_what_was_typed_is_there_after_a_reload(
    visit: Callable[..., Visit], chat: tuple[str, str]
) -> None:
    address, name = chat
    visitor = visit()
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    page.get_by_label("Your message").type("Half a thought")
    page.reload()
    assert page.get_by_label("Your message").input_value() == "Half a thought"


def test_without_javascript_a_chat_goes_on_by_looking_again(
    visit: Callable[..., Visit], chat: tuple[str, str]
) -> None:
    address, name = chat
    visitor = visit(script=False)
    visitor.log_in(name, PASSWORD)
    page = visitor.go(address)
    page.get_by_label("Your message").fill("Hello.")
    page.get_by_role("button", name="Send").click()
    for _ in range(240):
        page.goto(address)
        if page.get_by_text("You said: Hello.").count():
            break
        page.get_by_role("link", name="Refresh").click()
        page.wait_for_timeout(250)
    assert page.locator("#chat > li").count() == 2


def test_an_organiser_registers_a_system_and_tries_it(
    visit: Callable[..., Visit], endpoint: StubEndpoint
) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/chat-systems/")
    page.get_by_label("Name").fill("Registered in a browser")
    page.get_by_label("Address of the endpoint").fill(endpoint.base_url)
    page.get_by_label("Model").fill("stub")
    page.get_by_role("button", name="Register").click()
    page.get_by_label("What you say to it").fill("Who are you?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("You said: Who are you?").wait_for(timeout=ANSWERED)
    assert "seed:" in page.locator("#trial code").inner_text()
    assert_everybody_can_use(page)
