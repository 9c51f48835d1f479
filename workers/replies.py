"""Every write to a chat system's answers: asked for, claimed, kept, stored, failed, swept. Rows as
in ``runs.py``.

Chats belong to ``annotations.campaigns``; here their waiting messages become work for a worker.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from annotations import clock
from annotations.campaigns.actions import chat
from annotations.campaigns.actions.chat import Said
from annotations.campaigns.models import ChatSystem, Conversation, Message
from annotations.jobs.notifications import notify_workers
from workers import claims
from workers.claims import NO_OWNER, WAITS_ANEW, Claim, Swept

REPLY_TASK = "workers.tasks.reply"
QUEUE = "llm"
State = Message.State


# --- asking for answers ---------------------------------------------------------------------------


def say(conversation: Conversation, text: str, key: str) -> Said:
    """``chat.say``, and a worker is told to answer as soon as the rater's words are stored."""
    with transaction.atomic():
        said = chat.say(conversation, text, key)
        if said.is_new and said.answer is not None:
            _notify_on_commit(said.answer)
    return said


def ask_again(conversation: Conversation) -> bool:
    """``chat.ask_again``. False where no answer had failed."""
    with transaction.atomic():
        answer = chat.ask_again(conversation)
        if answer is not None:
            _notify_on_commit(answer)
    return answer is not None


def try_system(chat_system: ChatSystem, question: str) -> Message:
    """``chat.begin_trial``: the answer comes the way raters' answers come."""
    with transaction.atomic():
        answer = chat.begin_trial(chat_system, question)
        _notify_on_commit(answer)
    return answer


def _notify_on_commit(answer: Message) -> None:
    transaction.on_commit(lambda: send_hints([answer.pk]))


def send_hints(message_ids: Iterable[int]) -> int:
    """Tell workers of answers that are waited for. Where the broker cannot be reached they wait for
    the sweeper."""
    sent = notify_workers(REPLY_TASK, ((pk, QUEUE) for pk in message_ids))
    Message.objects.filter(pk__in=sent).update(hinted_at=clock.now(), hints=F("hints") + 1)
    return len(sent)


# --- writing them ---------------------------------------------------------------------------------


def claim(message_id: int) -> Claim | None:
    """Take an answer that is waited for, or whose worker fell silent. None when somebody else has
    it or it is there."""
    answers = Message.objects.filter(speaker="B", attempts__lt=settings.MAX_ATTEMPTS)
    return claims.take(
        answers, message_id, Q(state=State.PENDING), [State.RUNNING], state=State.RUNNING
    )


def keep(claim: Claim) -> bool:
    """Renew the lease. False when the answer is no longer ours to write."""
    return claims.keep(_owned(claim))


def finish(claim: Claim, text: str, signature: str) -> bool:
    """Store what the system said. False, and nothing stored, when the lease was lost or the rater
    ended the chat."""
    return bool(
        _owned(claim).update(
            state=State.DONE,
            text=text,
            signature=signature[:500],
            error="",
            finished_at=clock.now(),
            **NO_OWNER,
        )
    )


def fail(claim: Claim, error: str) -> bool:
    """Give up: the rater is told that there is no answer, the organiser why."""
    return claims.fail(_owned(claim), State.FAILED, error)


def try_again(claim: Claim, error: str) -> bool:
    """Another attempt, with another seed, as long as there are attempts left; else ``fail``."""
    if claim.attempt >= settings.MAX_ATTEMPTS:
        return fail(claim, error)
    waits = _owned(claim).update(state=State.PENDING, error=error, **WAITS_ANEW)
    if waits:
        send_hints([claim.row_id])
    return bool(waits)


def give_back(claim: Claim) -> bool:
    """Leave an answer to whoever takes it next, as if it had not been begun."""
    return claims.give_back(_owned(claim), State.PENDING)


def _owned(claim: Claim):
    return Message.objects.filter(pk=claim.row_id, state=State.RUNNING, lease_token=claim.token)


# --- looking after them ---------------------------------------------------------------------------


def sweep() -> Swept:
    """Give back the answers of silent workers, give up those tried too often, tell workers of those
    waited for."""
    error = f"the worker stopped without a word {settings.MAX_ATTEMPTS} times"
    return claims.sweep(
        Message.objects.all(), State.PENDING, State.RUNNING, State.FAILED, error, send_hints
    )
