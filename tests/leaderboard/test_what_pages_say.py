"""What the pages of a corpus say where something is missing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.test import Client

from annotations.corpora import actions
from annotations.corpora.queries import select_systems, version_of
from annotations.formats.importers.registry import importers
from workers.metrics.common.configuration import parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import actions as runs
from workers.runs import execution

pytestmark = pytest.mark.django_db


def store(
    folder: Path,
    *,
    references: list[str],
    systems: tuple[str, ...] = ("parrot",),
    kind: str = "identified",
) -> None:
    """A corpus "small" of one dialogue and, where there is a system, two raters' scores of its
    response."""
    turn = {
        "number": 0,
        "context": [{"speaker": "A", "text": "What is in the pot?"}],
        "references": references,
    }
    records: list[dict[str, object]] = [
        {"type": "corpus"},
        *({"type": "system", "name": name} for name in systems),
        {"type": "rater", "name": "ann", "kind": kind},
        {"type": "rater", "name": "bob", "kind": kind},
        {
            "type": "dialogue",
            "id": "soup",
            "persona": ["i cook."],
            "partner_persona": [],
            "turns": [turn],
        },
    ]
    for name in systems:
        place = {"dialogue_id": "soup", "turn": 0, "system": name}
        records.append({"type": "response", **place, "text": "Leeks."})
        records += [
            {"type": "rating", **place, "rater": rater, "aspect": "overall", "score": score}
            for rater, score in (("ann", 4), ("bob", 5))
        ]
    path = folder / "small.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    actions.import_corpus(importers()["jsonl"], path, "small")


def page(client: Client, part: str) -> str:
    response = client.get(f"/corpora/small/{part}")
    assert response.status_code == 200
    return response.content.decode()


def test_without_references_the_metric_page_says_why_none_can_be_computed(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lexical = {"word_f1": all_metrics()["word_f1"]}
    monkeypatch.setattr("leaderboard.pages.metrics.text.all_metrics", lambda: lexical)
    store(tmp_path, references=[])
    said = page(client, "metrics/")
    assert "No metric can be computed: " in said
    assert "the corpus has no references" in said


def test_without_systems_the_metric_page_says_so(client: Client, tmp_path: Path) -> None:
    store(tmp_path, references=["Potatoes."], systems=())
    said = page(client, "metrics/")
    assert "The corpus holds no system&#x27;s responses." in said
    assert "Nobody has rated it." in said


def test_where_metrics_can_be_computed_nothing_stands_in_the_way(
    client: Client, tmp_path: Path
) -> None:
    store(tmp_path, references=["Potatoes."])
    said = page(client, "metrics/")
    assert "An organiser has to compute metrics for it." in said
    assert "No metric can be computed" not in said


def test_raters_who_are_known_are_told_apart(client: Client, tmp_path: Path) -> None:
    store(tmp_path, references=["Potatoes."])
    said = page(client, "dialogues/0/")
    assert "mean 4.50 from 2 raters" in said  # (4 + 5) / 2
    assert "rater 1: 4" in said


def test_anonymous_raters_have_no_names(client: Client, tmp_path: Path) -> None:
    store(tmp_path, references=["Potatoes."], kind="anonymous")
    said = page(client, "dialogues/0/")
    assert "mean 4.50 from 2 raters" in said
    assert "rater 1" not in said


def test_without_a_gold_answer_the_page_says_where_systems_answer(
    client: Client, tmp_path: Path
) -> None:
    store(tmp_path, references=[])
    assert "the systems answer here; the corpus has no gold answer" in page(client, "dialogues/0/")


def test_a_download_says_how_each_metric_s_numbers_were_made(
    client: Client, tmp_path: Path
) -> None:
    store(tmp_path, references=["Leeks and salt."])
    version = version_of("small")
    runs.request([parse("bleu_4[normalize=false]")], select_systems(version), hint=False)
    for run in MetricRun.objects.all():
        execution.compute(run.pk)
    table = client.get("/corpora/small/metrics/?download=metric-leaderboard.csv").content.decode(
        "utf-8-sig"
    )
    (row,) = [
        row for row in csv.DictReader(table.splitlines()) if row["metric"].startswith("bleu_4")
    ]
    assert row["signature"].startswith("metric:bleu_4|version:2|normalize:false|")
    assert f"|corpus_version:{version.label}|" in row["signature"]
