"""The page of threats: every row has a stop and a test, and every test that it names is there."""

from __future__ import annotations

import ast
import re

import pytest

from tests.dialeval_site.documents import text_of
from tests.site import PROJECT


def names_of_tests() -> set[str]:
    return {
        node.name
        for path in (PROJECT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


KNOWN = names_of_tests()


def section_of_threats() -> list[list[str]]:
    """Rows of the tables whose last column is a test."""
    text = text_of("threats.md")
    found = []
    for table in re.findall(
        r"\| threat \| what stops it \| test \|\n\|[-|]+\|\n((?:\|.*\n)+)", text
    ):
        found += [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines()
        ]
    return found


@pytest.mark.parametrize("row", section_of_threats(), ids=lambda row: row[0])
def test_every_threat_has_a_stop_and_a_test_that_is_there(row: list[str]) -> None:
    assert len(row) == 3
    threat, stop, named = row
    assert threat
    assert stop
    (test,) = re.findall(r"^`(test_\w+)`$", named)
    assert test in KNOWN


def test_the_page_has_all_kinds_of_threats() -> None:
    rows = section_of_threats()
    assert len(rows) > 60
    assert len({row[0] for row in rows}) == len(rows)
    words = " ".join(row[0] for row in rows)
    for kind in (
        "IDOR", "stored XSS", "CSV", "SSRF", "DNS rebinding", "../", "zip bomb", "ReDoS",
        "prompt injection", "X-Forwarded-For", "CSRF", "session fixation", "open redirect", "frame",
        "invitation", "checkpoint",
    ):  # fmt: skip
        assert kind in words, kind
