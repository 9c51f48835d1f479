"""What a prompt may use in one dialogue, and what that costs. Pure.

An endpoint says how many tokens a call took when it is over. So a dialogue ends at the call that
takes it over a limit: what was said there does not count, and nothing is asked any more. Only what
an answer may take is known before, and it is asked for no longer an answer than what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from workers.inference.language_models.usage import Usage

MILLION = 1_000_000
MOST_CHARACTERS_A_TOKEN = 8
"""Of a text, on average: English has four or five. What is longer than that for the tokens left is
not asked."""


@dataclass(frozen=True, slots=True)
class Limits:
    input_tokens: int
    output_tokens: int


def longest_answer(wanted: int, used: Usage, limits: Limits) -> int:
    """Tokens that the next answer may take: what the prompt wants, or what the dialogue has left.
    0: none."""
    return max(0, min(wanted, limits.output_tokens - used.output_tokens))


def used_up(used: Usage, limits: Limits) -> str:
    """Which limit leaves no room for another call, in words; "" where none does."""
    return _fault(used, limits, taken_is_too_much=True)


def too_long_to_ask(characters: int, used: Usage, limits: Limits) -> str:
    """Why a call of so many characters would go over the limit of input, before it is made; ""
    where it may not. An endpoint is paid for what it reads, and a prompt that repeats the history a
    thousand times is long."""
    left = limits.input_tokens - used.input_tokens
    if characters <= left * MOST_CHARACTERS_A_TOKEN:
        return ""
    return (
        f"the prompt is longer than the {left:,} of {limits.input_tokens:,} input tokens that are "
        "left"
    )


def exceeded(used: Usage, limits: Limits) -> str:
    """Which limit the calls so far went over, in words; "" where none. Exactly the limit is within
    it."""
    return _fault(used, limits, taken_is_too_much=False)


def _fault(used: Usage, limits: Limits, taken_is_too_much: bool) -> str:
    capacity = 1 if taken_is_too_much else 0
    for taken, limit, kind in (
        (used.input_tokens, limits.input_tokens, "input"),
        (used.output_tokens, limits.output_tokens, "output"),
    ):
        if taken + capacity > limit:
            return f"{taken:,} of {limit:,} {kind} tokens"
    return ""


def cost_of(
    used: Usage, input_price: Decimal | None, output_price: Decimal | None
) -> Decimal | None:
    """In the prices' currency, to a millionth; None where a price is not known. Prices are for a
    million tokens."""
    if input_price is None or output_price is None:
        return None
    exact = (used.input_tokens * input_price + used.output_tokens * output_price) / MILLION
    return exact.quantize(Decimal("0.000001"))


def format_cost(cost: Decimal) -> str:
    """Without zeros that say nothing: ``0.014 USD``."""
    return f"{cost.normalize():f} USD"
