"""What the organiser does: corpora, a challenge of two rounds, a rating campaign, and at the end
the release."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.walk import material
from tests.browser.walk.people import Person

CHALLENGE, PRACTICE, FINALS, CAMPAIGN = "Neighbours 2026", "Practice", "Finals", "How neighbourly"


def add_a_corpus(mara: Person, name: str, file: str) -> None:
    mara.follow("Corpora", "header")
    mara.follow("Add a corpus")
    mara.give("File", f"{name}.jsonl", file)
    mara.press("Check the file")
    mara.press("Save")


def open_a_challenge(mara: Person) -> None:
    mara.follow("Open a challenge")
    mara.write(Name=CHALLENGE, In_one_sentence="Answer as a neighbour would.")
    mara.page.get_by_label("Start from the plan").uncheck()
    mara.press("Create draft")
    mara.follow("Write the rules", "aside")
    mara.press("Save the rules")
    _add_a_round(mara, PRACTICE, material.WARM_UP)
    _add_a_round(mara, FINALS, material.FINAL, is_final=True)
    mara.press("Open the challenge")
    mara.sees("The challenge is open")


def _add_a_round(mara: Person, name: str, corpus: str, is_final: bool = False) -> None:
    mara.follow("Add a round")
    mara.write(Name=name)
    if corpus not in mara.field("Corpus").locator("option:checked").inner_text():
        _and_sees_the_form_anew(mara, lambda: mara.choose("Corpus", corpus))
    if is_final:
        _and_sees_the_form_anew(mara, lambda: mara.page.get_by_role("radio", name="Hidden").check())
        mara.page.locator("summary", has_text="All other metrics").click()
        mara.page.get_by_label("Only organisers see rouge_1 until the release").check()
        mara.page.locator("#leaderboard > summary").click()
        mara.write(**{"Dialogues on the public leaderboard, in percent": "50"})
    mara.press("Add the round")
    mara.sees(f"{name} is stored")


def _and_sees_the_form_anew(mara: Person, deed: Callable[[], None]) -> None:
    """The form of a round follows corpus and references; who types on meanwhile stops the first
    answer."""
    mara.page.evaluate("document.getElementById('round-form').dataset.before = 'yes'")
    deed()
    expect(mara.page.locator("#round-form[data-before]")).to_have_count(0)


def open_a_campaign(mara: Person) -> str:
    """Returns the link that raters are sent."""
    mara.follow("Corpora", "header")
    mara.follow(material.FINAL)
    mara.follow("Start a rating campaign")
    mara.write(Name=CAMPAIGN)
    mara.field("Raters per item (k)").fill("3")
    mara.field("Dialogues to draw").fill("2")
    mara.page.get_by_text("Address, seed, checks on raters").click()
    mara.field("Pass mark, in percent").fill("100")
    mara.press("Create draft")
    mara.follow("Write the guidelines", "aside")
    mara.press("Save")
    mara.follow("Checks", "main nav")
    mara.give("File of items", "practice.jsonl", material.PRACTICE)
    mara.press("Add the file's items")
    mara.sees("Seven spoons under Tuesday")
    mara.follow("Overview", "main nav")
    mara.press("Create link")
    link = mara.page.locator("#invitations input[readonly]").input_value()
    mara.press("Open the campaign")
    mara.sees("ratings wanted")
    return link


def close_and_publish_the_ratings(mara: Person) -> None:
    mara.page.reload()
    mara.follow("Raters", "main nav")
    mara.sees("rater 4")
    mara.follow("Overview", "main nav")
    mara.press("Close")
    mara.follow("Publish the ratings")
    mara.press(re.compile("^Publish .* ratings"))
    mara.sees("flagged. Should")  # programs rate faster than people read
    for choice in mara.page.get_by_label("keep these ratings").all():
        choice.check()
    mara.press(re.compile("^Publish .* ratings"))
    mara.sees("ratings are published")


def release_and_open_everything(mara: Person) -> None:
    """Closed first: who can read the references must not hand them in."""
    mara.follow("Challenges", "header")
    mara.follow(CHALLENGE)
    mara.follow("Settings", "main nav")
    mara.press("Close")
    mara.follow(f"Change {FINALS}, release its private leaderboard, publish its systems")
    mara.press("Release it now")
    mara.sees("Everybody sees it since")
    mara.press("Open the references")
    mara.press("Publish them")
    mara.sees("3 of 3")
    mara.follow("Corpora", "header")
    mara.follow(material.FINAL)
    mara.press("Show it to everybody")
    mara.sees("Everybody may see this corpus now")
