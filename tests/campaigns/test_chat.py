"""A rater's chat: whose turn it is, what is stored once, when it ends."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotations.campaigns.actions import chat
from annotations.campaigns.models import (
    Assignment,
    ChatSystem,
    Conversation,
    Message,
    Participation,
)
from annotations.campaigns.queries.chat import chat_of, conversation_for
from tests.at_once import at_once
from tests.workers.chats import answered, chat_of_new_rater, made_chat, rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    """At most six utterances; nothing was said yet."""
    return made_chat(utterances=6)


def exchange(conversation: Conversation, number: int) -> None:
    chat.say(conversation, f"question {number}", f"key-{number}")
    answered(conversation, f"answer {number}")


def test_a_message_and_the_wait_for_its_answer_are_stored_together(
    conversation: Conversation,
) -> None:
    said = chat.say(conversation, "  Hello.\r\nWho are you?  ", "k1")
    assert said.is_new
    assert rows(conversation) == [(0, "A", "done", "Hello.\nWho are you?"), (1, "B", "pending", "")]
    assert said.answer == conversation.messages.get(number=1)


def test_the_same_key_is_the_same_message(conversation: Conversation) -> None:
    first = chat.say(conversation, "Hello.", "k1")
    again = chat.say(conversation, "Hello, changed.", "k1")
    assert (again.message, again.answer, again.is_new) == (first.message, first.answer, False)
    assert rows(conversation) == [(0, "A", "done", "Hello."), (1, "B", "pending", "")]


def test_the_same_key_is_the_same_message_even_after_the_answer(conversation: Conversation) -> None:
    chat.say(conversation, "Hello.", "k1")
    answered(conversation)
    assert not chat.say(conversation, "Hello.", "k1").is_new
    assert len(rows(conversation)) == 2


def test_nobody_speaks_twice_in_turn(conversation: Conversation) -> None:
    chat.say(conversation, "Hello.", "k1")
    with pytest.raises(chat.NotYourTurn):
        chat.say(conversation, "Still there?", "k2")
    assert len(rows(conversation)) == 2


def test_after_an_answer_that_failed_it_is_still_not_the_rater_s_turn(
    conversation: Conversation,
) -> None:
    chat.say(conversation, "Hello.", "k1")
    conversation.messages.filter(number=1).update(state="failed", error="no route")
    assert chat_of(conversation).turn == "unanswered"
    with pytest.raises(chat.NotYourTurn):
        chat.say(conversation, "Still there?", "k2")


def test_asking_again_makes_a_failed_answer_wait_anew(conversation: Conversation) -> None:
    chat.say(conversation, "Hello.", "k1")
    conversation.messages.filter(number=1).update(
        state="failed", error="no route", attempts=3, hints=4
    )
    again = chat.ask_again(conversation)
    assert again is not None
    assert (again.state, again.attempts, again.hints, again.error) == ("pending", 0, 0, "")
    assert chat.ask_again(conversation) is None  # it is waited for: there is nothing to ask again


def test_a_chat_has_at_most_the_campaign_s_utterances(conversation: Conversation) -> None:
    for number in range(3):
        exchange(conversation, number)
    assert chat_of(conversation).turn == "full"
    with pytest.raises(chat.ChatOver):
        chat.say(conversation, "One more.", "k9")
    assert len(rows(conversation)) == 6


def test_the_last_word_is_the_rater_s_where_the_number_is_odd() -> None:
    conversation = made_chat(utterances=5)
    exchange(conversation, 0)
    exchange(conversation, 1)
    said = chat.say(conversation, "Goodbye.", "k2")
    assert said.answer is None
    assert (len(rows(conversation)), chat_of(conversation).turn) == (5, "full")


def test_a_chat_ends_after_four_utterances_and_not_before(conversation: Conversation) -> None:
    exchange(conversation, 0)
    chat.say(conversation, "More?", "k1")  # three, and one on its way
    with pytest.raises(chat.TooShort, match="at least 4"):
        chat.end(conversation)
    answered(conversation)
    chat.end(conversation)
    conversation.refresh_from_db()
    first = conversation.finished_at
    assert first is not None
    chat.end(conversation)
    conversation.refresh_from_db()
    assert conversation.finished_at == first
    assert chat_of(conversation).turn == "ended"


def test_a_chat_of_two_utterances_ends_after_two() -> None:
    conversation = made_chat(utterances=2)
    exchange(conversation, 0)
    assert chat_of(conversation).may_end
    chat.end(conversation)


def test_an_answer_on_its_way_is_not_waited_for_at_the_end(conversation: Conversation) -> None:
    exchange(conversation, 0)
    exchange(conversation, 1)
    chat.say(conversation, "One last thing.", "k2")
    chat.end(conversation)
    assert rows(conversation)[-1][:3] == (5, "B", "failed")
    assert (
        conversation.messages.get(number=5).error
        == "the rater ended the chat before the answer came"
    )
    assert chat_of(conversation).utterance_count == 5


def test_nothing_is_said_after_the_end(conversation: Conversation) -> None:
    exchange(conversation, 0)
    exchange(conversation, 1)
    chat.end(conversation)
    with pytest.raises(chat.ChatOver):
        chat.say(conversation, "Wait.", "k5")
    with pytest.raises(chat.ChatOver):
        chat.ask_again(conversation)


@pytest.mark.parametrize("state", [Assignment.State.RETURNED, Assignment.State.SKIPPED])
def test_who_has_not_the_item_in_hand_says_nothing(conversation: Conversation, state: str) -> None:
    Assignment.objects.update(state=state, skip_reason="tired")
    with pytest.raises(chat.NotAssigned):
        chat.say(conversation, "Hello.", "k1")
    assert rows(conversation) == []


def test_an_excluded_rater_says_nothing(conversation: Conversation) -> None:
    from django.utils import timezone

    Participation.objects.update(
        state="excluded", exclusion_reason="careless", excluded_at=timezone.now()
    )
    with pytest.raises(chat.NotAssigned, match="no part"):
        chat.say(conversation, "Hello.", "k1")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        (" \n\t ", "is empty"),
        ("a\0b", "NUL"),
        ("\ud83d", "surrogate"),
        ("x" * 2001, "at most 2,000"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    conversation: Conversation, text: str, fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        chat.say(conversation, text, "k1")
    assert rows(conversation) == []


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "=1+1",
        "\N{RIGHT-TO-LEFT OVERRIDE}backwards",
        "{persona} %s",
        "x" * 2000,
    ],
)
def test_odd_words_are_kept_as_they_are(conversation: Conversation, text: str) -> None:
    assert chat.say(conversation, text, "k1").message.text == text


def test_an_assignment_has_one_chat(conversation: Conversation) -> None:
    assert chat.conversation_of(conversation.assignment) == conversation


def test_a_rater_finds_only_the_own_chat(conversation: Conversation) -> None:
    other = chat_of_new_rater(conversation.assignment.item.campaign)
    own = conversation.assignment.participation
    assert conversation_for(own, conversation.public_id) == conversation
    assert conversation_for(own, other.public_id) is None


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_double_click_is_one_message() -> None:
    conversation = made_chat()
    said = at_once(*[lambda: chat.say(conversation, "Hello.", "k1")] * 8)
    assert sum(one.is_new for one in said) == 1
    assert rows(conversation) == [(0, "A", "done", "Hello."), (1, "B", "pending", "")]


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_one_speaks() -> None:
    conversation = made_chat()
    said = at_once(*[lambda n=n: chat.say(conversation, f"Tab {n}.", f"k{n}") for n in range(8)])
    assert sum(isinstance(one, chat.SentMessage) for one in said) == 1
    assert sum(isinstance(one, chat.NotYourTurn) for one in said) == 7
    assert len(rows(conversation)) == 2


@pytest.mark.django_db(transaction=True)
def test_a_chat_begun_twice_at_once_is_one_chat() -> None:
    conversation = made_chat()
    assignment = conversation.assignment
    conversation.delete()
    begun = at_once(*[lambda: chat.conversation_of(assignment)] * 8)
    assert {one.pk for one in begun} == set(Conversation.objects.values_list("pk", flat=True))


# --- the database's own rules ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"base_url": "http://x/v1"}, "endpoint_has_a_model"),
        ({"key_variable": "DIALEVAL_CHAT_KEY_X"}, "key_goes_to_its_endpoint"),
        (
            {"base_url": "http://x/v1", "model": "m", "key_variable": "SECRET_KEY"},
            "key_variable_has_its_prefix",
        ),
        ({"temperature": 2.5}, "chat_temperature_range"),
        ({"max_tokens": 0}, "chat_max_tokens_range"),
    ],
)
def test_the_database_refuses_a_chat_system_that_cannot_be(
    fields: dict[str, object], constraint: str
) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        ChatSystem.objects.create(name="odd", instructions="x", **fields)


def test_a_conversation_is_an_item_s_or_a_trial_and_not_both(conversation: Conversation) -> None:
    with (
        pytest.raises(IntegrityError, match="conversation_is_an_item_a_trial_or_of_a_battle"),
        transaction.atomic(),
    ):
        Conversation.objects.create()
    with (
        pytest.raises(IntegrityError, match="conversation_is_an_item_a_trial_or_of_a_battle"),
        transaction.atomic(),
    ):
        Conversation.objects.update(trial_of=ChatSystem.objects.get())


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"state": "running"}, "running_message_is_leased"),
        ({"state": "failed"}, "failed_message_says_why"),
        ({"state": "done", "text": ""}, "done_message_has_text"),
        ({"speaker": "A"}, "a_s_message_is_done"),
    ],
)
def test_the_database_refuses_a_message_without_what_belongs_to_its_state(
    conversation: Conversation, fields: dict[str, object], constraint: str
) -> None:
    chat.say(conversation, "Hello.", "k1")
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Message.objects.filter(number=1).update(**fields)
