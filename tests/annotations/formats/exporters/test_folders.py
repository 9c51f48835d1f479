"""A folder appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.formats.exporters.base import ExportFailed
from annotations.formats.exporters.registry import exporters
from annotations.formats.records import Record
from tests.annotations.formats.exporters.helpers import small_corpus, small_scores


def breaks_off() -> Iterator[Record]:
    yield from small_corpus()[:8]
    raise ValueError("the database went away")


@pytest.mark.parametrize("name", list(exporters()))
def test_a_broken_export_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="went away"):
        exporters()[name].export(breaks_off(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_replacement_leaves_the_old_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")
    with pytest.raises(ValueError, match="went away"):
        exporters()["jsonl"].export(breaks_off(), tmp_path / "out", replace=True)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == [
        "out",
        "out/old.txt",
    ]


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ExportFailed, match="is not empty"):
        exporters()["jsonl"].export(small_corpus(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_is_replaced_when_told(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old.txt").write_text("old")
    exporters()["jsonl"].export(small_corpus(), target, replace=True)
    assert sorted(path.name for path in target.iterdir()) == ["corpus.jsonl", "scores.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_and_a_missing_one_are_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new/folder"):
        exporters()["csv"].export(small_corpus(), tmp_path / name, small_scores())
        assert (tmp_path / name / "ratings.csv").exists()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ExportFailed, match="is a file"):
        exporters()["jsonl"].export(small_corpus(), tmp_path / "out", replace=True)


def test_the_folder_has_the_rights_of_any_new_folder(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    exporters()["jsonl"].export(small_corpus(), tmp_path / "out")
    assert os.stat(tmp_path / "out").st_mode == os.stat(tmp_path / "plain").st_mode
