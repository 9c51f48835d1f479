"""USR's six aspects from its template: set up by an organiser, answered by two raters by keys, its
agreement and its files looked at; and an item of CMN's aspects whose raters differ, in Chromium."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit

KEYS = ("y", "3", "2", "1", "n", "4")
"""Understandable, natural, maintains context, engaging, uses knowledge, overall."""
PREPARED = """
from django.contrib.auth.models import Group
from tests.campaigns.sets import made_version
made_version(["one", "two"], dialogues=1, turns=1, slug="six-aspects-corpus")
from django.contrib.auth import get_user_model
group = Group.objects.create(name="six")
group.user_set.add(*get_user_model().objects.filter(username__in=["rater", "participant"]))
"""
ANSWERS = """
import json
from annotations.campaigns.models import RatingRevision
rows = RatingRevision.objects.filter(assignment__item__campaign__slug="six").order_by("pk")
print(json.dumps([dict(answers=row.answers, ms=row.question_ms) for row in rows]))
"""


def rate_two(page: Page) -> None:
    page.get_by_role("button", name="Take part").click()
    for number in (1, 2):
        expect(page.locator("#item-heading")).to_have_text(f"Item {number} of 2")
        page.wait_for_load_state("load")
        for key in KEYS:
            page.keyboard.press(key)
        expect(page.locator("#questions-answered")).to_have_text("6 of 6 answered")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()


def test_six_aspects_from_template_to_files(visit: Callable[..., Visit], stage: Stage) -> None:
    stage.python(PREPARED)
    organiser = visit(role="organiser")
    page = organiser.go("/campaigns/new/?corpus=six-aspects-corpus")
    page.get_by_label("Name", exact=True).fill("Six")
    page.get_by_label("Template").select_option("usr")
    page.locator("#raters > summary").click()
    page.get_by_label("six", exact=True).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    for role in ("rater", "participant"):
        rate_two(visit(role=role).go("/rate/six/"))
    stored = json.loads(stage.python(ANSWERS))
    assert [one["answers"] for one in stored] == [
        {
            "understandable": True,
            "natural": 3,
            "maintains_context": 2,
            "engaging": 1,
            "uses_knowledge": False,
            "overall": 4,
        }
    ] * 4
    assert all(set(one["ms"]) == set(one["answers"]) for one in stored)
    page = organiser.go("/campaigns/six/agreement/?aspect=natural")
    expect(page.get_by_label("Aspect")).to_have_value("natural")
    page = organiser.go("/campaigns/six/ratings/")
    expect(page.get_by_role("row").nth(1)).to_contain_text("3 (yes)")
    text = page.request.get(stage.address + "/campaigns/six/ratings/export/").text()
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["answer_overall"] for row in rows] == ["4"] * 4


DIFFERING = """
from itertools import count
from tests.campaigns import sets
sets._numbers = count(1000)  # other tests name people and corpora on this site from 1 on
from annotations.campaigns.actions.work_queue import Judgement, rate
from tests.campaigns.forms import asking
from tests.campaigns.rating_browser import in_hand
campaign = asking("cmn", slug="differing", systems=["one"], dialogues=1, turns=1)
for number, rater in enumerate(sets.made_raters(campaign, 2)):
    answers = {"appropriateness": 1 + 3 * number, "coherence": 3}
    rate(rater, in_hand(rater)[0], Judgement("a-key", None, form=campaign.form, answers=answers))
"""


def test_an_item_whose_raters_differ_is_adjudicated(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    stage.python(DIFFERING)
    organiser = visit(role="organiser")
    page = organiser.go("/campaigns/differing/adjudication/")
    page.get_by_label("Least difference").fill("3")  # 4 - 1
    page.get_by_role("button", name="Save the rule").click()
    page.get_by_role("link", name="dialogue file-0, turn 0").click()
    expect(page.locator("[name='q.coherence'][value='3']")).to_be_checked()  # as both answered
    assert_everybody_can_use(page)
    page.locator("[name='q.appropriateness'][value='2']").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("main")).to_contain_text("Adjudicated: 1")
    page = organiser.go("/campaigns/differing/agreement/")
    expect(page.locator("#live-agreement")).to_contain_text("1 item is adjudicated")
