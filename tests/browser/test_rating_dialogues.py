"""Rating a system's responses in a whole dialogue: the overall score first, then, for a low one,
the axes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.rating_stage import (
    campaign_for_rater,
    expect_nothing_waits,
    heading,
    item_on,
    rate_by_key,
    stored_ratings,
)
from tests.browser.stage import Stage
from tests.browser.visit import NARROW, WIDE, Visit


def test_a_session_with_axes_below_the_threshold(visit: Callable[..., Visit], stage: Stage) -> None:
    """1 system × 3 dialogues, threshold 3: a 2 with fluency and coherence low, a 3 without axes, a
    1 with none low."""
    slug = campaign_for_rater(
        stage, "dialogue", slug="talks", systems=["one"], turns=7, axes_below=3
    )
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    assert page.locator(".bubble.judged").count() == 7
    assert page.locator(".bubble.given").count() == 6
    axes = page.get_by_role("group", name="What was low?")
    assert not axes.is_visible()
    page.keyboard.press("2")
    assert not axes.is_visible()
    page.keyboard.press("Enter")
    assert axes.is_visible()
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 3")
    assert not axes.is_visible()
    rate_by_key(page, 3)
    expect(page.locator("#item-place .item:visible")).to_have_count(1)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()
    assert [(row["score"], row["axes"]) for row in stored_ratings(stage, slug)] == [
        (2, ["fluency", "coherence"]),
        (3, None),
        (1, []),
    ]


def test_backspace_leads_from_the_axes_to_the_score(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, "dialogue", slug="talks-back", axes_below=3)
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    item = item_on(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    page.keyboard.press("Backspace")
    assert page.locator("input[name=score]:checked").input_value() == "1"
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 6")
    expect_nothing_waits(page)
    assert [(row["item"], row["score"], row["axes"]) for row in stored_ratings(stage, slug)] == [
        (item, 5, None)
    ]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_turns_fold_and_the_page_stands_whole(
    visit: Callable[..., Visit], stage: Stage, width: int
) -> None:
    slug = campaign_for_rater(stage, "dialogue", slug=f"talks-{width}", turns=7, axes_below=3)
    visitor = visit(width=width, role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    assert visitor.scroll_width() <= width
    first = page.locator(".part").first
    first.locator("summary").click()
    assert not first.locator(".judged").is_visible()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    assert visitor.scroll_width() <= width
    assert heading(page) == "Item 1 of 6"
