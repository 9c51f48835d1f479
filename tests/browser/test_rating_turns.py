"""Rating responses one at a time, in Chromium, without a mouse."""

from __future__ import annotations

from collections.abc import Callable

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
from tests.browser.visit import NARROW, Held, Visit


def test_a_whole_session_by_keyboard_only(visit: Callable[..., Visit], stage: Stage) -> None:
    """2 systems × 2 dialogues × 1 turn = 4 items; scores 1, 5, 3, 4."""
    slug = campaign_for_rater(stage, slug="keys-only", dialogues=2, turns=1)
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/")
    start = page.get_by_role("button", name="Start")
    while not start.evaluate("button => button === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#item-heading").wait_for()
    assert heading(page) == "Item 1 of 4"
    rated = [rate_by_key(page, 1)]
    assert heading(page) == "Item 2 of 4"
    page.keyboard.press("f")
    page.keyboard.press("c")
    page.keyboard.type("Too 2 short, f and s")
    page.keyboard.press("Escape")
    rated += [rate_by_key(page, 5), rate_by_key(page, 3), rate_by_key(page, 4)]
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()
    stored = stored_ratings(stage, slug)
    assert [(row["item"], row["score"], row["number"]) for row in stored] == [
        (item, score, 1) for item, score in zip(rated, [1, 5, 3, 4], strict=True)
    ]
    assert [(row["flagged"], row["comment"]) for row in stored[:2]] == [
        (False, ""),
        (True, "Too 2 short, f and s"),
    ]
    assert all(0 <= row["first_key_ms"] <= row["submit_ms"] for row in stored)
    assert all(0 < row["active_ms"] <= row["submit_ms"] + 1 for row in stored)


def test_the_next_item_is_there_before_the_answer(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="at-once")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    held = Held(page, "**/submit/")
    first = rate_by_key(page, 2)
    assert item_on(page) != first
    assert heading(page) == "Item 2 of 12"
    held.request(0).continue_()
    expect_nothing_waits(page)


def test_going_back_shows_the_rating_and_a_change_is_a_revision(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="go-back")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    first = rate_by_key(page, 2)
    second = item_on(page)
    page.keyboard.press("Backspace")
    assert item_on(page) == first
    assert heading(page) == "Item 1 of 12, rated before"
    assert page.locator("input[name=score]:checked").input_value() == "2"
    rate_by_key(page, 4)
    assert (item_on(page), heading(page)) == (second, "Item 2 of 12")
    expect_nothing_waits(page)
    page.reload()
    page.keyboard.press("Backspace")  # now it comes from the server
    expect(page.locator(f"#item-place [data-item='{first}']")).to_be_visible()
    assert page.locator("input[name=score]:checked").input_value() == "4"
    page.wait_for_load_state("load")  # the item is there before the script is
    page.keyboard.press("Escape")
    expect(page.locator(f"#item-place [data-item='{second}']")).to_be_visible()
    assert [(row["item"], row["number"], row["score"]) for row in stored_ratings(stage, slug)] == [
        (first, 1, 2),
        (first, 2, 4),
    ]


def test_a_double_enter_is_one_rating(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="double")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert heading(page) == "Item 2 of 12"
    assert page.get_by_role("alert").inner_text() == "Choose 1 to 5 first."
    page.locator("#send").dblclick()
    expect_nothing_waits(page)
    assert [row["score"] for row in stored_ratings(stage, slug)] == [3]


def test_two_tabs_share_one_hand(visit: Callable[..., Visit], stage: Stage) -> None:
    """Both show the same item; rated in both it is one item with a second thought."""
    slug = campaign_for_rater(stage, slug="tabs")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    other = page.context.new_page()
    other.goto(f"/rate/{slug}/item/")
    assert item_on(page) == item_on(other)
    item = rate_by_key(page, 2)
    rate_by_key(other, 5)
    for tab in (page, other):
        expect_nothing_waits(tab)
    assert sorted((row["item"], row["number"]) for row in stored_ratings(stage, slug)) == [
        (item, 1),
        (item, 2),
    ]


def test_keys_with_modifiers_and_keys_in_fields_do_nothing(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="modifiers")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.keyboard.press("Control+4")
    page.keyboard.press("Alt+2")
    page.keyboard.press("Shift+F")
    assert page.locator("input[name=score]:checked").count() == 0
    assert not page.get_by_label("Flag").is_checked()
    page.keyboard.press("c")
    page.keyboard.type("12345?g")
    assert page.locator("input[name=score]:checked").count() == 0
    assert page.get_by_label("Comment", exact=True).input_value() == "12345?g"


def test_an_enter_that_ends_a_composition_sends_nothing(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="ime")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.keyboard.press("3")
    page.evaluate("""document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }))""")
    assert heading(page) == "Item 1 of 12"


