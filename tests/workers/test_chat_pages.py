"""The rater's chat page and the organiser's pages of chat systems, as requests."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Assignment, Campaign, ChatSystem, Conversation, Message
from tests.campaigns.sets import made_user
from tests.workers.chats import INSTRUCTIONS, SYSTEM, answered, chat_of_new_rater, made_chat, rows

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


@pytest.fixture
def conversation() -> Conversation:
    return made_chat(utterances=6)


@pytest.fixture
def rater(conversation: Conversation) -> Client:
    return logged_in(conversation.assignment.participation.user)


def logged_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(conversation: Conversation, name: str = "chat") -> str:
    return reverse(name, args=[conversation.assignment.item.campaign.slug, conversation.public_id])


def post(
    client: Client, conversation: Conversation, name: str, data: dict | None = None, **headers: str
):
    return client.post(address(conversation, name), data or {}, **headers)


def exchange(conversation: Conversation, number: int, text: str = "Yes.") -> None:
    chat.say(conversation, f"question {number}", f"key-{number}")
    answered(conversation, text)


# --- who may --------------------------------------------------------------------------------------


def test_only_the_rater_whose_chat_it_is_sees_it(conversation: Conversation, rater: Client) -> None:
    stranger = logged_in(made_user())
    colleague = logged_in(
        chat_of_new_rater(conversation.assignment.item.campaign).assignment.participation.user
    )
    organiser = logged_in(made_user("", "organiser"))
    assert rater.get(address(conversation)).status_code == 200
    for client in (stranger, colleague, organiser):
        assert client.get(address(conversation)).status_code == 404
        assert client.get(address(conversation, "chat-messages")).status_code == 404
        for name in ("chat-say", "chat-again", "chat-end"):
            assert post(client, conversation, name, {"text": "Hello."}).status_code == 404
    assert rows(conversation) == []


def test_who_is_not_logged_in_is_led_to_the_log_in_page_and_a_page_s_own_request_is_told(
    conversation: Conversation,
) -> None:
    client = Client()
    assert reverse("login") in client.get(address(conversation)).headers["Location"]
    told = client.get(address(conversation, "chat-messages"), HTTP_ACCEPT="application/json")
    assert (told.status_code, told.json()["login"]) == (401, reverse("login"))


@pytest.mark.parametrize("name", ["chat-say", "chat-again", "chat-end"])
def test_what_writes_cannot_be_read(conversation: Conversation, rater: Client, name: str) -> None:
    assert rater.get(address(conversation, name)).status_code == 405


# --- talking --------------------------------------------------------------------------------------


def test_the_rater_sees_the_own_persona_and_not_the_partner_s(
    conversation: Conversation, rater: Client
) -> None:
    page = rater.get(address(conversation)).content.decode()
    assert "I have 2 cats." in page
    assert "bicycles" not in page


def test_without_javascript_a_message_leads_back_to_the_page_where_it_stands(
    conversation: Conversation, rater: Client
) -> None:
    response = post(rater, conversation, "chat-say", {"text": "Hello.", "key": "k1"})
    assert (response.status_code, response.headers["Location"]) == (302, address(conversation))
    page = rater.get(address(conversation)).content.decode()
    assert "Hello." in page
    assert "Your partner is writing" in page
    assert "Refresh" in page


def test_with_javascript_only_what_is_new_comes_back(
    conversation: Conversation, rater: Client
) -> None:
    exchange(conversation, 0)
    response = post(
        rater, conversation, "chat-say", {"text": "And you?", "key": "k", "after": "1"}, **HTMX
    )
    told = response.content.decode()
    assert response.status_code == 200
    assert "And you?" in told
    assert "question 0" not in told
    assert 'data-turn="theirs"' in told
    assert "<html" not in told


def test_while_the_system_writes_there_is_nothing_to_show(
    conversation: Conversation, rater: Client
) -> None:
    chat.say(conversation, "Hello.", "k")
    news = f"{address(conversation, 'chat-messages')}?after="
    assert rater.get(news + "0", **HTMX).status_code == 204
    # Another tab that does not show the message yet
    assert rater.get(news + "-1", **HTMX).status_code == 200
    answered(conversation, "Good morning.")
    told = rater.get(news + "0", **HTMX)
    assert "Good morning." in told.content.decode()
    assert 'data-turn="yours"' in told.content.decode()


@pytest.mark.parametrize("after", ["", "x", "-7", "99999999999999999999", "١", "1e3", "%00"])
def test_nonsense_after_means_from_the_beginning(
    conversation: Conversation, rater: Client, after: str
) -> None:
    exchange(conversation, 0)
    told = rater.get(f"{address(conversation, 'chat-messages')}?after={after}", **HTMX)
    assert told.status_code == 200
    assert "question 0" in told.content.decode()


@pytest.mark.parametrize(
    ("text", "error"),
    [("", "is empty"), ("   ", "is empty"), ("a\0b", "NUL"), ("x" * 2001, "2,001 characters")],
)
def test_what_cannot_be_stored_is_refused_and_stays_in_its_field(
    conversation: Conversation, rater: Client, text: str, error: str
) -> None:
    for headers in ({}, HTMX):
        response = post(rater, conversation, "chat-say", {"text": text, "key": "k1"}, **headers)
        assert response.status_code == 422
        assert error in response.content.decode()
    if text.startswith("x"):
        assert text in post(rater, conversation, "chat-say", {"text": text}).content.decode()
    assert rows(conversation) == []


def test_a_key_that_is_none_is_refused(conversation: Conversation, rater: Client) -> None:
    for key in ("a b", "x" * 65, "<b>"):
        assert (
            post(rater, conversation, "chat-say", {"text": "Hello.", "key": key}).status_code == 422
        )
    assert rows(conversation) == []


def test_out_of_turn_it_says_so_and_keeps_the_words(
    conversation: Conversation, rater: Client
) -> None:
    chat.say(conversation, "Hello.", "k1")
    response = post(rater, conversation, "chat-say", {"text": "Are you there?", "key": "k2"})
    assert response.status_code == 409
    assert "has not answered yet" in response.content.decode()
    assert "Are you there?" in response.content.decode()
    assert len(rows(conversation)) == 2


def test_a_retried_request_is_one_message(conversation: Conversation, rater: Client) -> None:
    for _ in range(3):
        assert (
            post(
                rater, conversation, "chat-say", {"text": "Hello.", "key": "k1"}, **HTMX
            ).status_code
            == 200
        )
    assert len(rows(conversation)) == 2


def test_markup_is_shown_as_it_was_written(conversation: Conversation, rater: Client) -> None:
    exchange(conversation, 0, "<script>alert('b')</script>")
    post(rater, conversation, "chat-say", {"text": "<img src=x onerror=alert(1)>", "key": "k9"})
    page = rater.get(address(conversation)).content.decode()
    assert "&lt;script&gt;alert(&#x27;b&#x27;)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in page


def test_speaking_keeps_the_item_in_hand(conversation: Conversation, rater: Client) -> None:
    before = Assignment.objects.get().lease_expires_at
    Assignment.objects.update(lease_expires_at=before.replace(year=before.year - 1))
    post(rater, conversation, "chat-say", {"text": "Hello.", "key": "k1"})
    assert Assignment.objects.get().lease_expires_at.year == before.year


# --- when it goes wrong, and the end --------------------------------------------------------------


def failed(conversation: Conversation) -> None:
    chat.say(conversation, "Hello.", "k1")
    Message.objects.filter(state="pending").update(
        state="failed", error="APIConnectionError: secret-host refused"
    )


def test_the_rater_is_told_that_no_answer_came_and_not_why(
    conversation: Conversation, rater: Client
) -> None:
    failed(conversation)
    for page in (
        rater.get(address(conversation)),
        rater.get(address(conversation, "chat-messages"), **HTMX),
    ):
        told = page.content.decode()
        assert "did not answer" in told
        assert "Ask again" in told
        assert "secret-host" not in told
        assert "APIConnectionError" not in told


def test_asking_again_waits_anew(conversation: Conversation, rater: Client) -> None:
    failed(conversation)
    response = post(rater, conversation, "chat-again", {"after": "0"}, **HTMX)
    assert 'data-turn="theirs"' in response.content.decode()
    assert rows(conversation)[-1][2] == "pending"
    # Twice, without JavaScript: harmless
    assert post(rater, conversation, "chat-again").status_code == 302


def test_the_end_leads_to_the_rating(conversation: Conversation, rater: Client) -> None:
    work = reverse("rating-work", args=[conversation.assignment.item.campaign.slug])
    assert post(rater, conversation, "chat-end").status_code == 409  # nothing was said yet
    exchange(conversation, 0)
    exchange(conversation, 1)
    assert "End and rate" in rater.get(address(conversation)).content.decode()
    assert post(rater, conversation, "chat-end").headers["Location"] == work
    assert rater.get(address(conversation)).headers["Location"] == work
    assert post(rater, conversation, "chat-end").headers["Location"] == work
    assert post(rater, conversation, "chat-say", {"text": "Wait."}).headers["Location"] == work


def test_an_item_that_was_given_back_leads_to_the_work(
    conversation: Conversation, rater: Client
) -> None:
    Assignment.objects.update(state=Assignment.State.RETURNED)
    work = reverse("rating-work", args=[conversation.assignment.item.campaign.slug])
    assert rater.get(address(conversation)).headers["Location"] == work
    assert post(rater, conversation, "chat-say", {"text": "Hello."}).headers["Location"] == work
    assert post(rater, conversation, "chat-say", {"text": "Hello."}, **HTMX).status_code == 409


# --- blindness ------------------------------------------------------------------------------------


def everything_a_rater_gets(base_url: str, system: str) -> str:
    """Bodies and headers of every answer in a chat from its beginning to its end, with one answer
    that failed."""
    conversation = made_chat(
        base_url=base_url,
        system=system,
        instructions=f"{INSTRUCTIONS} Secret of {system}.",
        temperature=1.25,
    )
    ChatSystem.objects.filter(name=system).update(model=f"{system}-model-7b")
    Campaign.objects.filter(pk=conversation.assignment.item.campaign_id).update(
        slug=f"talk-{system[:1]}"
    )
    conversation = Conversation.objects.get(pk=conversation.pk)
    client = logged_in(conversation.assignment.participation.user)
    got = []

    def keep(response) -> None:
        got.append(f"{response.headers}\n{response.content.decode()}")

    keep(client.get(address(conversation)))
    keep(post(client, conversation, "chat-say", {"text": "Hello.", "key": "k1"}, **HTMX))
    keep(client.get(address(conversation)))
    Message.objects.filter(state="pending").update(
        state="failed", error=f"{system} at {base_url} is down"
    )
    keep(client.get(address(conversation, "chat-messages"), **HTMX))
    keep(client.get(address(conversation)))
    keep(post(client, conversation, "chat-again", **HTMX))
    Message.objects.filter(state="pending").update(
        state="done", text="Yes.", signature=f"model:{system}-model-7b"
    )
    keep(client.get(address(conversation, "chat-messages"), **HTMX))
    exchange(conversation, 5)
    keep(client.get(address(conversation)))
    keep(post(client, conversation, "chat-end"))
    return "\n".join(got)


def test_nothing_that_a_rater_gets_tells_which_system_it_is() -> None:
    got = everything_a_rater_gets("http://endpoint.example.org:4321/v1", "Quetzalcoatl")
    for secret in (
        "Quetzalcoatl",
        "model-7b",
        "endpoint.example.org",
        "4321",
        "Secret of",
        "1.25",
        "bicycles",
    ):
        assert secret.lower() not in got.lower(), secret


def test_two_systems_look_the_same_but_for_random_names() -> None:
    pages = [
        everything_a_rater_gets("http://one.example.org/v1", "Alpha"),
        everything_a_rater_gets("", "Omega"),
    ]
    assert _without_what_is_random(pages[0]) == _without_what_is_random(pages[1])


def _without_what_is_random(page: str) -> str:
    page = re.sub(r"/chat/[\w-]{16}/", "/chat/…/", page)
    # Public ids, keys, form tokens
    page = re.sub(r'(data-chat|value)="[\w-]{16,64}"', r'\1="…"', page)
    page = re.sub(r"talk-[AO]", "talk", page)
    page = re.sub(r"'X-Request-ID': '\w+'", "", page)
    page = re.sub(r"(Campaign|person)[ -]\d+", r"\1", page)
    return re.sub(r"\d\d:\d\d:\d\d", "", page)


# --- the organiser's systems ----------------------------------------------------------------------


@pytest.fixture
def organiser() -> Client:
    return logged_in(made_user("", "organiser"))


GIVEN = {
    "name": "Brook",
    "base_url": "https://api.example.org/v1/",
    "model": "brook-2",
    "key_variable": "DIALEVAL_CHAT_KEY_BROOK",
    "instructions": "You are {persona}",
    "temperature": "0.5",
    "max_tokens": "80",
}


def test_only_organisers_register_and_try_systems() -> None:
    system = ChatSystem.objects.create(name="Brook", instructions="x")
    addresses = [reverse("chat-systems"), reverse("chat-system", args=[system.pk])]
    for name, status in (("rater", 403), ("participant", 403), ("organiser", 200)):
        client = logged_in(made_user("", name))
        assert [client.get(one).status_code for one in addresses] == [status, status]
    assert Client().get(addresses[0]).status_code == 302
    assert (
        logged_in(made_user()).post(reverse("chat-system-try", args=[system.pk])).status_code == 403
    )


def test_a_system_is_registered_with_what_was_given(organiser: Client) -> None:
    response = organiser.post(reverse("chat-systems"), GIVEN)
    system = ChatSystem.objects.get()
    assert response.headers["Location"] == reverse("chat-system", args=[system.pk])
    assert (system.name, system.base_url, system.model) == (
        "Brook",
        "https://api.example.org/v1",
        "brook-2",
    )
    assert (system.key_variable, system.temperature, system.max_tokens) == (
        "DIALEVAL_CHAT_KEY_BROOK",
        0.5,
        80,
    )
    assert "Brook" in organiser.get(reverse("chat-systems")).content.decode()


def test_a_name_alone_is_the_site_s_own_model(organiser: Client) -> None:
    page = organiser.get(reverse("chat-systems")).content.decode()
    assert "{persona}" in page  # the instructions that a new system starts from
    given = {**GIVEN, "base_url": "", "model": "", "key_variable": ""}
    assert organiser.post(reverse("chat-systems"), given).status_code == 302


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("name", "", "required"),
        ("name", "a\0b", "NUL"),
        ("name", "x" * 101, "at most 100"),
        ("base_url", "ftp://example.org", "begins with http"),
        ("base_url", "javascript:alert(1)", "begins with http"),
        ("base_url", "example.org/v1", "begins with http"),
        ("base_url", "http://", "names a host"),
        ("base_url", "http://user:word@example.org/v1", "no password"),
        ("base_url", "http://example.org/v1?key=1", "ends with its path"),
        ("base_url", "http://exa mple.org/v1", "no spaces"),
        ("base_url", "http://example.org:99999/v1", "no address"),
        ("base_url", "http://[::1/v1", "no address"),
        ("model", "", "needs a model"),
        ("model", "m\0", "NUL"),
        ("key_variable", "SECRET_KEY", "begins with DIALEVAL_CHAT_KEY_"),
        ("key_variable", "DIALEVAL_CHAT_KEY_", "begins with DIALEVAL_CHAT_KEY_"),
        ("key_variable", "DIALEVAL_CHAT_KEY_a b", "begins with DIALEVAL_CHAT_KEY_"),
        ("instructions", "", "required"),
        ("instructions", "x" * 8001, "at most 8,000"),
        ("temperature", "2.1", "less than or equal to 2"),
        ("temperature", "nan", "number"),
        ("temperature", "-1", "greater than or equal to 0"),
        ("max_tokens", "0", "greater than or equal to 1"),
        ("max_tokens", "4001", "less than or equal to 4000"),
        ("max_tokens", "many", "whole number"),
    ],
)
def test_what_cannot_be_a_system_is_refused_with_a_reason(
    organiser: Client, field: str, value: str, error: str
) -> None:
    response = organiser.post(reverse("chat-systems"), {**GIVEN, field: value})
    assert response.status_code == 422
    assert error in response.content.decode()
    assert not ChatSystem.objects.exists()


def test_the_site_s_own_endpoint_takes_no_other_key(organiser: Client) -> None:
    response = organiser.post(reverse("chat-systems"), {**GIVEN, "base_url": ""})
    assert "leave this empty" in response.content.decode()


def test_a_name_is_given_once(organiser: Client) -> None:
    organiser.post(reverse("chat-systems"), GIVEN)
    response = organiser.post(reverse("chat-systems"), GIVEN)
    assert response.status_code == 422
    assert ChatSystem.objects.count() == 1


def test_what_raters_judge_stays_as_it_is_and_where_it_is_may_move(organiser: Client) -> None:
    made_chat(system=SYSTEM)
    system = ChatSystem.objects.get()
    own = {
        "name": SYSTEM,
        "base_url": "",
        "model": "",
        "key_variable": "",
        "instructions": INSTRUCTIONS,
    }
    own |= {"temperature": "0.7", "max_tokens": "120"}
    address = reverse("chat-system", args=[system.pk])
    for changed in (
        {"temperature": "0.1"},
        {"instructions": "Be rude."},
        {"max_tokens": "5"},
        {"model": "other"},
    ):
        response = organiser.post(address, {**own, **changed})
        assert response.status_code == 422
        assert "Register another one instead" in response.content.decode()
    assert organiser.post(address, {**own, "name": "renamed"}).status_code == 302
    system.refresh_from_db()
    assert (system.name, system.temperature, system.instructions) == ("renamed", 0.7, INSTRUCTIONS)


def test_a_trial_shows_its_answer_or_the_whole_error(organiser: Client) -> None:
    system = ChatSystem.objects.create(name="Brook", instructions="You: {persona}")
    response = organiser.post(
        reverse("chat-system-try", args=[system.pk]), {"question": "Who <are> you?"}
    )
    trial = response.headers["Location"].removesuffix("#trial")
    assert "Waiting for a worker" in organiser.get(trial).content.decode()
    claim = Message.objects.claim(Message.objects.get(speaker="B").pk)
    assert "A worker is asking" in organiser.get(trial, **HTMX).content.decode()
    Message.objects.owned(claim).fail("NotFoundError: no <model> of this name")
    told = organiser.get(trial, **HTMX).content.decode()
    assert "NotFoundError: no &lt;model&gt; of this name" in told
    assert "Who &lt;are&gt; you?" in told
    assert "every 1s" not in told
    Message.objects.filter(speaker="B").update(
        state="done", text="Brook.", signature="model:m|seed:1"
    )
    told = organiser.get(trial).content.decode()
    assert "Brook." in told
    assert "model:m|seed:1" in told


@pytest.mark.parametrize("question", ["", "a\0b", "x" * 2001])
def test_a_question_that_cannot_be_stored_is_refused(organiser: Client, question: str) -> None:
    system = ChatSystem.objects.create(name="Brook", instructions="x")
    response = organiser.post(reverse("chat-system-try", args=[system.pk]), {"question": question})
    assert response.status_code == 422
    assert not Message.objects.exists()


@pytest.mark.parametrize("pk", ["0", "99", "99999999999999999999999"])
def test_a_system_that_is_not_there_is_not_found(organiser: Client, pk: str) -> None:
    assert organiser.get(f"/chat-systems/{pk}/").status_code == 404
    assert organiser.post(f"/chat-systems/{pk}/try/", {"question": "Hello"}).status_code == 404


def test_a_trial_of_nonsense_shows_none(organiser: Client) -> None:
    system = ChatSystem.objects.create(name="Brook", instructions="x")
    response = organiser.get(reverse("chat-system", args=[system.pk]), {"trial": "no\0such<b>"})
    assert response.status_code == 200
