"""Templates: the places of a round, empty; filled in they are a sound file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotations.importers.problems import ImportFailed
from leaderboard.challenges.files.formats import FORMATS, Format
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.scores import check_scores
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


def test_an_empty_corpus_has_an_empty_list() -> None:
    assert json.loads(template(Layout(), "json")) == []


@pytest.mark.parametrize("content", ["[]", "[{}]", '[{"dialog_id": "d"}]', "dialog_id,turn,response\n", "no", "{}"])
def test_what_names_no_place_is_no_template(tmp_path: Path, content: str) -> None:
    with pytest.raises(ImportFailed):
        layout_of(written(tmp_path, content))


@pytest.mark.parametrize(("level", "rows"), [("turn", 8), ("dialogue", 4), ("system", 2)])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_template_of_scores_has_a_row_for_each_place(tmp_path: Path, level, rows: int, format: Format) -> None:
    layout, systems = small_layout(), ["alpha", "-beta"]
    empty = "".join(score_template(level, layout, systems, format))
    full = empty.replace(",\r\n", ",1\r\n") if format == "csv" else empty.replace("null", "1")
    found = check_scores(written(tmp_path, full), level, layout, systems)
    # turns or dialogues or one, × 2 systems
    assert (found.problems, found.coverage.given, found.coverage.possible) == ((), rows, rows)
