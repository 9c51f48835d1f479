"""What a server sends does nothing to a terminal."""

from __future__ import annotations

import json

import pytest

from leaderboard.client.texts import as_json, lines_of, one_line, padded, width_of

EVIL = "a\x1b]0;owned\x07b\x9b2Jc\u202ed\u2066e\x00f\x7fg\ud800h\ufeffi\u2028j"


def test_no_control_character_reaches_the_terminal() -> None:
    line = one_line(EVIL)
    assert line.isprintable()
    assert line.startswith("a\N{REPLACEMENT CHARACTER}]0;owned")
    line.encode("utf-8")


def test_line_breaks_become_spaces_and_no_line_is_endless() -> None:
    assert one_line("a\r\n b\tc") == "a b c"
    assert len(one_line("x" * 10_000)) == 500
    assert one_line("x" * 10_000).endswith("…")


def test_a_longer_text_keeps_its_lines() -> None:
    assert lines_of("# Rules\r\n\r\nOne\x1b[2J.") == [
        "# Rules",
        "",
        "One\N{REPLACEMENT CHARACTER}[2J.",
    ]


def test_json_is_read_back_as_it_was_and_shows_no_control_character() -> None:
    document = {"name": EVIL.replace("\ud800", ""), "ü": ["é", 1.5, None]}
    shown = as_json(document)
    assert json.loads(shown) == document
    assert all(character.isprintable() or character in "\n" for character in shown)
    assert "é" in shown


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("評価", 4), ("e\u0301", 1), ("", 0)])
def test_columns_are_as_wide_as_a_terminal_shows_them(text: str, width: int) -> None:
    assert width_of(text) == width
    assert width_of(padded(text, 10)) == width_of(padded(text, 10, right=True)) == 10


def test_nothing_is_nothing() -> None:
    assert one_line(None) == ""
    assert one_line(0) == "0"