def test_skipping_by_keyboard_brings_the_next(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="skip")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    first = item_on(page)
    page.keyboard.press("s")
    page.get_by_role("heading", name="Skip this item").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(f"#item-place [data-item='{first}']")).to_have_count(0)
    expect_nothing_waits(page)
    assert heading(page) == "Item 1 of 12"
    reason = stage.python(
        "from annotations.campaigns.models import Assignment;"
        f"print(Assignment.objects.get(item__public_id='{first}').skip_reason)"
    )
    assert reason == "known to the rater"


def test_keys_and_guidelines_are_one_key_away(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="help")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("4")
    page.keyboard.press("Escape")
    assert page.locator("input[name=score]:checked").count() == 0
    page.keyboard.press("g")
    assert "Read the whole dialogue first." in page.locator("#guidelines").inner_text()
    page.keyboard.press("g")
    assert not page.locator("#guidelines").is_visible()


def test_a_practice_item_says_how_it_was_meant(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="practice", training=[[4, 5]])
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Outside the expected range").wait_for()
    page.keyboard.press("Enter")
    expect(page.locator("#item-place .item")).to_be_visible()
    assert heading(page) == "Item 2 of 13"


def test_a_reader_of_the_screen_hears_of_each_item(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="heard")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    rate_by_key(page, 4)
    assert page.evaluate("document.activeElement.id") == "item-heading"
    assert page.locator("#rating-announcer[aria-live=polite]").text_content() == "Item 2 of 12"
    assert (
        page.get_by_role("group", name="How good is this response overall?")
        .get_by_role("radio")
        .count()
        == 5
    )
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    assert page.locator("input[name=score]:checked").input_value() == "3"


def test_the_bar_is_within_reach_of_thumbs_and_covers_nothing(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="thumbs")
    visitor = visit(width=NARROW, role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    assert visitor.scroll_width() <= NARROW
    for key in page.locator(".score-key").all():
        box = key.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    response, bar = (
        page.locator(".judged").bounding_box(),
        page.locator("#rating-form").bounding_box(),
    )
    assert response is not None
    assert bar is not None
    assert response["y"] + response["height"] <= bar["y"]
    assert bar["y"] + bar["height"] <= 900
    page.locator(".score-key").nth(3).tap()
    page.locator("#send").tap()
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 12")


def test_all_of_it_works_without_script(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="no-script", axes_below=3)
    page = visit(role="rater", script=False).go(f"/rate/{slug}/item/")
    page.get_by_role("radio", name="2 rather bad").check()
    page.get_by_role("button", name="Send").click()
    page.get_by_role("checkbox", name="fluency").check()
    page.get_by_role("button", name="Send").click()
    assert heading(page) == "Item 2 of 12"
    page.get_by_role("link", name="Back").click()
    assert page.get_by_role("radio", name="2 rather bad").is_checked()
    assert page.get_by_role("checkbox", name="fluency").is_checked()
    page.get_by_role("button", name="Pause").click()
    assert "All your ratings are stored" in page.locator(".messages").inner_text()
    assert [(row["score"], row["axes"]) for row in stored_ratings(stage, slug)] == [
        (2, ["fluency"])
    ]


def test_in_one_key_mode_a_score_is_sent_at_once_and_back_undoes(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    """It is kept for the next visit; arrow keys only choose."""
    slug = campaign_for_rater(stage, slug="one-key")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.wait_for_load_state("load")
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="One-key mode").check()
    page.keyboard.press("Escape")
    first = item_on(page)
    page.keyboard.press("4")
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 12")
    page.reload()
    page.wait_for_load_state("load")
    page.locator(".score-key").nth(1).click()
    expect(page.locator("#item-heading")).to_have_text("Item 3 of 12")
    page.keyboard.press("Backspace")
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 12, rated before")
    page.locator("input[name=score]:checked").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 12, rated before")
    expect_nothing_waits(page)
    assert stored_ratings(stage, slug)[0]["item"] == first
    assert [row["score"] for row in stored_ratings(stage, slug)] == [4, 2]


def test_on_a_phone_the_personas_are_open_for_three_items_and_a_line_each_after(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="personas")
    page = visit(width=NARROW, role="rater").go(f"/rate/{slug}/item/")
    persona = page.locator("#item-place [data-persona=b]")
    for number in (1, 2, 3):
        expect(page.locator("#item-heading")).to_have_text(f"Item {number} of 12")
        expect(persona).to_have_attribute("open", "")
        rate_by_key(page, 3)
    expect(persona).not_to_have_attribute("open", "")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    box, header = persona.bounding_box(), page.locator(".rating-header").bounding_box()
    assert box is not None
    assert header is not None
    assert box["y"] >= header["y"] + header["height"] - 1
    assert box["y"] + box["height"] < 200
