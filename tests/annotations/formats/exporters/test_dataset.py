"""A dataset folder holds everything and is read back as the same corpus; its card names each
table's file, as the Hugging Face Hub wants it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from annotations.formats.exporters.dataset import path_of
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.base import survey
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)
from tests.annotations.formats.exporters.helpers import small_corpus, small_scores, submitted_scores
from tests.annotations.formats.importers.helpers import real_file

EXPORT = exporters()["dataset"].export


def conversation() -> list[Record]:
    """One of everything that a persona dialogue has not."""
    call = {"type": "tool_call", "id": "c1", "arguments": {"city": "Oslo"}}
    messages = (
        Message("system", "Be brief."),
        Message("user", "Weather?", name="Kari", time="2026-01-02T03:04:05Z"),
        Message("assistant", "", parts=(call,)),
        Message("tool", "4 °C 🌧", metadata={"latency": 0.5}),
    )
    return [
        CorpusRecord(name="* _all_ <b>", scales=(("overall", 0.0, None),), language="nb"),
        SystemRecord("one"),
        RaterRecord("r"),
        DialogueRecord(
            "d",
            (),
            (),
            (TurnRecord(0, after=4),),
            messages,
            knowledge=("It rains.",),
            metadata={"split": "dev", "n": 3},
        ),
        ResponseRecord("d", 0, "one", "Rain."),
        ResponseRecord("d", 0, "one", "Wet.", sample=1, metadata={"seed": 7}),
        RatingRecord("d", 0, "one", "r", "overall", 4.0),
        LabelRecord("d", 0, "one", "r", "faults", ("rude", "short")),
        LabelRecord("d", None, "", "r", "topic", "weather", message=1),
        PreferenceRecord("d", 0, "one", "one", "b", "r", sample_b=1, comment="wet!"),
    ]


@pytest.mark.parametrize("records", [small_corpus(), conversation()], ids=["persona", "messages"])
def test_an_export_reads_back_as_the_same_records(tmp_path: Path, records: list[Record]) -> None:
    EXPORT(records, tmp_path)
    assert list(importers()["dataset"].read(tmp_path)) == records


def test_the_folder_is_detected(tmp_path: Path) -> None:
    EXPORT(conversation(), tmp_path)
    assert likely_format(tmp_path) == ("dataset", "")


def test_a_real_corpus_goes_round_with_its_digest(tmp_path: Path) -> None:
    file = real_file("usr/pc_usr_data.json")
    (part,) = survey(importers()["usr"], file)
    EXPORT(importers()["usr"].read(file), tmp_path)
    (again,) = survey(importers()["dataset"], tmp_path)
    assert (again.digest, again.counts) == (part.digest, part.counts)


def test_the_card_names_each_table_and_its_rows(tmp_path: Path) -> None:
    EXPORT(small_corpus(), tmp_path, [*small_scores(), *submitted_scores()])
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    heading = yaml.safe_load(card.split("---\n")[1])
    files = {one["config_name"]: tmp_path / one["data_files"] for one in heading["configs"]}
    assert {name: pq.read_table(file).num_rows for name, file in files.items()} == {
        "corpus": 1,
        "systems": 2,
        "raters": 2,
        "dialogues": 2,
        "responses": 5,
        "ratings": 4,
        "metric_scores": 12,
        "submitted_metrics": 1,
    }
    assert [one["config_name"] for one in heading["configs"] if one.get("default")] == ["responses"]
    assert "* `bleu_4|v1`" in card


def test_the_card_shows_markup_of_a_corpus_as_text(tmp_path: Path) -> None:
    EXPORT(conversation(), tmp_path)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "# \\* \\_all\\_ \\<b\\>" in card
    assert yaml.safe_load(card.split("---\n")[1])["pretty_name"] == "* _all_ <b>"


def test_scores_keep_what_is_undefined(tmp_path: Path) -> None:
    EXPORT(small_corpus(), tmp_path, small_scores())
    rows = pq.read_table(path_of(tmp_path, "metric_scores")).to_pylist()
    assert [row["score"] for row in rows if row["level"] == "turn"] == [0.5, None]


def test_more_rows_than_are_held_at_once_are_all_written(tmp_path: Path) -> None:
    turns = tuple(TurnRecord(number, ()) for number in range(2_500))
    records = [
        CorpusRecord(),
        SystemRecord("s"),
        DialogueRecord("d", (), (), turns),
        *(ResponseRecord("d", number, "s", str(number)) for number in range(2_500)),
    ]
    EXPORT(records, tmp_path)
    table = pq.read_table(path_of(tmp_path, "responses"))
    assert table["text"].to_pylist() == [str(number) for number in range(2_500)]


def rewritten(folder: Path, table: str, rows: list[dict], schema: pa.Schema | None = None) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema), path_of(folder, table))


@pytest.mark.parametrize(
    ("table", "rows", "where"),
    [
        ("responses", [{"dialogue_id": "elsewhere", "turn": 0}], "responses[1]"),
        ("responses", [{"dialogue_id": 7, "turn": "x"}], "responses[1]"),
        ("dialogues", [{"dialogue_id": "d", "messages": "all"}], "dialogues[1].messages"),
        ("dialogues", [{"dialogue_id": "d", "metadata": "{"}], "dialogues[1].metadata"),
        ("corpus", [{"scales": [1, 2]}], "corpus[1]"),
        ("labels", [{"dialogue_id": "d", "values": 3}], "labels[1]"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, table: str, rows: list[dict], where: str) -> None:
    EXPORT(conversation(), tmp_path)
    rewritten(tmp_path, table, rows)
    with pytest.raises(ImportFailed) as refusal:
        list(importers()["dataset"].read(tmp_path))
    assert where in "\n".join(map(str, refusal.value.problems))


def test_half_a_table_is_named(tmp_path: Path) -> None:
    EXPORT(conversation(), tmp_path)
    whole = path_of(tmp_path, "dialogues").read_bytes()
    path_of(tmp_path, "dialogues").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ImportFailed, match="damaged"):
        list(importers()["dataset"].read(tmp_path))


def test_load_dataset_reads_the_folder(tmp_path: Path) -> None:
    """In a process of its own: where it caches is decided when it is imported."""
    EXPORT(conversation(), tmp_path / "corpus", small_scores())
    read = (
        "import sys; from datasets import load_dataset as load; folder = sys.argv[1];"
        "print(list(load(folder)['train']['text']));"
        "print(load(folder, 'dialogues')['train'][0]['messages'][1]['content'])"
    )
    cache = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", read, str(tmp_path / "corpus")],
        env=os.environ | cache,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.splitlines()[-2:] == ["['Rain.', 'Wet.']", "Weather?"], ended.stderr
