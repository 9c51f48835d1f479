"""``export_corpus``: what was imported comes out again, with what was computed since."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from huggingface_hub import constants

from annotations.corpora import actions, record_stream
from annotations.corpora.queries import version_of
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    CorpusRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
)
from annotations.models import CorpusVersion, Response
from tests.annotations.stored import dialogue, rated_corpus, stored, two_systems
from tests.hub_double import SHA, TOKEN, hub_double
from workers.runs.score_records import score_records_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path, odd_metrics: None) -> CorpusVersion:
    """``two_systems``: echo answers "the answer", "the reply", "an answer"; dull answers "yes",
    nothing, "no"."""
    return stored(two_systems(), tmp_path)


def export(slug: str, folder: Path, form: str = "jsonl", **options: object) -> Path:
    call_command("export_corpus", slug, to=folder, format=form, **options)
    return folder


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- round trips ----------------------------------------------------------------------------------


def test_an_exported_corpus_imported_again_is_the_same_version(
    version: CorpusVersion, tmp_path: Path
) -> None:
    folder = export("small", tmp_path / "out")
    (again,) = actions.import_corpus(importers()["jsonl"], folder / "corpus.jsonl", "small")
    assert (again.created, again.version) == (False, version)


def test_records_come_out_as_they_went_in_ratings_after_the_responses_of_their_dialogue(
    tmp_path: Path,
) -> None:
    first = dialogue("d0", turns=2)
    head = [
        CorpusRecord(
            name="named",
            simulated=True,
            description="two lines\nof it",
            aspects=("overall", "Natural"),
            scale=(0.0, 9.0),
            scales=(("Natural", None, 3.0),),
        ),
        SystemRecord("zebra", "human", "a person"),
        SystemRecord("ant", "gold"),
        RaterRecord("zoe", "anonymous"),
        RaterRecord("ann"),
    ]
    answers = [
        ResponseRecord("d0", 1, "zebra", "late"),
        ResponseRecord("d0", 0, "ant", ""),
        ResponseRecord("d0", 0, "zebra", "hi"),
    ]
    ratings = [
        RatingRecord("d0", 0, "ant", "ann", "overall", 9.0, "why not"),
        RatingRecord("d0", None, "zebra", "zoe", "Natural", 2.5),
        RatingRecord("d0", 1, "zebra", "zoe", "overall", 0.0),
    ]
    mixed = [first, answers[0], ratings[2], answers[1], ratings[0], answers[2], ratings[1]]
    version = stored([*head, *mixed], tmp_path)
    found = list(records_of(version))
    assert found[0].scale_of("overall") == (0.0, 9.0)
    assert found[0].scale_of("Natural") == (None, 3.0)
    assert found[1:] == [*head[1:], first, *answers, ratings[2], ratings[0], ratings[1]]
    folder = export("small", tmp_path / "out")
    (again,) = actions.import_corpus(importers()["jsonl"], folder / "corpus.jsonl", "small")
    assert (again.created, again.version) == (False, version)


def test_dialogues_are_read_some_at_a_time_and_none_is_lost(tmp_path: Path, monkeypatch) -> None:
    names = [str(number) for number in range(5)]
    version = stored(
        rated_corpus(
            [dialogue(name) for name in names],
            {(name, 0, "echo"): f"answer {name}" for name in names},
            {(name, 0, "echo"): {"ann": 3} for name in names},
        ),
        tmp_path,
    )
    whole = list(records_of(version))
    monkeypatch.setattr(record_stream, "FIRST_READ", 2)
    monkeypatch.setattr(record_stream, "LARGEST_READ", 2)
    assert list(records_of(version)) == whole
    assert [one.text for one in whole if isinstance(one, ResponseRecord)] == [
        f"answer {name}" for name in names
    ]
    assert [one.dialogue_id for one in whole if isinstance(one, RatingRecord)] == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("usr", "usr/pc_usr_data.json"),
        ("grade", "grade/human_judgement.json"),
        ("fbd", "fbd/dailyz_annotation.json"),
        ("cpdc", "cpdc/dummy_data_task1.json"),
    ],
)
def test_real_corpora_go_round_through_the_database(
    data: Path, tmp_path: Path, form: str, file: str
) -> None:
    for outcome in actions.import_corpus(importers()[form], data / file, form):
        slug = outcome.version.corpus.slug
        folder = export(slug, tmp_path / slug)
        (again,) = actions.import_corpus(importers()["jsonl"], folder / "corpus.jsonl", slug)
        assert (again.created, again.version) == (False, outcome.version)


# --- scores ---------------------------------------------------------------------------------------


def test_finished_runs_are_exported_with_undefined_scores_as_null(
    version: CorpusVersion, tmp_path: Path
) -> None:
    call_command("score", corpus="small", metrics="length", inline=True)
    found = {
        (one["system"], one["level"], one["dialogue_id"], one["turn"]): one["score"]
        for one in lines(export("small", tmp_path / "out") / "scores.jsonl")
    }
    assert found == {
        ("echo", "turn", "d0", 0): 10.0,
        ("echo", "turn", "d0", 1): 9.0,
        ("echo", "turn", "d1", 0): 9.0,
        ("echo", "dialogue", "d0", None): 9.5,  # (10 + 9) / 2
        ("echo", "dialogue", "d1", None): 9.0,
        ("echo", "system", None, None): pytest.approx(28 / 3),
        ("dull", "turn", "d0", 0): 3.0,
        ("dull", "turn", "d0", 1): None,  # no response
        ("dull", "turn", "d1", 0): 2.0,
        ("dull", "dialogue", "d0", None): 3.0,  # the mean of what is defined
        ("dull", "dialogue", "d1", None): 2.0,
        ("dull", "system", None, None): 2.5,
    }


def test_one_metric_has_one_signature_though_systems_differ_in_n(version: CorpusVersion) -> None:
    call_command("score", corpus="small", metrics="length", inline=True)
    signatures = {record.signature for record in score_records_of(version)}
    assert signatures == {f"metric:length|version:1|corpus:small|corpus_version:{version.label}"}


def test_only_metrics_that_need_references_are_said_to_read_them(version: CorpusVersion) -> None:
    call_command("score", corpus="small", metrics="length,word_f1", inline=True)
    assert {record.metric: record.uses_references for record in score_records_of(version)} == {
        "length": False,
        "word_f1": True,
    }


# --- the command ----------------------------------------------------------------------------------


def test_csv_holds_a_row_a_response(version: CorpusVersion, tmp_path: Path) -> None:
    with (export("small", tmp_path / "out", "csv") / "responses.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    assert rows[0] == {"dialogue_id": "d0", "turn": "0", "system": "echo", "text": "the answer"}


def test_mt_metrics_eval_holds_a_line_a_segment(version: CorpusVersion, tmp_path: Path) -> None:
    call_command("score", corpus="small", metrics="word_f1", inline=True)
    folder = export("small", tmp_path / "out", "mt-metrics-eval")
    scores = folder / "metric-scores" / "context-response" / "word_f1-all.seg.score"
    # "the answer" against the reference "the answer" is 1; "the reply" and "an answer" lose their
    # articles.
    assert scores.read_text().splitlines()[:3] == ["echo\t1.0", "echo\t0.0", "echo\t1.0"]
    assert (
        folder / "human-scores" / "context-response.overall.seg.score"
    ).read_text().splitlines() == [
        "echo\t3.0",
        "echo\t5.0",
        "echo\tNone",
        "dull\t1.0",
        "dull\tNone",
        "dull\t2.0",
    ]


def test_the_command_says_in_one_line_what_it_wrote(
    version: CorpusVersion, tmp_path: Path, capsys
) -> None:
    export("small", tmp_path / "out")
    assert (
        capsys.readouterr().out == f"small: wrote {version.label} to {tmp_path / 'out'} as jsonl\n"
    )


def test_a_folder_that_holds_something_is_left_alone_unless_told(
    version: CorpusVersion, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    with pytest.raises(CommandError, match="out is not empty"):
        export("small", tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "keep"
    export("small", tmp_path / "out", replace=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "corpus.jsonl",
        "scores.jsonl",
    ]


def test_an_unknown_corpus_and_a_place_that_cannot_be_written_are_refused(
    version: CorpusVersion, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=r"there is no corpus large\. Corpora: small"):
        export("large", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match=r"cannot be written|is a file"):
        export("small", tmp_path / "file" / "out")
    assert version_of("small") == version
    assert Response.objects.count() == 5


# --- to the Hub -----------------------------------------------------------------------------------


def test_what_is_pushed_names_no_rater_and_is_private(
    version: CorpusVersion, settings: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with hub_double() as hub:
        settings.HF_ENDPOINT, settings.HF_TOKEN = hub.url, TOKEN
        call_command("export_corpus", "small", format="dataset", push="hf://datasets/lab/small")
    assert capsys.readouterr().out.endswith(f"hf://datasets/lab/small@{SHA}\n")
    assert hub.repositories["lab/small"].private
    tables = [pq.read_table(io.BytesIO(body)).to_pylist() for body in hub.uploaded.values()]
    names = {row["rater"] for rows in tables for row in rows if "rater" in row}
    assert names == {"rater 1", "rater 2"}
    assert {rater.name for rater in version.raters.all()}.isdisjoint(names)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"push": "hf://datasets/lab/small", "format": "csv"}, "takes --format dataset"),
        ({"push": "hf://datasets/lab/small", "format": "dataset"}, "set HF_TOKEN"),
        ({"to": "x", "public": True}, "--public is for --push"),
    ],
)
def test_a_push_that_cannot_be_is_refused(
    version: CorpusVersion, settings: Any, options: dict[str, Any], told: str
) -> None:
    settings.HF_TOKEN = ""
    with pytest.raises(CommandError, match=told):
        call_command("export_corpus", "small", **options)
