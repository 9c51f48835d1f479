"""ReDoS: no regular expression of the project takes more than its share of time, whatever text it
is given.

All patterns that stand in the source as a literal, each on texts that make a pattern go back and
forth."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator

import pytest

from tests.security.test_what_is_read import MODULES
from tests.site import PROJECT

CALLS = {"compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
"""Of the module ``re``."""
LENGTH, SECONDS = 10_000, 2.0
"""A pattern that is quadratic with a small factor takes less; one that is cubic, or worse, does not
end."""
PIECES = (
    "a", " ", "\n", "0", "-", "_", ".", "=", "a ", "a,", "1.", "{", "[", "<a", '"', "\\", "a-",
    "A a", "a\n", "0,", "'s ",
)  # fmt: skip


def patterns() -> Iterator[tuple[str, str]]:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if not re.search(r"\bre\.", text):
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("re"), attr=name),
                    args=[ast.Constant(str(pattern)), *_],
                ) if name in CALLS:
                    yield f"{path.relative_to(PROJECT)}:{node.lineno}", pattern


NOT_OF_OTHERS = ("dialeval_site/config/environment.py",)
"""Patterns for names of variables, which the operator gives."""
ALL = {place: pattern for place, pattern in patterns() if not place.startswith(NOT_OF_OTHERS)}


def test_the_patterns_are_found() -> None:
    assert len(ALL) > 60


@pytest.mark.parametrize("place", ALL)
def test_a_pattern_takes_no_more_than_its_share(place: str) -> None:
    pattern = re.compile(ALL[place], re.VERBOSE if "(?x)" in ALL[place] else 0)
    for piece in PIECES:
        text = (piece * LENGTH)[:LENGTH] + "\x00!"
        began = time.process_time()
        pattern.search(text)
        pattern.fullmatch(text)
        assert time.process_time() - began < SECONDS, repr(piece)
