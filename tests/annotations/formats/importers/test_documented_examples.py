"""The examples in docs/formats.md are files that can be imported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotations.formats.importers.registry import importers
from tests.annotations.formats.importers.helpers import file_of, surveyed

PAGE = Path(__file__).resolve().parents[4] / "docs" / "formats.md"
EXAMPLES = dict(
    re.findall(
        r"<!-- example: (\w+) -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
)


def test_there_is_an_example_of_every_format_that_fits_on_the_page() -> None:
    # The seven turns of cpdc do not.
    assert set(EXAMPLES) == set(importers()) - {"cpdc"}


HUMAN_DIALOGUES = ("dailydialog", "personachat")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_can_be_imported(tmp_path: Path, name: str) -> None:
    (part,) = surveyed(name, file_of(tmp_path, EXAMPLES[name]))
    assert part.counts.turns > 0
    rated = name not in HUMAN_DIALOGUES
    assert (part.counts.responses > 0, part.counts.ratings > 0) == (rated, rated)


@pytest.mark.parametrize("name", list(importers()))
def test_every_format_has_a_section(name: str) -> None:
    assert f"\n## {name}\n" in PAGE.read_text(encoding="utf-8")
