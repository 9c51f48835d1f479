"""What the jsonl exporter writes, the jsonl importer reads as the same corpus version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.base import survey
from annotations.formats.importers.canonical import Digest
from annotations.formats.importers.registry import importers
from tests.annotations.formats.exporters.helpers import small_corpus, small_scores, submitted_scores
from tests.annotations.formats.importers.helpers import real_file


def test_an_export_reads_back_as_the_same_records(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path)
    assert list(importers()["jsonl"].read(tmp_path / "corpus.jsonl")) == small_corpus()


def test_an_export_has_the_digest_of_what_was_exported(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path)
    digest = Digest()
    for record in small_corpus():
        digest.add(record)
    (part,) = survey(importers()["jsonl"], tmp_path / "corpus.jsonl")
    assert part.digest == digest.hexdigest()


def test_an_undefined_score_is_null(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path, small_scores())
    rows = [
        json.loads(line)
        for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [
        (r["level"], r["dialogue_id"], r["turn"], r["score"])
        for r in rows
        if r["metric"] == "bleu_4"
    ] == [
        ("turn", "d 1", 0, 0.5),
        ("turn", "d 1", 1, None),
        ("dialogue", "d 1", None, 0.5),
        ("dialogue", "d2", None, None),
        ("system", None, None, -0.25),
    ]


def test_a_metric_that_was_handed_in_has_a_line_and_rows_like_every_other(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path, [*small_scores(), *submitted_scores()])
    rows = [
        json.loads(line)
        for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len({tuple(row) for row in rows}) == 1
    assert [row["level"] for row in rows if row["metric"] == "theirs"] == [
        "dialogue",
        "dialogue",
        "system",
    ] * 2
    [line] = (tmp_path / "submitted_metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "metric": "theirs",
        "signature": "theirs|by:+ann",
        "level": "dialogue",
        "higher_is_better": False,
        "submitted_by": "+ann",
        "link": "https://example.org/theirs",
        "file_sha256": "ab" * 32,
    }


@pytest.mark.parametrize(
    ("format_name", "file"),
    [
        ("usr", "usr/pc_usr_data.json"),
        ("grade", "grade/human_judgement.json"),
        ("fbd", "fbd/dailyz_annotation.json"),
        ("fbd", "fbd/personam_annotation.json"),
        ("fbd", "fbd/convai2_annotation.json"),
        ("cpdc", "cpdc/dummy_data_task1.json"),
    ],
)
def test_real_corpora_go_round_with_their_digest(
    tmp_path: Path, format_name: str, file: str
) -> None:
    importer = importers()[format_name]
    for part in survey(importer, real_file(file)):
        target = tmp_path / (part.part or "whole")
        exporters()["jsonl"].export(importer.read(real_file(file), part.part), target)
        (again,) = survey(importers()["jsonl"], target / "corpus.jsonl")
        assert (again.digest, again.counts, again.corpus) == (part.digest, part.counts, part.corpus)
