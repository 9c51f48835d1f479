"""The rule is ParlAI's: lower case, ASCII punctuation to spaces, articles to spaces, white space
collapsed."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.metrics.common.lexical import normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello world"),
        ("don't", "don t"),  # the apostrophe becomes a space, it does not vanish
        ("The cat saw a dog and an owl", "cat saw dog and owl"),
        ("another theatre ana", "another theatre ana"),  # articles are whole words
        ("a.b an-the", "b"),  # punctuation goes first, so these articles stand alone
        ("snake_case", "snake case"),
        ("  tabs\tand\n lines ", "tabs and lines"),
        ("Größe ÄRGER", "größe ärger"),
        ("a’la carte", "’la carte"),  # ’ is no ASCII punctuation, yet it ends a word
        ("I said “the”", "i said “ ”"),
        ("the", ""),
        ("?!", ""),
        ("", ""),
        ("a\x01b", "\x01b"),  # a control character ends a word too
    ],
)
def test_normalises(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(
    st.text(
        alphabet=st.one_of(st.sampled_from("aAnthe  '’_.\x01\x1c1é"), st.characters()), max_size=40
    )
)
def test_equals_the_rule_written_as_regular_expressions(text: str) -> None:
    lowered = text.lower()
    spaced = re.sub("[" + re.escape(string.punctuation) + "]", " ", lowered)
    without_articles = re.sub(r"\b(a|an|the)\b", " ", spaced)
    assert normalise(text) == " ".join(without_articles.split())
