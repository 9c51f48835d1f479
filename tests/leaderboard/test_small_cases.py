"""The small inputs on which 0.2.0 went wrong, where DIALEVAL_DATA says where they are (beside the
data)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.formats.importers.base import ImportFailed
from annotations.formats.importers.registry import importers
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.responses import check_responses
from leaderboard.challenges.files.scores import check_scores
from tests.workers.metrics.pairs import data_folder
from workers.metrics.common.readability import ANOTHER_ORDER

ENCODED = "bertscore_f1,simcse,embedding_average,greedy_matching,context_similarity"


@pytest.fixture
def cases() -> Path:
    folder = data_folder().parent / "cases"
    if not folder.is_dir():
        pytest.skip("the small inputs are not beside the data")
    return folder


def scored(file: Path, metrics: str, capsys: Any) -> list[dict[str, Any]]:
    call_command("import_corpus", "jsonl", str(file), "--slug", "c")
    capsys.readouterr()
    call_command("score", "--corpus", "c", "--metrics", metrics, "--inline", "--format", "json")
    return json.loads(capsys.readouterr().out)["runs"]


@pytest.mark.django_db
def test_texts_that_a_model_cannot_tell_apart_are_not_the_same(cases: Path, capsys: Any) -> None:
    for run in scored(cases / "64-unknown-tokens.jsonl", f"word_f1,{ENCODED}", capsys):
        for turn in run["turn_scores"]:
            is_one = turn["score"] is not None and turn["score"] >= 1 - 1e-6
            said = {(one["dialogue"], one["remark"]) for one in run["remarks"]}
            assert not is_one or (turn["dialogue"], ANOTHER_ORDER) in said, (run["metric"], turn)
            assert turn["score"] is not None or turn["reason"]
        assert run["details"]["read"]["tokens"]
        if run["metric"] not in ("word_f1", "context_similarity"):  # which reads the contexts, too
            assert "unknown to the model" in run["details"]["warning"]


@pytest.mark.django_db
def test_curly_and_straight_apostrophes_score_alike(cases: Path, capsys: Any) -> None:
    found: dict[str, list[Any]] = {}
    metrics = "word_f1,bleu_4,meteor,rouge_1"
    for run in scored(cases / "163-curly-apostrophes.jsonl", metrics, capsys):
        found.setdefault(run["metric"], []).append([turn["score"] for turn in run["turn_scores"]])
    assert all(first == second for first, second in found.values())


@pytest.mark.parametrize(
    ("name", "ratings"),
    [
        ("20-ratings-long.csv", [4.0, 5.0]),
        ("21-ratings-excel-semicolon.csv", [4.5]),
        ("23-mturk-batch.csv", [4.0]),
    ],
)
def test_tables_of_ratings_are_taken(cases: Path, name: str, ratings: list[float]) -> None:
    records = importers()["ratings"].read(cases / name)
    assert [record.score for record in records if hasattr(record, "score")] == ratings


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("22-label-studio.json", "label-studio"),
        ("24-potato.jsonl", "potato"),
        ("29-fed.json", "fed"),
    ],
)
def test_files_of_other_programs_say_what_they_look_like(
    cases: Path, name: str, format: str
) -> None:
    with pytest.raises(CommandError, match=f"the file looks like {format}"):
        call_command("import_corpus", "jsonl", str(cases / name), "--slug", "c")


@pytest.mark.parametrize("importer", ["ratings", "jsonl", "usr"])
def test_a_damaged_parquet_file_is_named(cases: Path, importer: str) -> None:
    with pytest.raises(ImportFailed, match="is damaged after row 0: "):
        list(importers()[importer].read(cases / "25-ratings.parquet"))


def test_byte_order_marks_are_passed_over(cases: Path) -> None:
    layout = layout_of(cases / "70-ok.csv")
    assert check_responses(cases / "70-excel-utf8-bom.csv", layout).is_sound
    assert len(list(importers()["jsonl"].read(cases / "10-bom.jsonl"))) == 10
    systems = [
        line.split(",")[0]
        for line in (cases / "104-scores-bom.csv").read_text("utf-8-sig").split()[1:]
    ]
    assert not check_scores(cases / "104-scores-bom.csv", "system", layout, systems).problems
