"""What a judge asks and what comes back, as values; what a call may take before it is sent, and
what it took. Pure.

A request is known by the hash of what decides its answer: model, messages, parameters. A call is
one sample of it, asked again with another seed, up to twice, where the answer cannot be read. An
answer is never paid twice, whoever asks: two systems that say the same at one turn share it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

from workers.inference.language_models.asynchronous import Reply
from workers.inference.language_models.client import Endpoint, Message
from workers.inference.language_models.refusals import without_key
from workers.inference.language_models.usage import TOKENS_A_MESSAGE
from workers.judges.core.dialects import MOST_ROOM, PLAIN, Dialect

MOST_ASKS = 3
"""Times that one sample is asked: once, and at most twice more where its answer cannot be read."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call may cost at most, before it is sent. ``cost`` in USD; None where the model has no
    price."""

    tokens: int
    cost: Decimal | None


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


Follow = Callable[[Call, Answer], Sequence[Call]]
"""Given a call and its answer, the calls that come of it: asked again, the second step of a
dialogue. May be empty."""


LIKELY_BYTES_A_TOKEN = 3
"""Tokenizers put about four bytes of English into a token, and about three of other languages'
UTF-8. Of digits, signs and letters drawn at random they make nearly a token a byte, and never more:
that is what a budget must have room for, because those whose responses are judged decide what they
hand in."""
LONGEST_ANSWER = 1024
"""Taken of a request that sets no limit to its answer."""
MILLION = Decimal(1_000_000)
SMALLEST = Decimal("0.00000001")
"""Costs are rounded up to this: what the database keeps."""


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens. Both None: what the model costs is not known."""

    input: Decimal | None
    output: Decimal | None

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        if self.input is None or self.output is None:
            return None
        exact = (self.input * input_tokens + self.output * output_tokens) / MILLION
        return exact.quantize(SMALLEST, rounding="ROUND_UP")


NO_PRICE = Price(None, None)


def price_of(model: str, prices: Mapping[str, tuple[Decimal, Decimal]]) -> Price:
    """``prices`` as ``DIALEVAL_LLM_PRICES`` gives them."""
    return Price(*prices[model]) if model in prices else NO_PRICE


def estimate(call: Call, price: Price = NO_PRICE, dialect: Dialect = PLAIN) -> Estimate:
    """What the call may take at most: a token for each byte of its prompt, and the longest answer
    it allows. Held until the answer comes, and then paid by what it took."""
    prompt, answered = _input_tokens(call.request, 1), longest_answer_of(call.request, dialect)
    return Estimate(prompt + answered, price.cost(prompt, answered))


def likely_tokens(call: Call, dialect: Dialect = PLAIN) -> int:
    """What the call takes about, and seldom more: for rates, which the endpoint's own count
    corrects."""
    return _input_tokens(call.request, LIKELY_BYTES_A_TOKEN) + longest_answer_of(
        call.request, dialect
    )


def _input_tokens(request: ChatRequest, bytes_a_token: int) -> int:
    texts = (len(one.text.encode("utf-8", "surrogatepass")) for one in request.messages)
    return sum(math.ceil(size / bytes_a_token) + TOKENS_A_MESSAGE for size in texts)


def longest_answer_of(request: ChatRequest, dialect: Dialect = PLAIN) -> int:
    parameters = dict(request.parameters)
    longest = parameters.get("max_tokens", parameters.get("max_completion_tokens"))
    wanted = longest if isinstance(longest, int) and longest > 0 else LONGEST_ANSWER
    return dialect.longest_answer(wanted, request.most_tokens)


def tokens_used(answer: Answer, estimated: int) -> int:
    """What an answer took, as the endpoint counted; the estimate where it did not."""
    return (
        (answer.input_tokens or 0) + (answer.output_tokens or 0)
        if is_counted(answer)
        else estimated
    )


def is_counted(answer: Answer) -> bool:
    """Whether the endpoint counted both prompt and answer. No prompt has no tokens."""
    return bool(answer.input_tokens) and answer.output_tokens is not None


def answer_of(reply: Reply, endpoint: Endpoint, seconds: float, attempts: int) -> Answer:
    text = without_key(reply.text, endpoint)
    chances = (
        None
        if reply.chances is None
        else tuple(TokenChance(token, top) for token, top in reply.chances)
    )
    if text != reply.text:  # its tokens are the key in pieces
        chances = None
    return Answer(
        "answered",
        text=text,
        finish_reason=without_key(reply.finish_reason, endpoint),
        reported_model=without_key(reply.reported_model, endpoint),
        chances=chances,
        has_reasoned=reply.has_reasoned,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        latency_seconds=seconds,
        attempts=attempts,
    )


def refusal_of(why: str, seconds: float, attempts: int) -> Answer:
    return Answer("refused", error=why, latency_seconds=seconds, attempts=attempts)
