"""Files that are no text, broken, huge, or meant to harm: one clear problem each, in little time
and memory."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from annotations.formats.importers.json_source import MAX_ELEMENT
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import check_responses
from leaderboard.challenges.files.scores import check_scores
from leaderboard.challenges.uploads import why_not_text
from tests.challenges.files.helpers import faults, good_csv, good_list, small_layout, written
from tests.processor_time import at_most

HEAD = b"dialog_id,turn,response\n"
MEGABYTES = 5


def filled(start: bytes, unit: bytes) -> bytes:
    return start + unit * ((MEGABYTES * 1024 * 1024 - len(start)) // len(unit))


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("responses.json", json.dumps(good_list()))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\t ", "holds nothing but white space"),
        (zipped(), "is a zip archive"),
        (gzip.compress(b"[]", mtime=0), "is compressed with gzip"),
        (b"%PDF-1.7\n", "is a PDF"),
        (b"\x7fELF\x02\x01", "is a program"),
        (b"\xef\xbb\xbf", "is empty"),
        ("[]".encode("utf-16"), "is UTF-16"),
        (b"\xff\xff[", "is not UTF-8 (byte 1 of the line)"),
        (b"[\xe9]", "is not UTF-8 (byte 2)"),
        (b"[\0]", "holds a NUL byte (byte 2)"),
        (b'{"dialog_id": NaN}', "NaN is not a number in JSON"),
        (
            b'[{"dialog_id": "d1", "dialog_id": "d1"}]',
            'the key "dialog_id" occurs twice in one object',
        ),
        (b"[" * 100_000, "is nested too deeply"),
        (HEAD + b"d1,0,\0\n", "holds a NUL byte (byte 6 of the line)"),
        (HEAD + b"d1,0,\xff\n", "is not UTF-8 (byte 6 of the line)"),
        (b'[{"dialog_id": "d1"', "in the middle of this element"),
    ],
)
def test_the_first_thing_that_is_wrong_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in faults(tmp_path, content)[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe[\0", "is in UTF-16; save it as UTF-8"),
        (b"\xfe\xff\0[", "is in UTF-16; save it as UTF-8"),
        (b"text\0", "is a binary file; give a text file"),
        (b"%PDF-1.7", "is a PDF; give a text file"),
        (b"text", ""),
    ],
)
def test_an_upload_that_is_no_text_is_known_by_its_first_bytes(
    tmp_path: Path, content: bytes, said: str
) -> None:
    assert why_not_text(written(tmp_path, content)) == said


GARBAGE = {
    "NUL bytes": filled(b"", b"\0"),
    "brackets": filled(b"", b"["),
    "objects in objects": filled(b"[", b'{"a":'),
    "one string": filled(b'["', b"a"),
    "white space in a list": filled(b"[", b" "),
    "blank lines of CSV": filled(HEAD, b"\n"),
    "blank lines of JSON": filled(b"{}", b"\n"),
    "words": filled(b"", b"not a file of responses\n"),
    "numbers": filled(b"[", b"1,"),
    "empty objects in lines": filled(b"", b"{}\n"),
    "one line of commas": filled(HEAD, b","),
    "a quoted cell that never ends": filled(HEAD + b'd1,0,"', b"word "),
    "lines in a quoted cell": filled(HEAD + b'd1,0,"', b"word\n"),
    "many quoted cells in one row": filled(HEAD, b'"a\n",'),
    "quotes": filled(HEAD, b'"'),
    "one heading line": filled(b"dialog_id", b",turn"),
    "keys": filled(b"{", b'"a":0,"b":1,'),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_megabytes_of_garbage_end_soon_with_a_problem(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, GARBAGE[kind])
    with at_most(20):
        assert not check_responses(path, small_layout()).is_sound
        assert not check_scores(path, "turn", small_layout(), ["s"]).is_sound


@pytest.mark.parametrize(
    "kind", ["one string", "one line of commas", "lines in a quoted cell", "keys"]
)
def test_what_never_ends_is_not_held_in_memory(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, GARBAGE[kind] * 4)
    tracemalloc.start()
    try:
        assert not check_responses(path, small_layout()).is_sound
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One element of at most 4 MiB, and what Python makes of it while it is parsed.
    assert peak < 12 * MAX_ELEMENT


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    layout = Layout.of((f"d{dialogue}", turn) for dialogue in range(20_000) for turn in range(5))
    with (tmp_path / "file").open("w", encoding="utf-8") as file:
        for dialogue_id, turns in layout:
            for turn in turns:
                file.write(
                    json.dumps({"dialog_id": dialogue_id, "turn": turn, "response": "word " * 40})
                    + "\n"
                )
    tracemalloc.start()
    try:
        assert check_responses(tmp_path / "file", layout).is_sound  # 25 MB
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A byte for each place and each dialogue, one line of text, and what is read ahead.
    assert peak < 1024 * 1024


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    found = check_responses(tmp_path, small_layout())
    assert [problem.message for problem in found.problems] == ["is a folder, not a file"]


def test_line_ends_of_windows_are_taken(tmp_path: Path) -> None:
    assert faults(tmp_path, good_csv().replace("\n", "\r\n")) == []
