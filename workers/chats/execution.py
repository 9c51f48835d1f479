"""From a waiting message of a chat to the system's answer: who is asked, what is asked, what is
stored."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import lru_cache

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from annotations.accounts import may_act
from annotations.campaigns.models import ChatSystem, Message
from annotations.campaigns.models.conversation import KEY_VARIABLE_PREFIX, LONGEST_MESSAGE
from annotations.campaigns.queries.chat import persona_played, system_of, utterances_of
from common.jobs.models import Claim
from workers import charges
from workers.inference.language_models.chat_prompt import (
    EmptyAnswer,
    chat_messages,
    digest,
    seed_of,
    utterance_of,
)
from workers.inference.language_models.client import Endpoint, LanguageModel, NoAnswerError
from workers.inference.language_models.client import Message as Prompted
from workers.inference.language_models.usage import counted, most_of
from workers.jobs import FailJob, RetryJob, works_on
from workers.judges.core.retries import may_be_charged, may_pass, pause_before

ANSWER_SECONDS = 60.0
"""Of an attempt. A second one is made only in the first half of it: somebody waits."""
ATTEMPTS = 2
NO_KEY = "none"
"""What an endpoint that wants no key is sent: the client insists on sending something."""


class NotReachable(Exception):
    """This worker does not know where the system is or how to log in there; the message says what
    is missing."""


@works_on(
    Message.objects.select_related(
        "conversation__trial_of",
        "conversation__assignment__item__chat_system",
        "conversation__assignment__item__dialogue",
        "conversation__assignment__item__campaign",
        "conversation__assignment__participation__user",
        "conversation__battle__dialogue",
        "conversation__battle__chat_system_a",
        "conversation__battle__chat_system_b",
    )
)
def answer(message: Message, claim: Claim) -> bool:
    """Write one answer. Where nothing was said another attempt, with another seed, may help."""
    assignment = message.conversation.assignment
    rater = None if assignment is None else assignment.participation.user
    if rater is not None and not may_act(rater):
        raise FailJob("the rater's account is disabled on this site")
    try:
        text, signature = _ask(message, claim.attempt)
    except (NoAnswerError, EmptyAnswer) as problem:
        raise RetryJob(_as_text(problem)) from problem
    except SoftTimeLimitExceeded:
        raise
    # whatever an endpoint does wrong belongs in the row, where the organiser reads it
    except Exception as problem:
        raise FailJob(_as_text(problem)) from problem
    return bool(Message.objects.owned(claim).finish(text=text, signature=signature[:500]))


def _ask(message: Message, attempt: int) -> tuple[str, str]:
    """The utterance, and the signature of what wrote it."""
    conversation = message.conversation
    system = system_of(conversation)
    messages = [
        (one.speaker, one.text)
        for one in utterances_of(conversation)
        if one.number < message.number
    ]
    prompt = chat_messages(system.instructions, persona_played(conversation), messages)
    endpoint = endpoint_of(system)
    drawn_by = 0
    if conversation.battle is not None:
        drawn_by = conversation.battle.seed
    elif conversation.assignment is not None:
        drawn_by = conversation.assignment.item.campaign.seed
    seed = seed_of(drawn_by, conversation.public_id, message.number, attempt)
    written = _written(
        message, _model(endpoint, system.temperature), prompt, system.max_tokens, seed
    )
    signature = (
        f"model:{endpoint.model}|temperature:{system.temperature:g}|max_tokens:{system.max_tokens}"
        f"|seed:{seed}|attempt:{attempt}|prompt:{digest(prompt)}"
    )
    return utterance_of(written, LONGEST_MESSAGE), signature


def _written(
    message: Message, model: LanguageModel, prompt: Sequence[Prompted], max_tokens: int, seed: int
) -> str:
    """The model's words, asked for once more where the network or the endpoint fails soon. Each
    attempt is charged before it is sent. Raises ``NoAnswerError`` where there are none."""
    row, most = Message.objects.filter(pk=message.pk), most_of(prompt, max_tokens)
    begun = time.monotonic()
    for again in range(ATTEMPTS):
        charges.reserve(row, most)
        try:
            completion = model.complete(prompt, max_tokens, seed)
        except Exception as problem:
            if not may_be_charged(problem):
                charges.release(row, most)
            waited = time.monotonic() - begun
            if not may_pass(problem) or again + 1 == ATTEMPTS or waited > ANSWER_SECONDS / 2:
                raise
            time.sleep(pause_before(again + 1))
        else:
            charges.settle(row, most, counted(completion) or most)
            if not completion.text:
                raise NoAnswerError(
                    f"{model.endpoint.model} at {model.endpoint.base_url} answered without text"
                )
            return completion.text
    raise AssertionError("the last attempt returns or raises")


def endpoint_of(system: ChatSystem) -> Endpoint:
    """Where the system answers: its own address with its own key, or the site's. Raises
    ``NotReachable``.

    The site's key goes to the site's endpoint only, and only variables that are named as chat keys
    are read.
    """
    if not system.base_url:
        if not settings.LLM_URL:
            raise NotReachable(
                "no language model is configured on this worker: set DIALEVAL_LLM_URL, or start "
                "the site with manage.py run, which starts the packaged model"
            )
        model = system.model or settings.LLM_MODEL
        if not model:
            raise NotReachable("no model is named: neither here nor in DIALEVAL_LLM_MODEL")
        return Endpoint(settings.LLM_URL, model, settings.LLM_KEY or NO_KEY)
    return Endpoint(system.base_url, system.model, _key(system.key_variable))


def _key(variable: str) -> str:
    if not variable:
        return NO_KEY
    key = os.environ.get(variable, "").strip() if variable.startswith(KEY_VARIABLE_PREFIX) else ""
    if not key:
        raise NotReachable(f"{variable} is not in this worker's environment")
    return key


@lru_cache(maxsize=16)
def _model(endpoint: Endpoint, temperature: float) -> LanguageModel:
    """Kept by the process: making a client takes longer than many an answer."""
    return LanguageModel(
        endpoint, temperature=temperature, timeout_seconds=ANSWER_SECONDS, max_retries=0
    )


def _as_text(problem: Exception) -> str:
    """Some libraries keep the cause (a name that does not resolve) one step behind what they
    raise."""
    cause = (
        f" ({type(problem.__cause__).__name__}: {problem.__cause__})" if problem.__cause__ else ""
    )
    return f"{type(problem).__name__}: {problem}{cause}"
