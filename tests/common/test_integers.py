"""Whole numbers as people and programs write them into addresses and forms."""

from __future__ import annotations

import pytest

from common.text import DIGITS_OF_A_KEY, DIGITS_OF_A_NUMBER, parse_integer


@pytest.mark.parametrize(
    ("written", "number"), [("0", 0), ("7", 7), ("007", 7), ("999999999", 999_999_999)]
)
def test_digits_are_a_number(written: str, number: int) -> None:
    assert parse_integer(written) == number


@pytest.mark.parametrize(
    "written", ["", " 1", "1 ", "+1", "-1", "1_0", "1.0", "1e3", "٣", "²", "1\0", "one"]
)
def test_what_int_would_take_or_fail_at_is_none(written: str) -> None:
    assert parse_integer(written) is None


@pytest.mark.parametrize(
    ("digits", "highest"), [(DIGITS_OF_A_NUMBER, 2**31 - 1), (DIGITS_OF_A_KEY, 2**63 - 1)]
)
def test_whatever_is_taken_fits_into_its_column(digits: int, highest: int) -> None:
    assert parse_integer("9" * digits, digits) == 10**digits - 1 <= highest
    assert parse_integer("1" + "0" * digits, digits) is None


def test_thousands_of_digits_which_python_refuses_are_none() -> None:
    assert parse_integer("1" * 5000, DIGITS_OF_A_KEY) is None
