"""Which format a file looks like, for who chose another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotations.formats.importers.registry import importers, likely_format, possible_formats
from tests.annotations.formats.importers.helpers import file_of
from tests.site import PROJECT

CPDC = (
    '[\n  {"dialog_id": "0", "turn_0": {"persona A": [], "persona B": [], "dialogue": [], '
    '"gold_reference": "x"}}]'
)


EXAMPLES = {name: one.example for name, one in importers().items() if one.example}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_importer_s_example_looks_like_its_format(tmp_path: Path, name: str) -> None:
    # What ``ratings`` takes, ``table`` takes, too, and keeps more of it
    wanted = "table" if name == "ratings" else name
    assert likely_format(file_of(tmp_path, EXAMPLES[name])) == (wanted, "")


def test_a_file_of_the_challenge_kit_looks_like_its_format(tmp_path: Path) -> None:
    assert likely_format(file_of(tmp_path, CPDC)) == ("cpdc", "")


FILES = {
    "cpdc": "cpdc/dummy_data_task1.json",
    "usr": "usr/pc_usr_data.json",
    "grade": "grade/human_judgement.json",
    "fbd": "fbd/personam_annotation.json",
    "dailydialog": "dailydialog/valid.json",
}


@pytest.mark.parametrize("name", FILES)
def test_a_published_file_looks_like_its_format(data: Path, name: str) -> None:
    assert likely_format(data / FILES[name]) == (name, "")


NOTHING = {
    "a list": b"[]",
    "another's text": b"Dear all, see you tomorrow",
    "a sign far below": b"[" + b" " * 300_000 + CPDC[1:].encode(),
}


@pytest.mark.parametrize("content", NOTHING.values(), ids=NOTHING)
def test_what_has_no_sign_looks_like_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert possible_formats(path) == []
    assert likely_format(path) == (None, "no known format is recognised")


NO_DATA = {
    "it is empty": b"\xef\xbb\xbf\n",
    "it is a web page": b"<!DOCTYPE html><html>Not found</html>",
    "it is a PDF; give a text file": b"%PDF-1.4\n%\xe2\xe3",
    "it is a pointer of Git LFS; fetch the file itself with git lfs pull": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 10\n"
    ),
    "it holds NUL bytes: no text, or UTF-16 without a byte order mark; save it as UTF-8": (
        "id,text".encode("utf-16-be")
    ),
    "it is compressed; what it holds is damaged, or of no known format": b"\x1f\x8b\x08",
    "it is damaged after row 0: Parquet magic bytes not found in footer. Either the file is "
    "corrupted or this is not a parquet file.": b"PAR1" + b"x" * 100,
    "no known format is recognised; it is a table with the columns colour, size: choose the format "
    "table, and map them": b"colour,size\nred,3\n",
    "no known format is recognised: it has more than 2,000 columns": (
        b",".join(b"c%d" % n for n in range(30_000)) + b"\n"
    ),
    "no known format is recognised; its records have the fields colour": b'[{"colour": "red"}]',
}


@pytest.mark.parametrize("reason", NO_DATA)
def test_what_a_file_is_instead_is_said(tmp_path: Path, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(NO_DATA[reason])
    assert likely_format(path) == (None, reason)


def test_a_folder_of_several_kinds_of_files_is_no_data(tmp_path: Path) -> None:
    for name in ("a.csv", "b.jsonl"):
        (tmp_path / name).write_text("x\n")
    assert likely_format(tmp_path) == (
        None,
        "no known format is recognised: its files are none of data, or of several kinds; give one "
        "of them",
    )


def test_of_two_that_are_equally_likely_none_is_chosen(tmp_path: Path) -> None:
    path = file_of(tmp_path, '[{"turn_0": {}, "annotators": ["a"], "responses": []}]')
    assert [(one.name, one.confidence) for one in possible_formats(path)] == [
        ("cpdc", 0.9),
        ("usr", 0.9),
    ]
    assert likely_format(path) == (None, "cpdc and usr are equally likely")


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """To open it is to wait for who writes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = (
        "import sys; from pathlib import Path; from annotations.formats.importers.registry import "
        "likely_format\nprint(likely_format(Path(sys.argv[1])))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, pipe],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert ended.stdout == "(None, 'no known format is recognised')\n", ended.stderr


def test_a_file_that_cannot_be_read_looks_like_nothing(tmp_path: Path) -> None:
    assert possible_formats(tmp_path / "nowhere") == []
    assert possible_formats(tmp_path) == []
