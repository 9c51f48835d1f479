"""Money in words, as pages show it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from workers.judges.budgets import money


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        ("0", "0"),
        ("0.00000775", "0.0000078"),  # a call to a cheap model: two digits, no exponent
        ("0.00094635", "0.00095"),
        ("0.01", "0.01"),
        ("0.1349", "0.13"),
        ("1234.5", "1,234.50"),
    ],
)
def test_an_amount_has_cents_or_two_digits(amount: str, said: str) -> None:
    assert money(Decimal(amount)) == said
