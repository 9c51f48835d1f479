"""Answers of chat systems as work: told of once, claimed by one, kept by a lease, swept, given up
with a reason."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Conversation, Message
from tests.at_once import at_once
from tests.workers.chats import made_chat
from workers import replies

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The answers that workers were told of; no broker."""
    found: list[int] = []

    def tell(task: str, rows) -> list[int]:
        assert task == "workers.tasks.reply"
        sent = [pk for pk, queue in rows if queue == "llm"]
        found.extend(sent)
        return sent

    monkeypatch.setattr(replies, "notify_workers", tell)
    return found


@pytest.fixture
def conversation(told: list[int]) -> Conversation:
    return made_chat()


@pytest.fixture
def answer(conversation: Conversation) -> Message:
    """One that is waited for."""
    return chat.say(conversation, "Hello.", "k1").answer


def now_in_the_row(message: Message) -> Message:
    message.refresh_from_db()
    return message


def silent() -> None:
    Message.objects.filter(state="running").update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


def test_a_worker_is_told_when_the_message_is_committed_and_only_once(
    conversation: Conversation, told: list[int], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks() as committed:
        answer = replies.say(conversation, "Hello.", "k1").answer
        replies.say(conversation, "Hello.", "k1")
    assert (told, len(committed)) == ([], 1)
    committed[0]()
    assert told == [answer.pk]
    assert now_in_the_row(answer).hints == 1


def test_after_the_last_utterance_no_worker_is_told(
    told: list[int], django_capture_on_commit_callbacks
) -> None:
    conversation = made_chat(utterances=3)
    chat.say(conversation, "Hello.", "k1")
    Message.objects.filter(state="pending").update(state="done", text="Yes.")
    with django_capture_on_commit_callbacks(execute=True):
        assert replies.say(conversation, "Bye.", "k2").answer is None
    assert told == []


def test_a_failed_answer_is_asked_for_again(
    conversation: Conversation, answer: Message, told: list[int], django_capture_on_commit_callbacks
) -> None:
    replies.fail(replies.claim(answer.pk), "no route")
    with django_capture_on_commit_callbacks(execute=True):
        assert replies.ask_again(conversation)
    assert told == [answer.pk]
    assert now_in_the_row(answer).state == "pending"


def test_a_claimed_answer_cannot_be_claimed_again(answer: Message) -> None:
    claim = replies.claim(answer.pk)
    assert claim.attempt == 1
    assert replies.claim(answer.pk) is None


def test_what_a_rater_said_is_nobody_s_work(conversation: Conversation, answer: Message) -> None:
    assert replies.claim(conversation.messages.get(number=0).pk) is None
    assert replies.claim(10**9) is None


def test_an_answer_whose_worker_fell_silent_is_claimed_by_another_who_alone_can_store_it(
    answer: Message,
) -> None:
    late = replies.claim(answer.pk)
    silent()
    owner = replies.claim(answer.pk)
    assert (owner.attempt, owner.token != late.token) == (2, True)
    assert not replies.keep(late)
    assert not replies.finish(late, "Late.", "s")
    assert not replies.fail(late, "no")
    assert not replies.try_again(late, "no")
    assert replies.finish(owner, "In time.", "s")
    assert now_in_the_row(answer).text == "In time."


def test_a_finished_answer_keeps_its_text_and_what_wrote_it(answer: Message) -> None:
    replies.finish(replies.claim(answer.pk), "Fine.", "model:m|seed:3")
    row = now_in_the_row(answer)
    assert (row.state, row.text, row.signature, row.error, row.lease_token) == (
        "done",
        "Fine.",
        "model:m|seed:3",
        "",
        "",
    )
    assert row.finished_at is not None


def test_who_said_nothing_is_asked_again_until_the_attempts_are_used_up(
    answer: Message, told: list[int], settings
) -> None:
    settings.MAX_ATTEMPTS = 2
    assert replies.try_again(replies.claim(answer.pk), "said nothing")
    assert (now_in_the_row(answer).state, told) == ("pending", [answer.pk])
    assert replies.try_again(replies.claim(answer.pk), "said nothing twice")
    assert (now_in_the_row(answer).state, answer.error, told) == (
        "failed",
        "said nothing twice",
        [answer.pk],
    )


def test_an_answer_given_back_was_not_begun(answer: Message) -> None:
    replies.give_back(replies.claim(answer.pk))
    assert (now_in_the_row(answer).state, answer.attempts) == ("pending", 0)


def test_after_the_chat_ended_nothing_is_stored(conversation: Conversation) -> None:
    for number in range(2):
        chat.say(conversation, "Hello.", f"k{number}")
        Message.objects.filter(state="pending").update(state="done", text="Yes.")
    answer = chat.say(conversation, "And?", "k9").answer
    claim = replies.claim(answer.pk)
    chat.end(conversation)
    assert not replies.finish(claim, "Too late.", "s")
    assert now_in_the_row(answer).state == "failed"


# --- sweeping -------------------------------------------------------------------------------------


def test_the_sweep_gives_back_what_a_silent_worker_had_and_tells_of_it(
    answer: Message, told: list[int]
) -> None:
    replies.claim(answer.pk)
    silent()
    assert replies.sweep() == replies.Swept(given_back=1, given_up=0, hinted=1)
    assert (now_in_the_row(answer).state, answer.attempts, told) == ("pending", 1, [answer.pk])


def test_the_sweep_leaves_alone_who_keeps_the_lease(answer: Message) -> None:
    claim = replies.claim(answer.pk)
    assert replies.sweep() == replies.Swept(0, 0, 0)
    assert replies.finish(claim, "Fine.", "s")


def test_the_sweep_gives_up_what_was_tried_too_often(answer: Message, settings) -> None:
    settings.MAX_ATTEMPTS = 1
    replies.claim(answer.pk)
    silent()
    assert replies.sweep() == replies.Swept(given_back=0, given_up=1, hinted=0)
    assert now_in_the_row(answer).error == "the worker stopped without a word 1 times"


def test_a_lost_hint_is_sent_again_after_a_pause(answer: Message, settings) -> None:
    settings.MAINTENANCE_SECONDS = 10.0
    assert replies.sweep().hinted == 1  # never told: at once
    assert replies.sweep().hinted == 0
    Message.objects.filter(pk=answer.pk).update(hinted_at=timezone.now() - timedelta(seconds=21))
    assert replies.sweep().hinted == 1  # 10 s × 2 have passed


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_writes_the_answer(answer: Message) -> None:
    claims = at_once(*[lambda: replies.claim(answer.pk)] * 12)
    assert [type(claim) for claim in claims if claim is not None] == [replies.Claim]
