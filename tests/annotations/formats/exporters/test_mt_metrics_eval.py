"""The folder layout of mt-metrics-eval, as its README describes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.formats.exporters.base import MetricScoresRecord, SafeNames
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from tests.annotations.formats.exporters.helpers import small_corpus, small_scores, submitted_scores
from tests.annotations.formats.importers.helpers import real_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    exporters()["mt-metrics-eval"].export(small_corpus(), tmp_path / "small", small_scores())
    return tmp_path / "small"


def lines(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text(encoding="utf-8").split("\n")[:-1]


def test_the_files_are_those_of_the_layout(folder: Path) -> None:
    assert sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    ) == [
        "documents/context-response.docs",
        "human-scores/context-response.Uses_Knowledge.doc.score",
        "human-scores/context-response.Uses_Knowledge.sys.score",
        "human-scores/context-response.overall.seg.score",
        "human-scores/context-response.overall.sys.score",
        "metric-scores/context-response/bleu_4-all.doc.score",
        "metric-scores/context-response/bleu_4-all.seg.score",
        "metric-scores/context-response/bleu_4-all.sys.score",
        "metric-scores/context-response/pmi-src.sys.score",
        "names.tsv",
        "references/context-response.ref1.txt",
        "references/context-response.ref2.txt",
        "sources/context-response.txt",
        "system-outputs/context-response/_dull_one.txt",
        "system-outputs/context-response/echo.txt",
    ]


def test_a_turn_is_a_segment_and_a_dialogue_a_document(folder: Path) -> None:
    assert lines(folder, "documents/context-response.docs") == [
        "dialogue d_1",
        "dialogue d_1",
        "dialogue d2",
    ]
    assert lines(folder, "sources/context-response.txt") == [
        "A: hi there",
        "A: hi B: hello A: bye",
        "A: who ?",
    ]


def test_line_ends_in_text_are_spaces_and_missing_answers_are_blank(folder: Path) -> None:
    assert lines(folder, "system-outputs/context-response/echo.txt") == [
        "hi there",
        "+bye",
        "who ? é",
    ]
    assert lines(folder, "system-outputs/context-response/_dull_one.txt") == ["ok", "", ""]


def test_a_second_reference_is_blank_where_a_turn_has_one(folder: Path) -> None:
    assert lines(folder, "references/context-response.ref1.txt") == ["hello", "see you", "me"]
    assert lines(folder, "references/context-response.ref2.txt") == ["hey", "", ""]


def test_human_scores_are_means_over_raters_in_blocks_of_systems(folder: Path) -> None:
    # Turn 0 of "d 1": (4 + 1) / 2; the system: (2.5 + 2) / 2 over the two rated turns.
    assert lines(folder, "human-scores/context-response.overall.seg.score") == [
        "echo\t2.5",
        "echo\t2.0",
        "echo\tNone",
        "_dull_one\tNone",
        "_dull_one\tNone",
        "_dull_one\tNone",
    ]
    assert lines(folder, "human-scores/context-response.overall.sys.score") == [
        "echo\t2.25",
        "_dull_one\tNone",
    ]


def test_undefined_and_missing_metric_scores_are_none(folder: Path) -> None:
    assert lines(folder, "metric-scores/context-response/bleu_4-all.seg.score")[:4] == [
        "echo\t0.5",
        "echo\tNone",
        "echo\tNone",
        "_dull_one\tNone",
    ]
    assert lines(folder, "metric-scores/context-response/bleu_4-all.sys.score") == [
        "echo\t-0.25",
        "_dull_one\tNone",
    ]


def test_two_configurations_with_one_label_are_two_files(tmp_path: Path) -> None:
    scores = [
        MetricScoresRecord("m", "echo", signature, {}, {}, 1.0) for signature in ("m|v1", "m|v2")
    ]
    exporters()["mt-metrics-eval"].export(small_corpus(), tmp_path / "out", scores)
    assert sorted(
        path.name for path in (tmp_path / "out/metric-scores/context-response").iterdir()
    ) == [
        "m_m_v1-all.sys.score",
        "m_m_v2-all.sys.score",
    ]


def test_a_metric_that_was_handed_in_has_files_and_a_line_that_names_them(tmp_path: Path) -> None:
    exporters()["mt-metrics-eval"].export(
        small_corpus(), tmp_path / "out", [*small_scores(), *submitted_scores()]
    )
    scores = "metric-scores/context-response/theirs-all"
    assert lines(tmp_path / "out", f"{scores}.sys.score") == ["echo\t2.0", "_dull_one\t3.0"]
    assert lines(tmp_path / "out", f"{scores}.doc.score")[:2] == ["echo\t2.0", "echo\tNone"]
    heading, line = (one.split("\t") for one in lines(tmp_path / "out", "submitted_metrics.tsv"))
    assert dict(zip(heading, line, strict=True)) == {
        "metric": "theirs",
        "signature": "theirs|by:+ann",
        "level": "dialogue",
        "higher_is_better": "0",
        "submitted_by": "'+ann",
        "link": "https://example.org/theirs",
        "file_sha256": "ab" * 32,
        "name in the files": "theirs-all",
    }


def test_a_metric_of_a_plug_in_that_is_gone_and_one_of_its_name_that_was_handed_in_are_two_files(
    tmp_path: Path,
) -> None:
    computed = [
        MetricScoresRecord(name, "echo", f"{name}|v1", {}, {}, 1.0) for name in ("theirs", "zeta")
    ]
    exporters()["mt-metrics-eval"].export(
        small_corpus(), tmp_path / "out", [*computed, *submitted_scores()]
    )
    folder = tmp_path / "out/metric-scores/context-response"
    assert lines(folder, "theirs-all.sys.score") == ["echo\t1.0", "_dull_one\tNone"]
    assert lines(folder, "theirs_theirs_by_+ann-all.sys.score") == ["echo\t2.0", "_dull_one\t3.0"]


def test_one_metric_s_scores_are_held_at_a_time(tmp_path: Path) -> None:
    """A corpus may have many metrics of many systems of many turns."""
    written: list[int] = []

    def scores() -> Iterator[MetricScoresRecord]:
        for metric in "abc":
            for system in ("echo", "=dull/one"):
                yield MetricScoresRecord(metric, system, metric, {}, {}, 1.0)
            written.append(len(list(tmp_path.rglob("*.sys.score"))))

    exporters()["mt-metrics-eval"].write(small_corpus()[:-1], scores(), tmp_path)
    assert [count - written[0] for count in written] == [0, 1, 2]


def test_a_reference_that_first_comes_later_keeps_the_lines_apart(tmp_path: Path) -> None:
    def dialogue(name: str, references: tuple[str, ...]) -> DialogueRecord:
        return DialogueRecord(name, (), (), (TurnRecord(0, (Utterance("A", "hi"),), references),))

    records: list[Record] = [
        CorpusRecord(),
        SystemRecord("s"),
        dialogue("0", ()),
        dialogue("1", ("hello",)),
    ]
    exporters()["mt-metrics-eval"].export(records, tmp_path / "out")
    assert lines(tmp_path / "out", "references/context-response.ref1.txt") == ["", "hello"]


def test_names_that_would_collide_are_kept_apart() -> None:
    names = SafeNames(reserved=["ref1"])
    safe = [names.of(name) for name in ("a b", "a/b", "A_B", "ref1", "日本", "中国", "..")]
    assert len({name.casefold() for name in safe}) == len(safe)
    assert "ref1" not in safe
    assert all(name.isascii() and not name.startswith(".") and "/" not in name for name in safe)
    assert names.of("a/b") == safe[1]


def test_the_real_usr_corpus_has_a_line_for_every_segment_everywhere(tmp_path: Path) -> None:
    records = importers()["usr"].read(real_file("usr/pc_usr_data.json"))
    exporters()["mt-metrics-eval"].export(records, tmp_path / "usr")
    for pattern, count in (
        ("sources/*", 60),
        ("references/*", 60),
        ("system-outputs/*/*", 60),
        ("documents/*", 60),
    ):
        for path in (tmp_path / "usr").glob(pattern):
            if path.is_file():
                assert len(path.read_text(encoding="utf-8").split("\n")) == count + 1
    assert (
        len(lines(tmp_path / "usr", "human-scores/context-response.Maintains_Context.seg.score"))
        == 5 * 60
    )


def test_a_system_without_answers_has_blank_lines(tmp_path: Path) -> None:
    turn = TurnRecord(0, (Utterance("A", "hi"),))
    records: list[Record] = [
        CorpusRecord(),
        SystemRecord("s"),
        SystemRecord("t"),
        DialogueRecord("0", (), (), (turn,)),
        ResponseRecord("0", 0, "s", "yes"),
    ]
    exporters()["mt-metrics-eval"].export(records, tmp_path / "out")
    assert lines(tmp_path / "out", "system-outputs/context-response/t.txt") == [""]
