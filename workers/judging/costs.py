"""What a call may take before it is sent, and what it took. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from workers.judging.book import Estimate
from workers.judging.calls import Answer, Call, ChatRequest

BYTES_A_TOKEN = 3
"""Tokenizers put about four bytes of English into a token, and at least three of other languages' UTF-8; so a third of
the bytes is more than what is counted in the end, and a budget that has room for it is not overdrawn."""
TOKENS_A_MESSAGE = 8
"""What a chat template puts around a message."""
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


def estimate(call: Call, price: Price = NO_PRICE) -> Estimate:
    """What the call may take at most: its prompt in tokens as the bytes tell, and the longest answer it allows."""
    asked, answered = input_tokens_of(call.request), longest_answer_of(call.request)
    return Estimate(asked + answered, price.cost(asked, answered))


def input_tokens_of(request: ChatRequest) -> int:
    texts = (len(one.text.encode("utf-8", "surrogatepass")) for one in request.messages)
    return sum(math.ceil(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE for size in texts)


def longest_answer_of(request: ChatRequest) -> int:
    parameters = dict(request.parameters)
    longest = parameters.get("max_tokens", parameters.get("max_completion_tokens"))
    return longest if isinstance(longest, int) and longest > 0 else LONGEST_ANSWER


def tokens_used(answer: Answer, estimated: int) -> int:
    """What an answer took, as the endpoint counted; the estimate where it counts nothing."""
    if answer.input_tokens is None and answer.output_tokens is None:
        return estimated
    return (answer.input_tokens or 0) + (answer.output_tokens or 0)
