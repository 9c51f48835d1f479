"""docs/statistics.md: it leads to every document of statistics, and every source that it names is
in its references."""

from __future__ import annotations

import re

from common.correlation.jackknife import MOST_GROUPS
from leaderboard.statistics.correlation.grouped import MOST_LEFT_OUT
from tests.dialeval_site.documents import flat, sections, table_rows, text_of
from tests.site import PROJECT

PAGE = text_of("statistics.md")


def sources() -> list[tuple[str, str]]:
    """(first author, year) of the column *source*: ``Cohen 1960, 1968`` are two."""
    found = []
    for row in table_rows(PAGE):
        for source in re.split(r";\s*", row[2] if len(row) == 4 else ""):
            years = re.findall(r"\b(?:19|20)\d\d\b", source)
            found += [(re.split(r"[ ,]", source)[0], year) for year in years]
    return found


def test_every_source_is_in_the_references() -> None:
    references = flat(sections(PAGE)["References"])
    assert len(sources()) > 30
    missing = [
        (author, year)
        for author, year in sources()
        if not re.search(rf"\b{author}\b[^()]*\({year}\)", references)
    ]
    assert missing == []


def test_every_reference_is_a_source_of_the_tables() -> None:
    named = set(sources())
    references = re.findall(r"(\w[\w-]*)[^().]*? \((\d{4})\)", flat(sections(PAGE)["References"]))
    assert [one for one in references if one not in named] == []


def test_it_leads_to_every_document_of_statistics() -> None:
    for document in (PROJECT / "docs").glob("statistics_*.md"):
        assert f"({document.name}" in PAGE, document.name


def test_it_is_said_from_how_many_dialogues_on_groups_are_left_out() -> None:
    said = flat(sections(text_of("statistics_correlation.md"))["Intervals"])
    assert (
        f"With more than {MOST_GROUPS} dialogues groups of them are left out in place of single "
        "ones" in said
    )
    assert (
        "of `per_system`, whose coefficients of all systems are recomputed for each, with more "
        f"than {MOST_LEFT_OUT}," in said
    )
