"""Which chats are taken for waiting ones, whose raters have the right of way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Conversation, Message
from tests.workers.chats import made_chat
from workers.runs.presence import LEAST_SECONDS, LEFT_BEHIND, raters_wait, waiting_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed() -> Message:
    """An answer that failed, to a rater who asked longer ago than anybody is taken to wait."""
    answer = chat.say(made_chat(), "Hello.", "k1").answer
    long_ago = timezone.now() - LEFT_BEHIND - timedelta(minutes=1)
    Message.objects.filter(pk=answer.pk).update(
        state="failed", error="no route", created_at=long_ago
    )
    return answer


def test_who_asks_again_after_minutes_is_waiting_again(failed: Message) -> None:
    chat.ask_again(Conversation.objects.get())
    assert waiting_answers(0) == [failed.pk]


def test_who_asks_again_waits_from_then_on(failed: Message) -> None:
    chat.ask_again(Conversation.objects.get())
    assert not raters_wait(LEAST_SECONDS)
    # So much later
    Message.objects.update(created_at=F("created_at") - timedelta(seconds=LEAST_SECONDS + 1))
    assert raters_wait(LEAST_SECONDS)
