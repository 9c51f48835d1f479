"""One turn of a prompt: its one or two calls, what they may use, and what an endpoint's failure is
called.

Nothing that an endpoint says is trusted (``workers/inference/language_models/refusals.py``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from leaderboard.challenges.prompts.budget import (
    Limits,
    exceeded,
    longest_answer,
    too_long_to_ask,
    used_up,
)
from leaderboard.challenges.prompts.render import Place, messages_for, plain_text, response_of
from leaderboard.challenges.prompts.spec import Prompt, digest
from workers.inference.language_models.chat_prompt import seed_of
from workers.inference.language_models.client import Completion, LanguageModel, Message
from workers.inference.language_models.refusals import (
    reason_of,
    storable_error,
    why_not_taken,
    without_key,
)
from workers.inference.language_models.usage import Usage, most_of

_MODEL_NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,100}")


@dataclass(frozen=True, slots=True)
class TurnResponse:
    """What came of one turn. ``ended`` names the limit that ended the dialogue here; then ``text``
    is empty."""

    text: str
    usage: Usage
    ended: str = ""
    reported_model: str = ""


class AskFailed(Exception):
    """No answer was to be had. ``reason`` is in our words and holds nothing that was asked or
    answered; ``words`` are the endpoint's, without its key."""

    def __init__(self, reason: str, words: str = "") -> None:
        super().__init__(reason)
        self.reason, self.words = reason, words


@dataclass(frozen=True, slots=True)
class Question:
    """A call that is to be made: ``complete`` makes it, once."""

    messages: list[Message]
    max_tokens: int
    seed: int
    settings: dict[str, float | int | list[str]]

    @property
    def most(self) -> Usage:
        return most_of(self.messages, self.max_tokens)

    def complete(self, model: LanguageModel) -> Completion:
        return model.complete(self.messages, self.max_tokens, self.seed, **self.settings)


@dataclass(frozen=True, slots=True)
class Questioner:
    """A prompt with the model that it is put to. Threads may share one: it holds nothing that
    changes."""

    model: LanguageModel
    prompt: Prompt
    limits: Limits

    def turn(
        self, dialogue: str, number: int, place: Place, used: Usage
    ) -> Generator[Question, Completion, TurnResponse]:
        """The answer at one turn: yields each call that is to be made and is sent its completion,
        or thrown the error that came instead. ``used``: by the dialogue's turns before. Raises
        ``AskFailed``."""
        if full := used_up(used, self.limits):
            return TurnResponse("", Usage(), full)
        usage, answer = Usage(), ""
        templates = [one for one in (self.prompt.first, self.prompt.second) if one is not None]
        for call, template in enumerate(templates, start=1):
            capacity = longest_answer(self.prompt.settings.max_tokens, used + usage, self.limits)
            if call > 1 and (full := used_up(used + usage, self.limits)):
                return TurnResponse("", usage, full)
            requested = messages_for(template, place, plain_text(answer) if call > 1 else None)
            if too_long := too_long_to_ask(
                sum(len(one.text) for one in requested), used + usage, self.limits
            ):
                return TurnResponse("", usage, too_long)
            try:
                completion = yield Question(
                    requested, capacity, self.seed(dialogue, number, call), self._settings()
                )
            # the endpoint's errors, and whatever its replies make the client stumble over
            except Exception as problem:
                # What its author could have known ends the dialogue like a limit. Were it a
                # failure, a prompt could be run for nothing: made so that its last call is refused,
                # its attempt would be given back every time.
                if why := why_not_taken(problem):
                    return TurnResponse("", usage, why)
                words = storable_error(
                    problem, self.model.endpoint, "\n".join(message.text for message in requested)
                )
                raise AskFailed(reason_of(problem), words) from None
            usage = usage + _usage_of(completion)
            if over := exceeded(used + usage, self.limits):
                return TurnResponse("", usage, over, self._reported(completion))
            answer = self._without_key(completion.text)
        return TurnResponse(response_of(answer), usage, "", self._reported(completion))

    def seed(self, dialogue: str, number: int, call: int) -> int:
        """Another for every prompt, dialogue, turn and call, and always the same for the same."""
        return seed_of(digest(self.prompt), dialogue, number, call)

    def _settings(self) -> dict[str, float | int | list[str]]:
        settings = self.prompt.settings
        chosen: dict[str, float | int | list[str]] = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
        }
        return {**chosen, "stop": list(settings.stop)} if settings.stop else chosen

    def _reported(self, completion: Completion) -> str:
        """What the endpoint calls its model, where that looks like a name: anything else could be
        what it was asked."""
        name = self._without_key(completion.reported_model)
        return name if _MODEL_NAME.fullmatch(name) else ""

    def _without_key(self, text: str) -> str:
        return without_key(text, self.model.endpoint)


def signature_of(prompt: Prompt, model: str, reported: Sequence[str]) -> str:
    """What wrote the responses, so that somebody else can say whether theirs came about in the same
    way."""
    settings = prompt.settings
    stops = (
        hashlib.sha256("\n".join(settings.stop).encode()).hexdigest()[:12]
        if settings.stop
        else "none"
    )
    return (
        f"model:{model}|reported:{','.join(reported) or 'nothing'}|"
        f"temperature:{settings.temperature:g}|top_p:{settings.top_p:g}|"
        f"max_tokens:{settings.max_tokens}|stop:{stops}|seed:{settings.seed}|calls:{prompt.calls}|"
        f"prompt:{digest(prompt)}|seeds:sha256(prompt,dialogue,turn,call)"
    )


def _usage_of(completion: Completion) -> Usage:
    if completion.input_tokens is None or completion.output_tokens is None:
        raise AskFailed(
            "the endpoint does not report how many tokens it used, so the limits of this round "
            "cannot be kept"
        )
    return Usage(1, completion.input_tokens, completion.output_tokens)
