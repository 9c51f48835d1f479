"""Campaigns of pairs, set up from a template and answered by keys, to the leaderboard, in
Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import HEIGHT, NARROW, WIDE, Visit

PREPARED = """
from django.contrib.auth.models import Group
from tests.campaigns.sets import made_version
made_version(["oak", "elm"], dialogues=1, turns=2, slug="{slug}-corpus")
from django.contrib.auth import get_user_model
group = Group.objects.create(name="{slug}")
group.user_set.add(*get_user_model().objects.filter(username__in=["rater", "participant"]))
"""
PUBLISHED = """
import json
from annotations.models import Preference
rows = Preference.objects.filter(rater__version__corpus__slug="{slug}-corpus").order_by("pk")
print(json.dumps([
    [row.aspect, row.preferred, (row.system_a or row.response_a.system).name] for row in rows
]))
"""


def prefer(page: Page, keys_first: str, keys_second: str) -> None:
    """All items, for the system ``oak``, wherever it stands: its answers begin with its letter."""
    while True:
        page.wait_for_load_state("load")
        arms = page.locator("#item-place .item:visible .arm")
        expect(
            arms.first.or_(page.get_by_role("heading", name="You have rated all of it"))
        ).to_be_visible()
        if not arms.count():
            return
        expect(arms.first.get_by_text("Answer")).to_be_visible()
        item = page.locator("#item-place .item").get_attribute("data-item")
        for key in keys_first if "Answer a" in arms.first.inner_text() else keys_second:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator(f"#item-place .item[data-item='{item}']:visible")).to_have_count(0)


def see_arms(page: Page) -> None:
    """Everybody can use the page; the two stand beside each other, on a phone below each other."""
    expect(page.locator("#item-place .item:visible .arm").first).to_be_visible()
    assert_everybody_can_use(page)
    for width, direction in ((WIDE, "x"), (NARROW, "y")):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        arms = page.locator("#item-place .item:visible .arm")
        first, second = (arms.nth(number).bounding_box() for number in range(2))
        assert first
        assert second
        assert second[direction] > first[direction]
        assert second["xy".replace(direction, "")] == first["xy".replace(direction, "")]
    page.set_viewport_size({"width": WIDE, "height": HEIGHT})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "kind", "template", "first", "second", "items", "aspects"),
    [
        ("three-way", "two responses, side by side", "pairwise", "1", "3", 2, ["Preference"]),
        ("graded", "two responses, side by side", "pairwise-graded", "2", "4", 2, ["Preference"]),
        ("seven", "two responses, side by side", "pairwise-graded-7", "2", "6", 2, ["Preference"]),
        (
            "mt-bench",
            "two systems' responses in a whole dialogue, side by side",
            "mt-bench-pair",
            *("1", "3", 1, ["Preference"]),
        ),
        (
            "acute",
            "two systems' responses in a whole dialogue, side by side",
            "acute-eval",
            "1111",
            "2222",
            1,
            ["Engaging", "Interesting", "Human", "Knowledgeable"],
        ),
    ],
)
def test_pairs_from_template_to_leaderboard(
    visit: Callable[..., Visit],
    stage: Stage,
    slug: str,
    kind: str,
    template: str,
    first: str,
    second: str,
    items: int,
    aspects: list[str],
) -> None:
    stage.python(PREPARED.format(slug=slug))
    organiser = visit(role="organiser")
    page = organiser.go(f"/campaigns/new/?corpus={slug}-corpus")
    page.get_by_label(kind).check()
    expect(page.locator(f"[name=template] option[value={template}]")).to_be_attached()
    page.get_by_label("Template").select_option(template)
    page.get_by_label("Name", exact=True).fill(slug)
    page.locator("#raters > summary").click()
    page.get_by_label(slug, exact=True).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    for role in ("rater", "participant"):
        rater = visit(role=role).go(f"/rate/{slug}/")
        rater.get_by_role("button", name="Take part").click()
        if role == "rater":
            see_arms(rater)
        prefer(rater, first, second)
    page = organiser.go(f"/campaigns/{slug}/")
    page.get_by_role("button", name="Close the campaign").click()
    page = organiser.go(f"/campaigns/{slug}/ratings/")
    page.get_by_role("button", name=f"Publish {2 * items} ratings").click()
    expect(page.get_by_text(f"{2 * items} preferences are part of the corpus")).to_be_visible()
    rows = json.loads(stage.python(PUBLISHED.format(slug=slug)))
    assert sorted({aspect for aspect, _, _ in rows}) == sorted(aspects)
    assert len(rows) == 2 * items * len(aspects)
    assert all(preferred == ("a" if shown == "oak" else "b") for _, preferred, shown in rows)
    assert {shown for _, _, shown in rows} == {"oak", "elm"}  # one rater saw each first
    page.get_by_role("link", name="See them on the leaderboard").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
