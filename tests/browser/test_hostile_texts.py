"""Whatever a corpus holds is shown as text, and no text breaks a page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.stage import HOSTILE_TEXTS
from tests.browser.visit import NARROW, WIDE, Visit


@pytest.mark.parametrize("turn", range(len(HOSTILE_TEXTS)))
def test_a_response_is_shown_as_it_was_said(visit: Callable[..., Visit], turn: int) -> None:
    page = visit().go(f"/corpora/hostile/dialogues/0/?turn={turn}")
    said = HOSTILE_TEXTS[turn]
    assert page.locator(".response .text").all_inner_texts() == [said, said, "(an empty response)"]
    assert page.locator(".bubble.target p").inner_text() == said
    assert "taken over" not in page.title()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_text_breaks_the_layout_of_a_dialogue(visit: Callable[..., Visit], width: int) -> None:
    visitor = visit(width=width)
    for turn in range(len(HOSTILE_TEXTS)):
        page = visitor.go(f"/corpora/hostile/dialogues/0/?turn={turn}")
        assert visitor.scroll_width() <= width, turn
        for card in page.locator(".response, .bubble").all():
            assert card.evaluate("card => card.scrollWidth <= card.clientWidth + 1"), turn


@pytest.mark.slow
def test_text_from_a_file_makes_no_element(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    parts = ("", "metrics/", "systems/", "agreement/", "dialogues/", "dialogues/0/")
    for path in (
        *(f"/corpora/hostile/{part}" for part in parts),
        "/metrics/word_f1/?corpus=hostile",
    ):
        page = visitor.go(path)
        assert page.locator("main img, main u, main i, main b b").count() == 0, path
        assert "taken over" not in page.title(), path


def test_right_to_left_text_runs_from_the_right_and_leaves_its_neighbours_alone(
    visit: Callable[..., Visit],
) -> None:
    page = visit().go("/corpora/hostile/dialogues/0/?turn=3")
    text = page.locator(".response .text").first
    assert text.evaluate("text => getComputedStyle(text).direction") == "rtl"
    assert (
        page.locator(".response header").first.evaluate("head => getComputedStyle(head).direction")
        == "ltr"
    )
