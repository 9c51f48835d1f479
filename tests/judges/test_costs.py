"""What calls may take, by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.judges.calls import call_for
from workers.inference.language_models.client import Message
from workers.judges.core.calls import (
    LONGEST_ANSWER,
    NO_PRICE,
    Answer,
    Call,
    ChatRequest,
    Price,
    estimate,
    likely_tokens,
    price_of,
    tokens_used,
)

PRICES = {"gpt-a": (Decimal("2.5"), Decimal(10))}


def test_what_is_held_for_a_call_is_a_token_a_byte_eight_a_message_and_the_longest_answer() -> None:
    """ "rate ab" has 7 bytes. No tokenizer that goes by bytes makes more tokens than bytes, and
    some make as many: of 2,000 digits SmolLM2's makes 2,000. A team that hands in digits would
    overdraw a budget that held a third."""
    assert estimate(call_for("ab")).tokens == 7 + 8 + 8


def test_the_pace_is_kept_by_what_is_likely_a_token_for_three_bytes() -> None:
    assert likely_tokens(call_for("ab")) == 3 + 8 + 8


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 3), ("12345", 5), ("你好吗", 9), ("😀", 4), ("\ud800", 3)]
)
def test_languages_with_longer_characters_are_estimated_by_bytes(text: str, tokens: int) -> None:
    call = Call(ChatRequest("m", (Message("user", text),), (("max_tokens", 1),)))
    assert estimate(call).tokens == tokens + 8 + 1


@pytest.mark.parametrize(
    "parameters", [(), (("max_tokens", None),), (("max_tokens", "many"),), (("max_tokens", -1),)]
)
def test_a_request_without_a_limit_may_get_a_long_answer(
    parameters: tuple[tuple[str, object], ...],
) -> None:
    assert estimate(Call(ChatRequest("m", (), parameters))).tokens == LONGEST_ANSWER


def test_a_price_is_in_usd_for_a_million_tokens() -> None:
    """1,000 · 2.5 / 10⁶ + 100 · 10 / 10⁶."""
    assert price_of("gpt-a", PRICES).cost(1000, 100) == Decimal("0.0035")


def test_a_cost_is_rounded_up_to_what_is_kept() -> None:
    """0.0003 USD for a million: one token costs 3·10⁻¹⁰."""
    assert Price(Decimal("0.0003"), Decimal(0)).cost(1, 0) == Decimal("0.00000001")


def test_a_model_without_a_price_costs_what_nobody_knows() -> None:
    assert price_of("another", PRICES) == NO_PRICE
    assert estimate(call_for("a"), NO_PRICE).cost is None


def test_what_the_endpoint_does_not_count_is_estimated() -> None:
    assert tokens_used(Answer("answered", input_tokens=5, output_tokens=2), 100) == 7
    assert tokens_used(Answer("answered", input_tokens=5), 100) == 100
    assert tokens_used(Answer("answered", input_tokens=0, output_tokens=0), 100) == 100
    assert tokens_used(Answer("answered"), 100) == 100
