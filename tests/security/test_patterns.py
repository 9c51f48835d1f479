"""ReDoS: no regular expression of the project takes more than its share of time, whatever text it
is given.

All patterns that stand in the source as a literal, each on texts that make a pattern go back and
forth."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.processor_time import at_most
from tests.security.test_what_is_read import MODULES
from tests.site import PROJECT

CALLS = {"compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
"""Of the module ``re``."""
LENGTH, SECONDS = 4_000, 0.32
"""A pattern that is quadratic with a small factor takes less; one that is cubic, or worse, does not
end."""
PIECES = (
    "a", " ", "\n", "0", "-", "_", ".", "=", "a ", "a,", "1.", "{", "[", "<a", '"', "\\", "a-",
    "A a", "a\n", "0,", "'s ",
)  # fmt: skip


USERS_OF_RE = [
    path.relative_to(PROJECT).as_posix()
    for path in MODULES
    if re.search(r"\bre\.[a-z]+\(", path.read_text(encoding="utf-8"))
]
"""They are parsed by the tests: every process that collects them would parse them, too."""
NOT_OF_OTHERS = "dialeval_site/config/environment.py"
"""Patterns for names of variables, which the operator gives."""


def patterns_in(name: str) -> Iterator[tuple[int, str]]:
    """(line, pattern)"""
    for node in ast.walk(ast.parse((PROJECT / name).read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re"), attr=function),
                args=[ast.Constant(str(pattern)), *_],
            ) if function in CALLS:
                yield node.lineno, pattern


def test_the_patterns_are_found() -> None:
    assert sum(1 for name in USERS_OF_RE for _ in patterns_in(name)) > 60


@pytest.mark.parametrize("name", [one for one in USERS_OF_RE if one != NOT_OF_OTHERS])
def test_a_pattern_takes_no_more_than_its_share(name: str) -> None:
    for line, source in patterns_in(name):
        pattern = re.compile(source, re.VERBOSE if "(?x)" in source else 0)
        for piece in PIECES:
            text = (piece * LENGTH)[:LENGTH] + "\x00!"
            with at_most(SECONDS, f"{name}:{line} with {piece!r}"):
                pattern.search(text)
                pattern.fullmatch(text)
