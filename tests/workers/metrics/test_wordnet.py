"""WordNet is provided whole or not at all. A small stand-in dictionary takes the place of the real
one here."""

import os
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from workers.metrics import wordnet


@pytest.fixture
def dictionary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in WordNet's form with one entry each, and the expected numbers set to match."""
    folder = tmp_path / "source"
    folder.mkdir()
    for part in wordnet.PARTS_OF_SPEECH:
        licence = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  \n"
        (folder / f"data.{part}").write_text(
            licence + "00001740 03 n 01 entity 0 000 | all that is\n"
        )
        (folder / f"index.{part}").write_text(licence + "entity n 1 0 1 1 00001740\n")
        (folder / f"{part}.exc").write_text("entities entity\n")
    (folder / "cntlist.rev").write_text("entity%1:03:00:: 1 11\n")
    for numbers in ("SYNSETS", "ENTRIES", "EXCEPTIONS"):
        monkeypatch.setattr(wordnet, numbers, dict.fromkeys(wordnet.PARTS_OF_SPEECH, 1))
    return folder


@pytest.fixture
def only_source(dictionary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(
        wordnet, "_sources", lambda: iter([("the test", wordnet._copying(dictionary))])
    )
    return dictionary


def test_provides_what_it_finds(
    only_source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wordnet.main(["--to", str(tmp_path / "nltk_data")]) == 0
    wordnet.verify(tmp_path / "nltk_data/corpora/wordnet")
    assert "from the test" in capsys.readouterr().out


def test_a_second_time_changes_nothing(only_source: Path, tmp_path: Path) -> None:
    wordnet.provide(tmp_path)
    before = {
        file.name: file.stat().st_mtime_ns for file in (tmp_path / "corpora/wordnet").iterdir()
    }
    assert wordnet.provide(tmp_path).endswith("already")
    assert {
        file.name: file.stat().st_mtime_ns for file in (tmp_path / "corpora/wordnet").iterdir()
    } == before


def test_a_source_that_breaks_off_leaves_nothing(
    only_source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (only_source / "verb.exc").unlink()
    assert wordnet.main(["--to", str(tmp_path / "nltk_data")]) == 1
    assert list((tmp_path / "nltk_data/corpora").iterdir()) == []
    assert "the test: verb.exc is missing" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["data.noun", "index.verb", "adv.exc"])
def test_a_file_that_lost_its_end_is_not_wordnet(
    only_source: Path, tmp_path: Path, file: str
) -> None:
    whole = (only_source / file).read_bytes()
    (only_source / file).write_bytes(whole[:-5])
    with pytest.raises(wordnet.NotWordNetError, match=file):
        wordnet.provide(tmp_path)


def test_another_version_is_not_wordnet_3_0(only_source: Path, tmp_path: Path) -> None:
    adjectives = only_source / "data.adj"
    adjectives.write_text(adjectives.read_text().replace("WordNet 3.0", "WordNet 3.1"))
    with pytest.raises(wordnet.NotWordNetError, match=r"does not say that it is WordNet 3\.0"):
        wordnet.provide(tmp_path)


def test_a_broken_copy_is_replaced(only_source: Path, tmp_path: Path) -> None:
    broken = tmp_path / "corpora/wordnet"
    broken.mkdir(parents=True)
    (broken / "data.noun").write_text("half")
    wordnet.provide(tmp_path)
    wordnet.verify(broken)
    assert [entry.name for entry in broken.parent.iterdir()] == ["wordnet"]


def test_the_next_source_is_tried(
    dictionary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(into: Path) -> None:
        (into / "data.noun").write_text("half")
        raise subprocess.TimeoutExpired("pip", 600)

    sources = [("a slow one", fails), ("a good one", wordnet._copying(dictionary))]
    monkeypatch.setattr(wordnet, "_sources", lambda: iter(sources))
    assert wordnet.provide(tmp_path).endswith("from a good one")


def test_reads_the_archive_of_nltks_downloader(dictionary: Path, tmp_path: Path) -> None:
    archive = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in dictionary.iterdir():
            packed.write(file, f"wordnet/{file.name}")
    into = tmp_path / "into"
    into.mkdir()
    wordnet._unzipping(archive)(into)
    assert {file.name for file in into.iterdir()} >= set(wordnet.DICTIONARY_FILES)


def test_others_cannot_write_to_it(only_source: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        wordnet.provide(tmp_path / "nltk_data")
    finally:
        os.umask(before)
    paths = [tmp_path / "nltk_data", *(tmp_path / "nltk_data").rglob("*")]
    assert not [path for path in paths if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)]


def test_missing_names_what_to_do(
    only_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALEVAL_HOME", str(tmp_path / "home"))
    assert wordnet.missing() == "WordNet 3.0 is not installed: run make setup"
    wordnet.provide(wordnet.default_folder())
    assert wordnet.missing() == ""


def test_a_home_that_it_makes_is_its_owner_s_alone(
    only_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``make setup`` comes before the site, whose database is to lie there."""
    monkeypatch.setenv("DIALEVAL_HOME", str(tmp_path / "home"))
    before = os.umask(0o022)
    try:
        assert wordnet.main([]) == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_relative_home_starts_at_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALEVAL_HOME", "elsewhere")
    assert wordnet.default_folder() == wordnet.PROJECT / "elsewhere" / "nltk_data"


def test_lexnames_follow_the_manual_page() -> None:
    lines = wordnet.lexnames().splitlines()
    assert len(lines) == 45
    assert lines[0] == "00\tadj.all\t3"
    assert lines[3] == "03\tnoun.Tops\t1"
    assert lines[18] == "18\tnoun.person\t1"
    assert lines[29] == "29\tverb.body\t2"
    assert lines[44] == "44\tadj.ppl\t3"
