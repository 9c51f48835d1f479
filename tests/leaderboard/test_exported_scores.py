"""Scores that were handed in stand in the exports of their corpus, beside those of runs and marked.

``length`` counts a response's characters.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

from annotations.corpora import actions
from annotations.formats.importers.registry import importers
from annotations.models import CorpusVersion
from leaderboard.actions import withdraw_submitted_metric
from leaderboard.exports import zipped_export
from leaderboard.queries.exported_scores import exported_scores
from tests.challenges.test_submitted_metrics import TWO_DIALOGUES, hand_in, lengths
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

pytestmark = pytest.mark.django_db

FORMATS = ("jsonl", "csv", "mt-metrics-eval")
Place = tuple[str, str, str | None, int | None]


def export(folder: Path, form: str = "jsonl") -> Path:
    call_command("export_corpus", "small", to=folder, format=form, stdout=io.StringIO())
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def scores_of(folder: Path, metric: str) -> dict[Place, float | None]:
    return {
        (row["system"], row["level"], row["dialogue_id"], row["turn"]): row["score"]
        for row in lines(folder / "scores.jsonl")
        if row["metric"] == metric
    }


# --- which scores ---------------------------------------------------------------------------------


def test_a_built_in_metrics_own_scores_handed_in_are_the_same_rows(
    rated: Rated, tmp_path: Path
) -> None:
    hand_in(rated(TWO_DIALOGUES), lengths(TWO_DIALOGUES))
    folder = export(tmp_path / "out")
    assert scores_of(folder, "mine") == scores_of(folder, "length")
    assert len(scores_of(folder, "mine")) == 3 * (3 + 2 + 1)  # systems × (turns, dialogues, itself)


def test_a_turn_without_a_score_is_null_and_a_system_without_scores_is_not_there(
    rated: Rated, tmp_path: Path
) -> None:
    hand_in(rated(FOUR_RESPONSES), {"echo": [1, None, 2]})
    assert scores_of(export(tmp_path / "out"), "mine") == {
        ("echo", "turn", "d0", 0): 1,
        ("echo", "turn", "d1", 0): None,
        ("echo", "turn", "d2", 0): 2,
        ("echo", "dialogue", "d0", None): 1,
        ("echo", "dialogue", "d1", None): None,
        ("echo", "dialogue", "d2", None): 2,
        ("echo", "system", None, None): 1.5,
    }


def test_scores_of_dialogues_are_of_dialogues_and_systems_alone(
    rated: Rated, tmp_path: Path
) -> None:
    hand_in(rated(TWO_DIALOGUES), {"echo": [2, None]}, "dialogue")
    assert scores_of(export(tmp_path / "out"), "mine") == {
        ("echo", "dialogue", "d0", None): 2,
        ("echo", "dialogue", "d1", None): None,
        ("echo", "system", None, None): 2,
    }


def test_scores_of_systems_are_of_systems_alone(rated: Rated, tmp_path: Path) -> None:
    hand_in(rated(TWO_DIALOGUES), {"echo": [2], "dull": [None]}, "system")
    assert scores_of(export(tmp_path / "out"), "mine") == {
        ("echo", "system", None, None): 2,
        ("dull", "system", None, None): None,
    }


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_is_byte_for_byte_as_before_once_the_metric_is_withdrawn(
    rated: Rated, tmp_path: Path, form: str
) -> None:
    version = rated(TWO_DIALOGUES)
    before = contents(export(tmp_path / "before", form))
    metric = hand_in(version, lengths(TWO_DIALOGUES))
    assert contents(export(tmp_path / "shown", form)) != before
    withdraw_submitted_metric(metric, "computed on another corpus")
    assert contents(export(tmp_path / "after", form)) == before


@pytest.mark.parametrize("form", FORMATS)
def test_no_file_holds_what_was_handed_in_for_a_withheld_system(
    rated: Rated, tmp_path: Path, form: str
) -> None:
    version = rated(TWO_DIALOGUES)
    hand_in(version, {"echo": [1, 2, 3], "dull": [0.125, 0.125, 0.125]})
    hand_in(version, {"dull": [0.375]}, "system", name="other")
    version.systems.filter(name="dull").update(withheld=True)
    assert {record.system for record in exported_scores(version) if record.submitted} == {"echo"}
    for name, content in contents(export(tmp_path / "out", form)).items():
        for secret in (b"dull", b"0.125", b"0.375", b"other"):
            assert secret not in name.encode() + content


# --- how they are marked --------------------------------------------------------------------------


def test_a_line_tells_level_direction_and_sender_under_the_signature_of_the_scores(
    rated: Rated, tmp_path: Path
) -> None:
    version = rated(FOUR_RESPONSES)
    hand_in(
        version, {"echo": [1, None, 2]}, higher_is_better=False, link="https://example.org/mine"
    )
    folder = export(tmp_path / "out")
    signature = (
        f"metric:mine|submitted_by:ann|scores_of:turns|file_sha256:{'ab' * 32}|corpus:small|"
        f"corpus_version:{version.label}"
    )
    assert lines(folder / "submitted_metrics.jsonl") == [
        {
            "metric": "mine",
            "signature": signature,
            "level": "turn",
            "higher_is_better": False,
            "submitted_by": "ann",
            "link": "https://example.org/mine",
            "file_sha256": "ab" * 32,
        }
    ]
    assert {
        row["signature"] for row in lines(folder / "scores.jsonl") if row["metric"] == "mine"
    } == {signature}


def test_csv_has_them_in_its_tables(rated: Rated, tmp_path: Path) -> None:
    hand_in(rated(FOUR_RESPONSES), {"echo": [0.5, None, -2.25]})
    folder = export(tmp_path / "out", "csv")
    with (folder / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        mine = [
            (row["level"], row["score"]) for row in csv.DictReader(file) if row["metric"] == "mine"
        ]
    assert mine[:3] == [("turn", "0.5"), ("turn", ""), ("turn", "-2.25")]
    with (folder / "submitted_metrics.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [(row["metric"], row["higher_is_better"]) for row in csv.DictReader(file)] == [
            ("mine", "1")
        ]


def test_mt_metrics_eval_has_a_file_a_level_and_none_where_there_is_no_score(
    rated: Rated, tmp_path: Path
) -> None:
    hand_in(rated(FOUR_RESPONSES), {"echo": [1, None, 2]})
    folder = export(tmp_path / "out", "mt-metrics-eval") / "metric-scores" / "context-response"
    files = {path.name: path.read_text().splitlines() for path in folder.glob("mine-*")}
    assert sorted(files) == ["mine-all.doc.score", "mine-all.seg.score", "mine-all.sys.score"]
    assert files["mine-all.seg.score"] == [
        "echo\t1.0",
        "echo\tNone",
        "echo\t2.0",
        *["dull\tNone"] * 3,
    ]
    assert files["mine-all.sys.score"] == ["echo\t1.5", "dull\tNone"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_metric_that_is_built_in_later_is_kept_apart(
    rated: Rated, tmp_path: Path, form: str
) -> None:
    hand_in(rated(FOUR_RESPONSES), {"echo": [7.25]}, "system", name="length")
    files = contents(export(tmp_path / "out", form))
    if form == "mt-metrics-eval":
        assert b"7.25" not in files["metric-scores/context-response/length-src.sys.score"]
        assert b"7.25" in files["metric-scores/context-response/length_submitted_-all.sys.score"]
    else:
        [line] = [line for line in files[f"scores.{form}"].splitlines() if b"7.25" in line]
        assert b"length (submitted)" in line


# --- where they stand -----------------------------------------------------------------------------


def test_the_corpus_that_is_imported_again_is_the_same_version(
    rated: Rated, tmp_path: Path
) -> None:
    version: CorpusVersion = rated(TWO_DIALOGUES)
    hand_in(version, lengths(TWO_DIALOGUES))
    folder = export(tmp_path / "out")
    (again,) = actions.import_corpus(importers()["jsonl"], folder / "corpus.jsonl", "small")
    assert (again.created, again.version) == (False, version)


def test_the_archive_of_the_api_holds_the_same_files(rated: Rated, tmp_path: Path) -> None:
    version = rated(FOUR_RESPONSES)
    hand_in(version, {"echo": [1, None, 2]})
    archive = zipfile.ZipFile(
        io.BytesIO(b"".join(zipped_export(version, "jsonl", raters_named=True)))
    )
    found = {name.removeprefix("small/"): archive.read(name) for name in archive.namelist()}
    assert found == contents(export(tmp_path / "out"))
    assert "submitted_metrics.jsonl" in found


@pytest.mark.parametrize("tool", ["label-studio", "argilla"])
def test_what_comes_back_from_a_tool_is_the_same_version(
    rated: Rated, tmp_path: Path, tool: str
) -> None:
    version: CorpusVersion = rated(TWO_DIALOGUES)
    folder = export(tmp_path / "out", tool)
    (again,) = actions.import_corpus(importers()[tool], folder, "small")
    assert (again.created, again.version) == (False, version)


def test_an_organiser_downloads_the_same_files_on_the_page(rated: Rated, tmp_path: Path) -> None:
    rated(FOUR_RESPONSES)
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("mara"))
    page = client.get("/corpora/small/").content.decode()
    assert '<option value="label-studio">' in page
    answer = client.get("/corpora/small/export/", {"format": "label-studio", "version": "1"})
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer)))
    found = {name.removeprefix("small/"): archive.read(name) for name in archive.namelist()}
    assert found == contents(export(tmp_path / "out", "label-studio"))
    assert client.get("/corpora/small/export/", {"format": "exe"}).status_code == 404
