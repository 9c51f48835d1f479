"""Chats for tests: a rater with an item of an interactive campaign in hand."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from annotations.campaigns.actions.chat import conversation_of
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    ChatSystem,
    Conversation,
    Message,
    Slot,
)
from tests.campaigns.sets import made_campaign, made_raters

SYSTEM = "quietwater"
INSTRUCTIONS = "Be brief. You are: {persona} Say only what you say."


def made_chat(
    utterances: int = 6, base_url: str = "", system: str = SYSTEM, **fields: object
) -> Conversation:
    """A chat in which nothing was said yet. ``fields`` are the chat system's: ``temperature``,
    ``key_variable``, …"""
    campaign = made_campaign("interactive", systems=(system,), dialogues=1, utterances=utterances)
    model = "stub-model" if base_url else ""
    given = {"base_url": base_url, "model": model, "instructions": INSTRUCTIONS, **fields}
    ChatSystem.objects.filter(name=system).update(**given)
    return chat_of_new_rater(campaign)


def chat_of_new_rater(campaign: Campaign) -> Conversation:
    (rater,) = made_raters(campaign, 1)
    slot = Slot.objects.filter(campaign=campaign, holder__isnull=True).order_by("ordinal").first()
    now = timezone.now()
    assignment = Assignment.objects.create(
        participation=rater,
        item=slot.item,
        position=0,
        claimed_at=now,
        lease_expires_at=now + timedelta(minutes=10),
    )
    Slot.objects.filter(pk=slot.pk).update(holder=assignment)
    return conversation_of(assignment)


def answered(conversation: Conversation, text: str = "Yes.") -> None:
    """The system answers, without a worker."""
    waiting = conversation.messages.filter(state=Message.State.PENDING)
    assert waiting.update(state=Message.State.DONE, text=text, finished_at=timezone.now()) == 1


def rows(conversation: Conversation) -> list[tuple[int, str, str, str]]:
    return list(
        conversation.messages.order_by("number").values_list("number", "speaker", "state", "text")
    )
