"""Numbers and lists as sentences have them."""

from __future__ import annotations

import pytest

from common.tables.numerals import with_interval
from common.text import enumeration


@pytest.mark.parametrize(
    ("names", "most", "text"),
    [
        ("", None, ""),
        ("a", None, "a"),
        ("ab", None, "a and b"),
        ("abc", None, "a, b and c"),
        ("abc", 2, "a, b and c"),  # "and 1 more" would be no shorter
        ("abcd", 2, "a, b and 2 more"),
    ],
)
def test_a_list_in_a_sentence(names: str, most: int | None, text: str) -> None:
    assert enumeration([*names], most) == text


def test_an_interval_stands_behind_its_number() -> None:
    assert with_interval(-0.25, (-0.5, 0.125), 2) == "−0.25 [−0.50, 0.12]"
    assert with_interval(0.25, None, 1) == "0.2"
