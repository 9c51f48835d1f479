"""Answers of chat systems as jobs, beside what ``tests.common.jobs`` says of every kind: who is told when,
and what a rater's words and the end of a chat mean for them."""

from __future__ import annotations

import pytest

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Conversation, Message
from tests.workers.chats import made_chat

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(notified: list[int]) -> Conversation:
    return made_chat()


@pytest.fixture
def answer(conversation: Conversation) -> Message:
    """One that is waited for."""
    return chat.say(conversation, "Hello.", "k1").answer


def now_in_the_row(message: Message) -> Message:
    message.refresh_from_db()
    return message


def test_a_worker_is_told_when_the_message_is_committed_and_only_once(
    conversation: Conversation, notified: list[int], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks() as committed:
        answer = chat.say(conversation, "Hello.", "k1").answer
        chat.say(conversation, "Hello.", "k1")
    assert (notified, len(committed)) == ([], 1)
    committed[0]()
    assert notified == [answer.pk]
    assert now_in_the_row(answer).hints == 1


def test_after_the_last_utterance_no_worker_is_told(
    notified: list[int], django_capture_on_commit_callbacks
) -> None:
    conversation = made_chat(utterances=3)
    chat.say(conversation, "Hello.", "k1")
    Message.objects.filter(state="pending").update(state="done", text="Yes.")
    with django_capture_on_commit_callbacks(execute=True):
        assert chat.say(conversation, "Bye.", "k2").answer is None
    assert notified == []


def test_a_failed_answer_is_asked_for_again(
    conversation: Conversation,
    answer: Message,
    notified: list[int],
    django_capture_on_commit_callbacks,
) -> None:
    Message.objects.owned(Message.objects.claim(answer.pk)).fail("no route")
    with django_capture_on_commit_callbacks(execute=True):
        assert chat.ask_again(conversation)
    assert notified == [answer.pk]
    assert now_in_the_row(answer).state == "pending"


def test_what_a_rater_said_is_nobody_s_work(conversation: Conversation, answer: Message) -> None:
    assert Message.objects.claim(conversation.messages.get(number=0).pk) is None


def test_who_said_nothing_is_asked_again_at_once_until_the_attempts_are_used_up(
    answer: Message, notified: list[int], settings
) -> None:
    settings.MAX_ATTEMPTS = 2
    assert Message.objects.owned(Message.objects.claim(answer.pk)).retry("said nothing")
    row = now_in_the_row(answer)
    assert (row.state, row.error, notified) == ("pending", "said nothing", [answer.pk])
    assert Message.objects.owned(Message.objects.claim(answer.pk)).retry("said nothing twice")
    row = now_in_the_row(answer)
    assert (row.state, row.error, notified) == ("failed", "said nothing twice", [answer.pk])


def test_after_the_chat_ended_nothing_is_stored(conversation: Conversation) -> None:
    for number in range(2):
        chat.say(conversation, "Hello.", f"k{number}")
        Message.objects.filter(state="pending").update(state="done", text="Yes.")
    answer = chat.say(conversation, "And?", "k9").answer
    claim = Message.objects.claim(answer.pk)
    chat.end(conversation)
    assert not Message.objects.owned(claim).finish(text="Too late.", signature="s")
    assert now_in_the_row(answer).state == "failed"
