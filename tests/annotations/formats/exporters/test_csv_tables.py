"""CSV tables."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers, possible_formats
from annotations.formats.records import DialogueRecord, RatingRecord, ResponseRecord
from tests.annotations.formats.exporters.helpers import small_corpus, small_scores, submitted_scores


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    exporters()["csv"].export(
        small_corpus(), folder / "out", [*small_scores(), *submitted_scores()]
    )
    with (folder / "out" / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_text_column_is_defused(tmp_path: Path) -> None:
    responses = rows(tmp_path, "responses")
    assert (responses[1]["text"], responses[2]["system"]) == ("'+bye", "'=dull/one")


def test_a_dialogue_has_a_row_for_each_turn_with_lists_as_json(tmp_path: Path) -> None:
    dialogues = rows(tmp_path, "dialogues")
    assert [(row["dialogue_id"], row["turn"]) for row in dialogues] == [
        ("d 1", "0"),
        ("d 1", "1"),
        ("d2", "0"),
    ]
    assert dialogues[0]["references"] == '["hello", "hey"]'
    assert dialogues[1]["context"] == '["A: hi", "B: hello", "A: bye"]'


def test_a_dialogue_level_rating_has_no_turn(tmp_path: Path) -> None:
    assert [(row["turn"], row["comment"]) for row in rows(tmp_path, "ratings")] == [
        ("0", "'@home"),
        ("0", ""),
        ("1", ""),
        ("", ""),
    ]


def test_a_negative_score_is_a_number_and_an_undefined_one_is_empty(tmp_path: Path) -> None:
    scores = [row["score"] for row in rows(tmp_path, "scores") if row["metric"] == "bleu_4"]
    assert scores == ["0.5", "", "0.5", "", "-0.25"]


def test_a_metric_that_was_handed_in_has_a_row_whose_sender_is_no_formula(tmp_path: Path) -> None:
    [metric] = rows(tmp_path, "submitted_metrics")
    assert metric["submitted_by"] == "'+ann"
    assert (metric["metric"], metric["level"], metric["higher_is_better"]) == (
        "theirs",
        "dialogue",
        "0",
    )


def test_there_is_no_table_of_them_where_none_was_handed_in(tmp_path: Path) -> None:
    exporters()["csv"].export(small_corpus(), tmp_path / "out", small_scores())
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == [
        "dialogues",
        "ratings",
        "responses",
        "scores",
    ]


def test_excel_reads_every_table_as_utf_8_by_its_mark(tmp_path: Path) -> None:
    rows(tmp_path, "scores")
    files = sorted((tmp_path / "out").glob("*.csv"))
    assert len(files) == 5
    for file in files:
        assert file.read_bytes().startswith(b"\xef\xbb\xbf"), file.name


@pytest.mark.parametrize("kind", [DialogueRecord, ResponseRecord, RatingRecord])
def test_the_tables_are_read_back_as_they_were(tmp_path: Path, kind: type) -> None:
    exporters()["csv"].export(small_corpus(), tmp_path / "out", [])
    assert possible_formats(tmp_path / "out")[0].name == "csv"
    again = [one for one in importers()["csv"].read(tmp_path / "out") if isinstance(one, kind)]
    written = [one for one in small_corpus() if isinstance(one, kind)]
    assert sorted(map(repr, again)) == sorted(map(repr, written))
