"""The one way to talk to a language model: chat with an OpenAI-compatible endpoint, on loopback or
elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
MOST_TOKENS = 100_000_000
"""Of one call; an endpoint that reports more is not believed."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers. ``api_key`` is kept out of the representation, and so out of logs and
    tracebacks."""

    base_url: str
    model: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint replied. ``text`` is stripped and may be empty.

    The token counts are the endpoint's own; None where it reports none, or something that cannot be
    one. ``reported_model`` is what it says has answered, "" where it says nothing.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    reported_model: str


class NoAnswerError(RuntimeError):
    """The endpoint replied, but without text."""


class LanguageModel:
    """An endpoint with the settings that decide what it says.

    ``temperature`` 0 asks for the likeliest answer. ``seed`` makes sampling repeatable where the
    endpoint honours it; other hardware or another build of the same model may still answer
    differently. Errors of the network and of the endpoint are the ``openai`` package's own
    (``openai.OpenAIError``), after its ``max_retries`` attempts.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        from openai import DefaultHttpxClient, OpenAI

        from workers.language_models.connections import checked_transport

        self.endpoint = endpoint
        self.temperature = temperature
        self.seed = seed
        self._client = OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            timeout=timeout_seconds,
            max_retries=max_retries,
            # What is asked goes where the organiser said, and nowhere that the endpoint sends it on
            # to.
            http_client=DefaultHttpxClient(transport=checked_transport(), follow_redirects=False),
        )

    def answer(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        seed: int | None = None,
        **settings: float | int | list[str],
    ) -> str:
        """The model's next message, stripped. ``settings`` go to the endpoint as they are
        (``top_p``, …).

        ``seed`` replaces the model's own for this answer. Raises ``NoAnswerError`` where the reply
        holds no text.
        """
        completion = self.complete(messages, max_tokens, seed, **settings)
        if not completion.text:
            raise NoAnswerError(
                f"{self.endpoint.model} at {self.endpoint.base_url} answered without text"
            )
        return completion.text

    def complete(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        seed: int | None = None,
        **settings: float | int | list[str],
    ) -> Completion:
        """As ``answer``, with what the endpoint counted; an empty answer is an answer.

        A reply that is no chat completion is one without text and without counts.
        """
        request: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            "max_tokens": max_tokens,
            "temperature": self.temperature,
            "seed": self.seed if seed is None else seed,
            **settings,
        }
        reply = self._client.chat.completions.create(**request)
        usage = getattr(reply, "usage", None)
        return Completion(
            text=_text_of(reply),
            input_tokens=count_of(getattr(usage, "prompt_tokens", None)),
            output_tokens=count_of(getattr(usage, "completion_tokens", None)),
            reported_model=stored_name(getattr(reply, "model", None)),
        )

    def close(self) -> None:
        """Closes the connections to the endpoint."""
        self._client.close()


def _text_of(reply: Any) -> str:
    """ "" also where the reply is no chat completion at all, such as a page that asks one to log
    in."""
    try:
        content = reply.choices[0].message.content
    except (AttributeError, IndexError, TypeError):
        return ""
    return content.strip() if isinstance(content, str) else ""


def count_of(value: object) -> int | None:
    """Endpoints are other people's code: a count is a whole number that a call can have."""
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
        else None
    )


def stored_name(value: object) -> str:
    """ "" for what is no name; cut, and without what no database keeps."""
    return _NO_TEXT.sub("", value)[:200] if isinstance(value, str) else ""
