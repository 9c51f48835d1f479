"""Templates: the places of a round, empty; filled in they are a sound file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotations.formats.importers.problems import ImportFailed
from leaderboard.challenges.files.formats import FORMATS, Format
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.responses import read_responses
from leaderboard.challenges.files.scores import check_scores, read_scores
from leaderboard.challenges.files.template import response_template, score_template
from tests.challenges.files.helpers import checked, small_layout, written

ODD = Layout.of([('=cmd|" ', 0), ('comma, quote"', 3), ("ünï", 0), ("ünï", 1)])


def template(layout: Layout, format: Format) -> str:
    return "".join(response_template(layout, format))


@pytest.mark.parametrize("format", FORMATS)
def test_a_template_names_every_place_in_order(tmp_path: Path, format: Format) -> None:
    assert list(layout_of(written(tmp_path, template(ODD, format)))) == list(ODD)


@pytest.mark.parametrize("format", FORMATS)
def test_a_template_as_it_is_is_no_submission(tmp_path: Path, format: Format) -> None:
    found = checked(tmp_path, template(ODD, format), ODD)
    assert found.problems
    assert all("the template is not filled in" in problem.message for problem in found.problems)


@pytest.mark.parametrize("format", FORMATS)
def test_a_template_that_is_filled_in_is_sound(tmp_path: Path, format: Format) -> None:
    empty = template(ODD, format)
    full = empty.replace(",\r\n", ",x\r\n") if format == "csv" else empty.replace("null", '"x"')
    assert checked(tmp_path, full, ODD).problems == ()


def test_a_spreadsheet_runs_nothing_of_a_template() -> None:
    cells = [row.split(",")[0].strip('"') for row in template(ODD, "csv").splitlines()]
    assert cells[1].startswith("'=")


ALIKE = ["=a", "'=a", "''=a", "x;=a", "x;'=a", "\u200b-a", "a"]
"""Names that differ by an apostrophe, or by what a template guards."""


def test_names_that_a_template_guards_come_back_as_they_were(tmp_path: Path) -> None:
    """Each response stands at its own dialogue."""
    layout = Layout.of([(name, 0) for name in ALIKE])
    filled = template(layout, "csv").split("\r\n")
    for number, line in enumerate(filled[1:-1]):
        filled[number + 1] = f"{line}{number}"
    path = written(tmp_path, "\r\n".join(filled))
    assert checked(tmp_path, path.read_text(encoding="utf-8"), layout).problems == ()
    answers = list(read_responses(path, layout))
    assert answers == [(name, 0, str(number)) for number, name in enumerate(ALIKE)]


def test_systems_that_a_template_guards_come_back_as_they_were(tmp_path: Path) -> None:
    empty = "".join(score_template("system", small_layout(), ALIKE, "csv")).split("\r\n")
    filled = [f"{line}{number}" for number, line in enumerate(empty[1:-1])]
    path = written(tmp_path, "\r\n".join([empty[0], *filled]))
    rows = list(read_scores(path, "system", small_layout(), ALIKE))
    assert [(row.system, row.score) for row in rows] == [
        *zip(ALIKE, map(float, range(7)), strict=True)
    ]


def test_an_empty_corpus_has_an_empty_list() -> None:
    assert json.loads(template(Layout(), "json")) == []


@pytest.mark.parametrize(
    "content", ["[]", "[{}]", '[{"dialog_id": "d"}]', "dialog_id,turn,response\n", "no", "{}"]
)
def test_what_names_no_place_is_no_template(tmp_path: Path, content: str) -> None:
    with pytest.raises(ImportFailed):
        layout_of(written(tmp_path, content))


@pytest.mark.parametrize(("level", "rows"), [("turn", 8), ("dialogue", 4), ("system", 2)])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_template_of_scores_has_a_row_for_each_place(
    tmp_path: Path, level, rows: int, format: Format
) -> None:
    layout, systems = small_layout(), ["alpha", "-beta"]
    empty = "".join(score_template(level, layout, systems, format))
    full = empty.replace(",\r\n", ",1\r\n") if format == "csv" else empty.replace("null", "1")
    found = check_scores(written(tmp_path, full), level, layout, systems)
    # turns or dialogues or one, × 2 systems
    assert (found.problems, found.coverage.given, found.coverage.possible) == ((), rows, rows)
