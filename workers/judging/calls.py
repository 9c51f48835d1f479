"""What a judge asks and what comes back, as values. Pure.

A request is known by the hash of what decides its answer: model, messages, parameters. A call is
one sample of it, asked anew with another seed, up to twice, where the answer cannot be read. An
answer is never paid twice, whoever asks: two systems that say the same at one turn share it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from workers.judging.dialects import MOST_ROOM, PLAIN, Dialect
from workers.language_models.client import Message

MOST_ASKS = 3
"""Times that one sample is asked: once, and at most twice more where its answer cannot be read."""


@dataclass(frozen=True)
class ChatRequest:
    """``parameters`` go to the endpoint as they are (``temperature``, ``max_tokens``,
    ``top_logprobs``, …); but a ``seed`` among them is the run's, and each call is sent one of its
    own that follows from it (``Call.seed``)."""

    model: str
    messages: tuple[Message, ...]
    parameters: tuple[tuple[str, Any], ...] = ()
    """Sorted by name."""
    labels: tuple[str, ...] = field(default=(), compare=False)
    """What the answer holds numbers for, of ``scale``. No part of the identity: the messages say
    it."""
    scale: tuple[int, int] = field(default=(1, 5), compare=False)
    kind: str = field(default="", compare=False)
    """Requests of one kind ask in the same words and for the same form: the prompt's digest."""
    most_tokens: int = field(default=MOST_ROOM, compare=False)
    """The longest answer with its reasoning, however often one was cut off."""

    @cached_property
    def body(self) -> str:
        """The canonical text, a JSON document: what is hashed and what is stored."""
        return json.dumps(
            {
                "messages": [[one.role, one.text] for one in self.messages],
                "model": self.model,
                "parameters": dict(self.parameters),
            },
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
        )

    @cached_property
    def key(self) -> str:
        """SHA-256 of ``body``, in hexadecimal."""
        return hashlib.sha256(self.body.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def characters(self) -> int:
        return sum(len(one.text) for one in self.messages)


class CallKey(NamedTuple):
    request: str
    sample: int
    ask: int


@dataclass(frozen=True)
class Call:
    """One sample of a request."""

    request: ChatRequest
    sample: int = 0
    ask: int = 0
    purpose: Any = field(default=None, compare=False)
    """The asker's own note of what the call is for. No part of its identity."""

    @property
    def key(self) -> CallKey:
        return CallKey(self.request.key, self.sample, self.ask)

    @property
    def seed(self) -> int:
        """Another for every request, sample and ask, and always the same for the same: what
        endpoints are sent."""
        digest = hashlib.sha256(f"{self.request.key}|{self.sample}|{self.ask}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1


AnswerState = Literal["answered", "refused"]


@dataclass(frozen=True, slots=True)
class TokenChance:
    """A generated token with the likeliest tokens at its place: (token, natural logarithm of its
    probability)."""

    token: str
    top: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint said to a call. ``refused``: it will not answer this call however often it
    is asked (too long, a content filter); ``error`` says why. Everything else that goes wrong is no
    answer."""

    state: AnswerState
    text: str = ""
    """As it came, but for what no database keeps."""
    error: str = ""
    finish_reason: str = ""
    reported_model: str = ""
    chances: tuple[TokenChance, ...] | None = None
    """None where none were asked for or the endpoint gave none."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_seconds: float = 0.0
    """Of the attempt that was answered, waiting for the rate limit not counted."""
    attempts: int = 1
    """Times that it was sent."""
    sent: Dialect = PLAIN
    """The form in which it was asked."""
    has_reasoned: bool = field(default=False, compare=False)
    """Whether reasoning came before what was answered. Known of what was asked just now."""
    from_store: bool = field(default=False, compare=False)
    """Whether it was there already, and nothing was paid for it now."""
