"""The page of threats: every row has a stop and a test, and every test that is named is there."""

from __future__ import annotations

import ast
import re

from tests.dialeval_site.documents import text_of
from tests.security.tests_of_threats import TESTS
from tests.site import PROJECT


def names_of_tests() -> set[str]:
    return {
        node.name
        for path in (PROJECT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def rows_of_threats() -> list[list[str]]:
    tables = re.findall(
        r"\| threat \| what stops it \|\n\|[-|]+\|\n((?:\|.*\n)+)", text_of("threats.md")
    )
    return [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for table in tables
        for line in table.splitlines()
    ]


ROWS = rows_of_threats()


def test_every_threat_has_a_stop() -> None:
    assert [row for row in ROWS if len(row) != 2 or not all(row)] == []


def test_every_threat_has_a_test_that_is_there() -> None:
    assert [threat for threat, _ in ROWS] == list(TESTS)
    assert {name for names in TESTS.values() for name in names} - names_of_tests() == set()


def test_the_page_has_all_kinds_of_threats() -> None:
    assert len(ROWS) > 60
    words = " ".join(row[0] for row in ROWS)
    for kind in (
        "IDOR", "stored XSS", "CSV", "SSRF", "DNS rebinding", "../", "zip bomb", "ReDoS",
        "prompt injection", "X-Forwarded-For", "CSRF", "session fixation", "open redirect", "frame",
        "invitation", "checkpoint",
    ):  # fmt: skip
        assert kind in words, kind
