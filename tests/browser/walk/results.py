"""What everybody reads in the end: the boards of the corpus, the paper's table, the printed report,
the files."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from tests.browser.visit import organise
from tests.browser.walk import material
from tests.browser.walk.people import Person
from tests.site import Site


def metrics_held_against_people(reader: Person, submitted: str) -> str:
    """The metric leaderboard; returns its table as LaTeX."""
    reader.follow("Corpora", "header")
    reader.follow(material.FINAL)
    reader.follow("Metrics", "main nav")
    reader.sees_row(of="word_f1")
    # Who comes before the new numbers sees the old ones, until he asks for the new.
    reader.waits_for(re.compile(f"{submitted}|New numbers are there"))
    if not reader.page.locator("main").get_by_role("row", name=submitted).is_visible():
        reader.follow("Show them")
    reader.sees_row(of=submitted)
    return reader.downloads(lambda: reader.follow(re.compile("Download this table as LaTeX|LaTeX")))


def systems_ranked(reader: Person) -> None:
    reader.follow("Systems", "main nav")
    for team in ("Larks", "Owls", "Wrens"):
        reader.sees_row(of=team)


def raters_agree(reader: Person) -> None:
    reader.follow("Agreement", "main nav")
    reader.waits_for("Krippendorff")


def ratings_in_a_file(mara: Person) -> list[dict[str, str]]:
    organise(mara.page, "Campaigns")
    mara.follow(re.compile("How neighbourly"))
    mara.follow("Ratings", "main nav")
    text = mara.downloads(lambda: mara.follow("Ratings (CSV)"))
    return list(csv.DictReader(io.StringIO(text)))


def print_the_report(mara: Person, site: Site, folder: Path) -> None:
    """One file that opens without the site, on paper four pages or more."""
    site.manage("report", "final", "--to", folder)
    (file,) = folder.glob("*.html")
    mara.page.goto(file.as_uri())
    mara.sees_row(of="word_f1")
    mara.page.emulate_media(media="print")
    assert mara.page.pdf().count(b"/Type /Page\n") >= 4
