"""Campaigns of lists, set up from a template and answered by keys, to the leaderboard, in
Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import Stage
from tests.browser.visit import Visit

PREPARED = """
from django.contrib.auth.models import Group
from tests.campaigns.sets import made_version
made_version(["oak", "elm", "fir"], dialogues=1, turns=2, slug="{slug}-corpus")
from django.contrib.auth import get_user_model
group = Group.objects.create(name="{slug}")
group.user_set.add(*get_user_model().objects.filter(username__in=["rater", "participant"]))
"""
PUBLISHED = """
import json
from annotations.models import Preference
rows = Preference.objects.filter(rater__version__corpus__slug="{slug}-corpus").order_by("pk")
print(json.dumps([
    [row.preferred, row.response_a.system.name, row.response_b.system.name] for row in rows
]))
"""


def judge(page: Page, is_ranking: bool) -> None:
    """All items, oak before elm before fir, wherever they stand: their answers begin with a, b and
    c."""
    page.get_by_role("button", name="Take part").click()
    while True:
        page.wait_for_load_state("load")
        arms = page.locator("#item-place .item:visible .arm")
        end = page.get_by_role("heading", name="You have rated all of it")
        expect(arms.first.or_(end)).to_be_visible()
        if not arms.count():
            return
        expect(arms).to_have_count(3)
        item = page.locator("#item-place .item").get_attribute("data-item")
        texts = arms.all_inner_texts()
        keys = [
            next(n for n, text in enumerate(texts, 1) if f"Answer {one}" in text) for one in "abc"
        ]
        for key in keys if is_ranking else (keys[0], keys[-1]):
            page.keyboard.press(str(key))
        page.keyboard.press("Enter")
        expect(page.locator(f"#item-place .item[data-item='{item}']:visible")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("template", ["ranking", "best-worst"])
def test_lists_from_template_to_leaderboard(
    visit: Callable[..., Visit], stage: Stage, template: str
) -> None:
    slug = f"list-{template}"
    stage.python(PREPARED.format(slug=slug))
    organiser = visit(role="organiser")
    page = organiser.go(f"/campaigns/new/?corpus={slug}-corpus")
    page.get_by_label("all systems' responses, ranked").check()
    expect(page.get_by_label("Template")).to_have_value("ranking")
    page.get_by_label("Template").select_option(template)
    page.get_by_label("Name", exact=True).fill(slug)
    page.locator("#raters > summary").click()
    page.get_by_label(slug, exact=True).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    judge(visit(role="rater").go(f"/rate/{slug}/"), template == "ranking")
    phone = visit(width=390, scheme="dark", role="participant")
    judge(phone.go(f"/rate/{slug}/"), template == "ranking")
    assert phone.scroll_width() <= 390
    page = organiser.go(f"/campaigns/{slug}/")
    page.get_by_role("button", name="Close the campaign").click()
    page = organiser.go(f"/campaigns/{slug}/agreement/")
    expect(page.locator("#live-agreement")).to_contain_text("Kendall")
    page = organiser.go(f"/campaigns/{slug}/ratings/")
    page.get_by_role("button", name="Publish 4 ratings").click()
    # Two lists, two raters, three preferences of each three
    expect(page.get_by_text("12 preferences are part of the corpus")).to_be_visible()
    order = {"oak": 0, "elm": 1, "fir": 2}
    rows = json.loads(stage.python(PUBLISHED.format(slug=slug)))
    assert all(which == ("a" if order[one] < order[other] else "b") for which, one, other in rows)
    page.get_by_role("link", name="See them on the leaderboard").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
