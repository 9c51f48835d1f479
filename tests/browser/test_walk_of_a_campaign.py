"""docs/organiser.md, "A rating campaign in ten minutes", followed to the letter: an organiser, two
raters, Chromium."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit, organise
from tests.dialeval_site.documents import sections, text_of

SECTION = sections(text_of("organiser.md"))["A rating campaign in ten minutes"]
PASSWORD = "a lamp in the forest"


@pytest.fixture(autouse=True)
def the_corpus_is_left_as_it_was(stage: Stage) -> Iterator[None]:
    yield
    stage.python(
        "from annotations.campaigns.actions import publishing, setup\n"
        "from annotations.campaigns.models import Campaign\n"
        "for one in Campaign.objects.filter(slug='first-steps'):\n"
        "    publishing.unpublish(one)\n"
        "    one.refresh_from_db()\n"
        "    setup.delete(one, one.slug)\n"
    )


@pytest.mark.slow
def test_ten_minutes(visit: Callable[..., Visit], stage: Stage, tmp_path: Path) -> None:
    page = visit(role="organiser").go("/")
    _set_it_up(page)
    link = _guidelines_invitation_opening(page)

    raters = visit()
    assert_everybody_can_use(raters.go(link))
    _rate_all(raters, link, "first-rater")
    raters.page.get_by_role("link", name=re.compile("campaigns", re.IGNORECASE)).first.click()
    raters.page.get_by_role("button", name="Log out").click()
    _rate_all(raters, link, "second-rater")

    tabs = page.get_by_role("navigation", name="Parts of this campaign")
    tabs.get_by_role("link", name="Raters").click()
    expect(page.get_by_role("table").first).to_contain_text("rater 2")
    tabs.get_by_role("link", name="Agreement").click()
    # A worker computes it
    expect(page.locator("#live-agreement")).to_contain_text("28 of 28", timeout=240_000)
    tabs.get_by_role("link", name="Ratings").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Ratings (CSV)").click()
    assert download.value.suggested_filename == "first-steps-ratings.csv"
    tabs.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("link", name="Publish the ratings").click()
    page.get_by_role("button", name="Publish 28 ratings").click()
    _keep_flagged_raters(page)  # nobody reads 14 items in seconds
    page.get_by_role("button", name="Publish 28 ratings").click()
    expect(page.get_by_role("status").first).to_contain_text("28 ratings are published")

    for command in _commands():
        stage.site.manage(
            *(str(tmp_path / word) if word.endswith("-ratings") else word for word in command)
        )
    assert (tmp_path / "first-steps-ratings" / "ratings.csv").read_text().count("\n") == 29


def _keep_flagged_raters(page: Page) -> None:
    flagged = page.locator("#flagged")
    expect(flagged).to_contain_text("s per item, median of 14 items")
    for choice in flagged.get_by_label("keep these ratings").all():
        choice.check()


def _set_it_up(page: Page) -> None:
    organise(page, "Campaigns")
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Name", exact=True).fill("First steps")
    # On a site with the demo alone it is chosen already; other tests of this folder may have
    # brought corpora.
    corpus = page.get_by_label("Corpus", exact=True)
    demo = corpus.locator("option", has_text="Demo (simulated").get_attribute("value") or ""
    corpus.select_option(value=demo)
    expect(page.locator("[name=shown_version]")).to_have_value(demo)  # the form follows the corpus
    page.locator("#chosen-systems > summary").click()
    expect(page.get_by_label("gold", exact=True)).to_be_visible()
    none_of_a_kind = page.get_by_role("button", name="none")
    expect(none_of_a_kind.first).to_be_visible()  # buttons of a script
    for button in none_of_a_kind.all():
        button.click()
    for system in ("gold", "echo"):
        page.get_by_label(system, exact=True).check()
    page.get_by_label("Dialogues to draw").fill("1")
    expect(page.locator("#plan")).to_contain_text("14 × 2")
    assert "14 items × 2 raters = 28 ratings" in re.sub(r"\s+", " ", SECTION)
    page.get_by_role("button", name="Create draft").click()


def _guidelines_invitation_opening(page: Page) -> str:
    page.get_by_role("link", name="Write the guidelines").click()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Create link").click()
    link = page.locator("#invitations input[readonly]").input_value()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_role("status").first).to_contain_text("28 ratings wanted")
    return link


def _rate_all(rater: Visit, link: str, name: str) -> None:
    page = rater.go(link.removeprefix(rater.address))
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Create account and take part").click()
    page.get_by_role("button", name="Start").click()
    for number in range(1, 15):
        expect(page.locator("#item-heading")).to_have_text(f"Item {number} of 14")
        page.wait_for_load_state("load")  # before its script has run, a page hears no key
        page.keyboard.press(str(1 + (number * len(name)) % 5))
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Item")


def _commands() -> list[list[str]]:
    """What follows manage.py in the section's block of shell."""
    block = re.search(r"```sh\n(.*?)```", SECTION, flags=re.DOTALL)
    assert block
    return [shlex.split(line)[2:] for line in block.group(1).splitlines()]
