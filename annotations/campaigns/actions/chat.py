"""Chats of raters with systems: begun, spoken in, asked again, ended; an organiser's trial of a
system; and the systems themselves, registered and changed.

What the system says is a worker's job (``workers/chats/execution.py``): here its message is only
written down as waiting, and workers are told of it on commit. Every step locks the conversation, so
two tabs or a repeated request take their turns one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.campaigns.models import Assignment, ChatSystem, Conversation, Message
from annotations.campaigns.models.conversation import LONGEST_MESSAGE
from annotations.campaigns.queries.chat import campaigns_with, least_utterances
from common.text import text_fault

TRIAL_RETENTION = timedelta(hours=1)
State = Message.State


class ChatRefused(Exception):
    """The chat cannot go on like this; the message tells the rater why, in the rater's language."""


class ChatOver(ChatRefused):
    """It has ended, or has its greatest length."""


class NotAssigned(ChatRefused):
    """The item is not the rater's any more: given back, skipped, or the rater takes no part now."""


class NotYourTurn(ChatRefused):
    """The system has not answered yet."""


class TooShort(ChatRefused):
    """Too little was said to end the chat and rate it."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A stored message and the answer that is now waited for: none after the last utterance that a
    chat may have."""

    message: Message
    answer: Message | None
    is_new: bool


def conversation_of(assignment: Assignment) -> Conversation:
    """The assignment's chat, begun where there is none yet. Asking twice, or at once, gives the
    same one."""
    return Conversation.objects.get_or_create(assignment=assignment)[0]


def say(conversation: Conversation, text: str, key: str) -> SentMessage:
    """Store what the rater says, and that the system must answer. The same ``key`` again changes
    nothing.

    Raises ``ValueError`` for a text that cannot be stored, ``ChatRefused`` where it is not the
    rater's turn to speak.
    """
    text = spoken_text(text)
    with transaction.atomic():
        chat = _locked(conversation)
        before = chat.messages.filter(key=key).first() if key else None
        if before is not None:
            return SentMessage(
                before, chat.messages.filter(number=before.number + 1).first(), is_new=False
            )
        _check_assigned(chat)
        last = chat.messages.order_by("-number").first()
        if last is not None and (last.speaker == "A" or last.state != State.DONE):
            raise NotYourTurn(_("Your partner has not answered yet. What you wrote is kept."))
        number = 0 if last is None else last.number + 1
        most = chat.assignment.item.campaign.utterances
        if number >= most:
            raise ChatOver(_("This chat has its full length. Please rate it now."))
        return add_message(chat, number, text, key, is_answered=number + 1 < most)


def add_message(
    chat: Conversation, number: int, text: str, key: str, is_answered: bool
) -> SentMessage:
    """Store speaker A's message, and that the system must answer. The caller holds the lock."""
    message = Message.objects.create(
        conversation=chat, number=number, speaker="A", text=text, key=key
    )
    answer = None
    if is_answered:
        answer = Message.objects.create(
            conversation=chat, number=number + 1, speaker="B", state=State.PENDING
        )
        Message.objects.notify_on_commit(answer.pk)
    return SentMessage(message, answer, is_new=True)


def spoken_text(text: str) -> str:
    """As it is stored: no space around it, lines ended as everywhere. Raises ``ValueError`` where
    it cannot be."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if fault := text_fault(text, LONGEST_MESSAGE):
        raise ValueError(fault)
    return text


def ask_again(conversation: Conversation) -> Message | None:
    """Give an answer that failed a new set of attempts. None where no answer has failed: there is
    nothing to ask.

    It waits from now on, not since it was asked for first: else a rater who comes back to it would
    seem to have gone.
    """
    with transaction.atomic():
        chat = _locked(conversation)
        _check_assigned(chat)
        last = chat.messages.order_by("-number").first()
        if last is None or last.state != State.FAILED:
            return None
        chat.messages.filter(pk=last.pk).wait(
            attempts=0, error="", created_at=timezone.now(), finished_at=None
        )
        Message.objects.notify_on_commit(last.pk)
    last.refresh_from_db()
    return last


def end(conversation: Conversation) -> None:
    """The rater has said enough. An answer on its way is not waited for. Ending twice is ending
    once.

    Raises ``TooShort`` and ``NotAssigned``.
    """
    with transaction.atomic():
        chat = _locked(conversation)
        if chat.finished_at is not None:
            return
        _check_assigned(chat)
        least = least_utterances(chat.assignment.item.campaign)
        if chat.messages.filter(state=State.DONE).count() < least:
            raise TooShort(
                _("A chat needs at least %(count)s utterances before it can be rated.")
                % {"count": least}
            )
        now = timezone.now()
        chat.messages.filter(state__in=[State.PENDING, State.RUNNING]).end(
            State.FAILED, error="the rater ended the chat before the answer came"
        )
        Conversation.objects.filter(pk=chat.pk).update(finished_at=now)
    conversation.finished_at = now


def begin_trial(chat_system: ChatSystem, question: str) -> Message:
    """An organiser's question to a system: the answer that is now waited for. Trials of an hour ago
    are forgotten."""
    question = spoken_text(question)
    with transaction.atomic():
        chat_system.trials.filter(created_at__lt=timezone.now() - TRIAL_RETENTION).delete()
        trial = Conversation.objects.create(trial_of=chat_system)
        Message.objects.create(conversation=trial, number=0, speaker="A", text=question)
        answer = Message.objects.create(
            conversation=trial, number=1, speaker="B", state=State.PENDING
        )
        Message.objects.notify_on_commit(answer.pk)
    return answer


def _locked(conversation: Conversation) -> Conversation:
    return (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("assignment__item__campaign", "assignment__participation")
        .get(pk=conversation.pk, assignment__isnull=False)
    )


def _check_assigned(chat: Conversation) -> None:
    if chat.finished_at is not None:
        raise ChatOver(_("This chat has ended. Please rate it now."))
    if not chat.assignment.participation.takes_part:
        raise NotAssigned(_("You take no part in this campaign any more. What was said is kept."))
    if chat.assignment.state != Assignment.State.LEASED:
        raise NotAssigned(
            _("You were away for long, and this chat was given back. Take up your work to go on.")
        )


WHAT_IT_IS = ("model", "instructions", "temperature", "max_tokens")
"""What raters judge. The address and the key's variable are only where it is reached: they may
move."""


class SystemInUse(Exception):
    """People have been asked to rate it as it is. ``fields`` would make it another system;
    ``campaigns`` rate it."""

    def __init__(self, fields: list[str], campaigns: list[str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = fields
        self.campaigns = campaigns


def save_chat_system(chat_system: ChatSystem) -> ChatSystem:
    """Store a new or changed system. Raises ``SystemInUse`` where the change would make what was
    rated another one."""
    if chat_system.pk is not None:
        before = ChatSystem.objects.get(pk=chat_system.pk)
        changed = [
            name for name in WHAT_IT_IS if getattr(before, name) != getattr(chat_system, name)
        ]
        if changed and (campaigns := campaigns_with(chat_system)):
            raise SystemInUse(changed, campaigns)
    chat_system.save()
    return chat_system
