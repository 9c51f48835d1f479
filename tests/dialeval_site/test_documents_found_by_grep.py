"""What a newcomer looks for is found by its usual name, where docs/design.md says."""

from __future__ import annotations

import re

import pytest

from tests.site import PROJECT

ROWS = re.findall(
    r"^\| ([^|]+) \| `([^`|]+)` \| `([^`|]+\.py)` \|$",
    (PROJECT / "docs" / "design.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)
PACKAGES = ("annotations", "common", "dialeval_site", "leaderboard", "workers")
AT_A_GLANCE = 5


def found_by(words: str) -> set[str]:
    """The modules of which a docstring's first line has the words."""
    line = re.compile(rf'^""".*{words}', flags=re.IGNORECASE | re.MULTILINE)
    return {
        str(file.relative_to(PROJECT))
        for package in PACKAGES
        for file in (PROJECT / package).rglob("*.py")
        if line.search(file.read_text(encoding="utf-8"))
    }


def test_the_table_has_thirty_rows() -> None:
    assert len(ROWS) == 30


@pytest.mark.parametrize(("what", "words", "module"), ROWS, ids=[what for what, *_ in ROWS])
def test_it_is_among_a_few_modules_that_a_grep_finds(what: str, words: str, module: str) -> None:
    found = found_by(words)
    assert module in found, what
    assert len(found) <= AT_A_GLANCE, found
