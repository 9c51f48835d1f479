"""What is known of chats: whose turn it is, what was said, what a system is told of its persona."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, Q, QuerySet, Sum

from annotations.campaigns.models import Campaign, ChatSystem, Conversation, Message, Participation

LEAST_UTTERANCES = 4
"""Both speakers together, before a rater may end a chat: two exchanges, or there is nothing to
judge."""
Turn = Literal["yours", "theirs", "unanswered", "full", "ended"]
"""Who must do something now: the rater, the system; the rater because the system did not answer;
nobody any more."""
TRIAL_PERSONA = (
    "I repair old clocks.",
    "I live with my sister near a harbour.",
    "I never learned to swim.",
)
"""What a system plays when an organiser tries it."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as its rater may see it: nothing here tells which system it is with."""

    messages: tuple[Message, ...]
    turn: Turn
    most: int
    least: int

    @property
    def utterance_count(self) -> int:
        return len(self.messages)

    @property
    def may_end(self) -> bool:
        return self.turn != "ended" and self.utterance_count >= self.least

    def after(self, number: int) -> tuple[Message, ...]:
        """What was said after the utterance of this number."""
        return tuple(message for message in self.messages if message.number > number)


def chat_of(conversation: Conversation) -> Chat:
    """Everything said so far, and whose turn it is. The conversation is a rater's, with its item's
    campaign loaded."""
    campaign = conversation.assignment.item.campaign
    rows = list(conversation.messages.order_by("number"))
    done = tuple(row for row in rows if row.state == Message.State.DONE)
    return Chat(
        done, _turn(conversation, rows, campaign), campaign.utterances, least_utterances(campaign)
    )


def _turn(conversation: Conversation, rows: Sequence[Message], campaign: Campaign) -> Turn:
    if conversation.finished_at is not None:
        return "ended"
    if rows and rows[-1].state == Message.State.FAILED:
        return "unanswered"
    if rows and rows[-1].state != Message.State.DONE:
        return "theirs"
    return "full" if len(rows) >= campaign.utterances else "yours"


def least_utterances(campaign: Campaign) -> int:
    """How many there must be before the chat may be rated; a campaign of very short chats asks for
    no more than all."""
    return min(LEAST_UTTERANCES, campaign.utterances)


def conversation_for(participation: Participation, public_id: str) -> Conversation | None:
    """The rater's own chat of that name, if there is one."""
    return (
        Conversation.objects.select_related(
            "assignment__item__campaign", "assignment__item__dialogue"
        )
        .filter(public_id=public_id, assignment__participation=participation)
        .first()
    )


def utterances_of(conversation: Conversation) -> QuerySet[Message]:
    """What was said, in order, without answers that never came."""
    return conversation.messages.filter(state=Message.State.DONE).order_by("number")


# --- for workers and organisers -------------------------------------------------------------------


def persona_played(conversation: Conversation) -> list[str]:
    if conversation.trial_of is not None:
        return list(TRIAL_PERSONA)
    item = conversation.battle or conversation.assignment.item
    return list(item.dialogue.persona)


def system_of(conversation: Conversation) -> ChatSystem:
    if conversation.trial_of is not None:
        return conversation.trial_of
    if (battle := conversation.battle) is not None:
        return battle.chat_system_a if conversation.arm == "a" else battle.chat_system_b
    return conversation.assignment.item.chat_system


def chat_systems() -> QuerySet[ChatSystem]:
    """By name, with how many campaigns chat with each (``campaigns_count``)."""
    return ChatSystem.objects.annotate(
        campaigns_count=Count(
            "items__campaign", filter=~Q(items__campaign__state=Campaign.State.DRAFT), distinct=True
        )
    ).order_by("name")


def campaigns_with(chat_system: ChatSystem) -> list[str]:
    """Names of the campaigns and arenas that have asked people to judge it: what it is must stay as
    it is."""
    campaigns = Campaign.objects.filter(items__chat_system=chat_system).exclude(
        state=Campaign.State.DRAFT
    )
    arenas = chat_system.arenas.filter(opened_at__isnull=False)
    return sorted(
        {*campaigns.values_list("name", flat=True), *arenas.values_list("name", flat=True)}
    )


def trial_for(chat_system: ChatSystem, public_id: str) -> Message | None:
    """The answer (done, failed or waited for) of a trial."""
    return (
        Message.objects.select_related("conversation")
        .filter(conversation__trial_of=chat_system, conversation__public_id=public_id, speaker="B")
        .first()
    )


def charges_of(chat_system: ChatSystem) -> dict[str, int]:
    """What all its answers used, in calls and tokens, and what calls without an answer may have
    used at most."""
    columns = ("calls", "input_tokens", "output_tokens")
    sums = {
        name: Sum(name, default=0)
        for name in (*columns, *(f"unsettled_{name}" for name in columns))
    }
    of_system = (
        Q(conversation__trial_of=chat_system)
        | Q(conversation__assignment__item__chat_system=chat_system)
        | Q(conversation__arm="a", conversation__battle__chat_system_a=chat_system)
        | Q(conversation__arm="b", conversation__battle__chat_system_b=chat_system)
    )
    return Message.objects.filter(of_system).aggregate(**sums)


def question_of(answer: Message) -> str:
    return str(
        Message.objects.values_list("text", flat=True).get(
            conversation=answer.conversation_id, number=0
        )
    )
