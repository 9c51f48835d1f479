"""What raters do: follow the link they were sent, practise, rate, pause and come back; one does not
pass."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.rating_stage import rate_by_key
from tests.browser.walk.organiser import CAMPAIGN
from tests.browser.walk.people import Person

UNDERSTOOD, MISUNDERSTOOD = (
    {"engine runs": 5, "Seven spoons": 1},
    {"engine runs": 1, "Seven spoons": 5},
)


def take_part(rater: Person, link: str) -> None:
    rater.page.goto(link)  # it came by mail
    rater.sees_heading(CAMPAIGN)
    rater.signs_up()
    rater.press("Start")


def practise(rater: Person, scores: dict[str, int]) -> None:
    """Two items, each told afterwards how it was meant."""
    for _ in scores:
        item = rater.page.locator("#item-place .item:visible")
        expect(item).to_contain_text("Practice")
        score = next(score for words, score in scores.items() if words in item.inner_text())
        rater.page.keyboard.press(str(score))
        rater.page.keyboard.press("Enter")
        rater.page.locator("[data-go-on]").click()
        rater.page.wait_for_load_state("load")


def rate(rater: Person, items: int, opinion: int) -> None:
    """``opinion`` shifts the scores: raters differ, but not by much."""
    for number in range(items):
        shown = rater.page.locator("#item-place .judged:visible").inner_text()
        good = 4 if "fine day" in shown else 2 if "not sure" in shown else 5
        rate_by_key(rater.page, max(1, good - (number + opinion) % 2))


def pause_and_come_back(rater: Person) -> None:
    rater.press("Pause")
    rater.sees("You have paused. All your ratings are stored")
    rater.follow("Rate", "header")
    rater.follow(re.compile("^Go on"))


def has_rated_all(rater: Person) -> None:
    expect(rater.page.get_by_role("heading", name="You have rated all of it")).to_be_visible()
