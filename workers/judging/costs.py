"""What a call may take before it is sent, and what it took. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from workers.judging.calls import Answer, Call, ChatRequest
from workers.judging.dialects import PLAIN, Dialect
from workers.judging.response_cache import Estimate
from workers.language_models.usage import TOKENS_A_MESSAGE

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
