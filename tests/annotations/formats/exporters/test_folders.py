"""A folder appears whole or not at all, and what is downloaded can be imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.formats.exporters.base import ExportFailed
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import DialogueRecord, Record
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


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_is_never_replaced(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ExportFailed, match=r"^out is a file, not a folder$"):
        exporters()["jsonl"].export(small_corpus(), tmp_path / "out", replace=replace)
    assert (tmp_path / "out").read_text() == "mine"


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


@pytest.mark.parametrize("name", sorted(exporters().keys() & importers().keys()))
def test_a_downloaded_zip_with_scores_is_recognised_as_its_format(
    tmp_path: Path, name: str
) -> None:
    """The zip that a corpus's page offers holds one folder, with metric scores in it."""
    exporters()[name].export(small_corpus(), tmp_path / "out" / "small-v1", small_scores())
    packed = Path(shutil.make_archive(str(tmp_path / "small"), "zip", tmp_path / "out"))
    assert likely_format(packed) == (name, "")
    assert sum(isinstance(one, DialogueRecord) for one in importers()[name].read(packed)) == 2


def test_a_downloaded_zip_of_jsonl_holds_the_same_records(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path / "out" / "small-v1", small_scores())
    packed = Path(shutil.make_archive(str(tmp_path / "small"), "zip", tmp_path / "out"))
    assert list(importers()["jsonl"].read(packed)) == small_corpus()


def test_a_fault_in_a_folder_of_jsonl_names_the_file(tmp_path: Path) -> None:
    exporters()["jsonl"].export(small_corpus(), tmp_path / "out", small_scores())
    with (tmp_path / "out" / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"type": "nonsense"}\n')
    with pytest.raises(ImportFailed, match=r"corpus\.jsonl:\d+: type: 'nonsense' is"):
        list(importers()["jsonl"].read(tmp_path / "out"))
