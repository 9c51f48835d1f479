"""Files that are broken, huge or meant to harm: one clear error each, in little time and memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.formats.importers.base import survey
from annotations.formats.importers.json_source import CHUNK, MAX_ELEMENT, array_elements, json_lines
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.importers.registry import importers
from tests.annotations.formats.importers.helpers import file_of, problems
from tests.processor_time import at_most

FORMATS = (
    *("cpdc", "usr", "grade", "fbd", "dailydialog", "personachat", "ratings", "jsonl"),
    *("messages", "parlai", "personachat-candidates"),
)
"""One for each way of reading a file; test_garbage.py has all."""
ARRAYS = ("cpdc", "usr", "grade")
LINES = ("fbd", "dailydialog", "jsonl")
TEXT = ("dailydialog", "personachat")
MEGABYTES = 5
DIALOGUE = (
    '{"type": "dialogue", "id": "d", "persona": [], "partner_persona": [], "turns": [{"number": '
    '0, "context": []}]}'
)


def filled(start: bytes, unit: bytes) -> bytes:
    """``start``, and ``unit`` again and again up to five megabytes."""
    return start + unit * ((MEGABYTES * 1024 * 1024 - len(start)) // len(unit))


GARBAGE = {
    "NUL bytes": filled(b"", b"\0"),
    "brackets": filled(b"", b"["),
    "objects in objects": filled(b"[", b'{"a":'),
    "one string": filled(b'["', b"a"),
    "digits": filled(b"[", b"1"),
    "white space": filled(b"[", b" "),
    "blank lines": filled(b"", b"\n"),
    "words": filled(b"", b"not a corpus\n"),
    "numbers": filled(b"[", b"1,"),
    "empty objects": filled(b"[", b"{},"),
    "an object that never ends": filled(b'[{"a":0', b',"b":0'),
    "bytes above 127": filled(b"", b"\xff\xfe\xfd"),
    "utterances without end": filled(b"", b"a __eou__ "),
    "a dialogue without end": b"".join(b"%d a\tb\n" % number for number in range(1, 400_000)),
    "tabs": filled(b"1 ", b"\t"),
}


@pytest.mark.parametrize(("format_name", "kind"), list(product(FORMATS, GARBAGE)))
def test_megabytes_of_garbage_end_soon_with_an_error(
    tmp_path: Path, format_name: str, kind: str
) -> None:
    path = file_of(tmp_path, GARBAGE[kind])
    with at_most(20):
        found = problems(format_name, path)
    assert all(line.startswith("file.json") or line == "and more; stopped" for line in found)


def test_a_string_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    path = file_of(tmp_path, filled(b'["', b"a") * 4)
    tracemalloc.start()
    try:
        problems("usr", path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Twice the limit for one element: the old text and the grown one.
    assert peak < 3 * MAX_ELEMENT


def test_at_most_a_hundred_problems_are_told(tmp_path: Path) -> None:
    found = problems("usr", file_of(tmp_path, [1] * 500))
    assert len(found) == 101
    assert found[99] == "file.json: $[99]: must be an object, not a number"
    assert found[100] == "and more; stopped"


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
    ],
)
def test_a_file_that_is_no_utf8_text_is_named_as_what_it_is(
    tmp_path: Path, format_name: str, content: bytes, message: str
) -> None:
    assert problems(format_name, file_of(tmp_path, content)) == [f"file.json: {message}"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_folder_and_a_missing_file_are_named(tmp_path: Path, format_name: str) -> None:
    assert problems(format_name, tmp_path) == [f"{tmp_path.name}: is a folder, not a file"]
    assert problems(format_name, tmp_path / "gone.json") == ["gone.json: does not exist"]


@pytest.mark.parametrize("format_name", ARRAYS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}', '$: must be a list (JSON array); found "{\\"a\\": 1}"'),
        (
            "[{},\n {",
            (
                "$[1]: is not JSON: Expecting property name enclosed in double quotes at line 2 "
                "column 3; "
            ),
        ),
        (
            '[{"a": "b',
            (
                "$[0]: is not JSON: Unterminated string starting at line 1 column 8; the file "
                "ends at line 1"
            ),
        ),
        ("[{}", "$[0]: the file ends here, at line 1 column 4, before its list does"),
        ("[{}] []", "$: the list is over but the file goes on, at line 1 column 6"),
        (
            '[{"a": NaN}]',
            "$[0]: NaN is not a number in JSON (the element starts at line 1 column 2)",
        ),
        (
            '[{"a": 1, "a": 2}]',
            '$[0]: the key "a" occurs twice in one object (the element starts at line 1 column 2)',
        ),
    ],
)
def test_a_broken_array_is_named_by_line_and_column(
    tmp_path: Path, format_name: str, content: str, message: str
) -> None:
    found = problems(format_name, file_of(tmp_path, content))
    assert any(line.startswith(f"file.json: {message}") for line in found), found


@pytest.mark.parametrize("format_name", LINES)
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b'{"a": ',
            (
                "is not JSON: Expecting value at column 7; the file ends at column 7, in the "
                "middle of this line"
            ),
        ),
        (b'{"a": 1, "a": 2}\n', 'the key "a" occurs twice in one object'),
        (b"[Infinity]\n", "Infinity is not a number in JSON"),
        (b"[" * 100_000 + b"\n", "is nested too deeply"),
        (b'"\xe9"\n', "is not UTF-8 (byte 2 of the line)"),
        (b'"\0"\n', "holds a NUL byte (byte 2 of the line)"),
        (b"1" * 5000 + b"\n", "holds a number with too many digits"),
    ],
)
def test_a_broken_line_is_named_by_its_number(
    tmp_path: Path, format_name: str, line: bytes, message: str
) -> None:
    found = problems(format_name, file_of(tmp_path, b"{}\r\n" + line))
    assert f"file.json:2: {message}" in found


def test_a_byte_that_is_no_utf8_is_counted_from_the_start_of_the_file(tmp_path: Path) -> None:
    # Bytes 1 to CHUNK - 1, a two-byte character across the end of the chunk, then the bad byte.
    content = b'["' + b"a" * (CHUNK - 3) + "é".encode() + b'\xff"]'
    assert problems("usr", file_of(tmp_path, content)) == [
        f"file.json: is not UTF-8 (byte {CHUNK + 2:,})"
    ]


@pytest.mark.parametrize("length", range(CHUNK - 60, CHUNK + 4))
def test_an_element_may_lie_across_two_chunks(tmp_path: Path, length: int) -> None:
    content = ["a" * length, {"é": [-12.5e-3, True, None]}, 12345]
    path = file_of(tmp_path, json.dumps(content, ensure_ascii=False))
    assert [value for _, value in array_elements(path, Problems("file"))] == content


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELD_NAMES = st.sampled_from(
    [
        *(
            "type",
            "id",
            "name",
            "kind",
            "persona",
            "turns",
            "number",
            "context",
            "references",
            "speaker",
            "text",
        ),
        *(
            "dialogue_id",
            "turn",
            "system",
            "rater",
            "aspect",
            "score",
            "aspects",
            "scale",
            "scales",
            "main_aspect",
        ),
        *(
            "dialog_id",
            "turn_0",
            "persona A",
            "persona B",
            "dialogue",
            "persona_id",
            "gold_reference",
            "fact",
        ),
        *(
            "annotators",
            "responses",
            "response",
            "model",
            "Overall",
            "ID",
            "Dataset",
            "DialogModel",
            "Context",
        ),
        *("Response", "HumanScores", "src", "refs", "hyps", "human_scores", "fold"),
    ]
)
NEARLY_RIGHT = st.dictionaries(
    FIELD_NAMES,
    JSON_VALUES
    | st.sampled_from(["corpus", "system", "rater", "dialogue", "response", "rating", "[1]"])
    | st.lists(st.dictionaries(FIELD_NAMES, JSON_VALUES, max_size=4), max_size=3),
    max_size=8,
)


def outcomes(path: Path, formats: tuple[str, ...]) -> Iterator[str]:
    """What each format makes of the file: anything but a survey or ImportFailed is an error of
    ours."""
    for name in formats:
        try:
            survey(importers()[name], path)
        except ImportFailed as failure:
            yield str(failure.problems[0])


@pytest.mark.slow
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(elements=st.lists(NEARLY_RIGHT | JSON_VALUES, max_size=5))
def test_whatever_json_says_it_is_imported_or_refused(tmp_path: Path, elements: list[Any]) -> None:
    list(outcomes(file_of(tmp_path, elements), ARRAYS))
    list(outcomes(file_of(tmp_path, "\n".join(map(json.dumps, elements)), "lines.json"), LINES))


NEARLY_RIGHT_TEXT = st.lists(
    st.sampled_from(
        [
            *(
                "1 ",
                "2 ",
                "3 ",
                "\n",
                "\r\n",
                "\t",
                "|",
                " ",
                "your persona:",
                "partner's persona:",
                "__SILENCE__",
            ),
            *("__eou__", " __eou__ ", "hello", "ça va ?", "😀", "\u2028", "\x85", "\x00"),
        ]
    ),
    max_size=30,
).map("".join)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=NEARLY_RIGHT_TEXT)
def test_whatever_text_says_it_is_imported_or_refused(tmp_path: Path, content: str) -> None:
    list(outcomes(file_of(tmp_path, content), TEXT))


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=200))
def test_whatever_bytes_there_are_they_are_imported_or_refused(
    tmp_path: Path, content: bytes
) -> None:
    assert len(list(outcomes(file_of(tmp_path, content), FORMATS))) == len(FORMATS)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(elements=st.lists(JSON_VALUES, min_size=1, max_size=5), indent=st.sampled_from([None, 1]))
def test_what_is_read_is_what_was_written(
    tmp_path: Path, elements: list[Any], indent: int | None
) -> None:
    path = file_of(tmp_path, json.dumps(elements, indent=indent, ensure_ascii=False))
    assert [value for _, value in array_elements(path, Problems("file"))] == elements
    path = file_of(
        tmp_path, "".join(json.dumps(element) + "\n" for element in elements), "lines.json"
    )
    assert [value for _, value in json_lines(path, Problems("lines"))] == elements


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08\x00", b"PK\x03\x04"], ids=["gzip", "zip"])
def test_a_damaged_archive_is_named(tmp_path: Path, start: bytes) -> None:
    [found] = problems("jsonl", file_of(tmp_path, start + bytes(40), "file.jsonl"))
    assert found.startswith("file.jsonl: is a damaged archive")


@pytest.mark.parametrize("score", ["1e300", "-1e300", "1e101"])
def test_a_score_that_statistics_cannot_square_is_refused_with_its_place(
    tmp_path: Path, score: str
) -> None:
    lines = [
        '{"type": "corpus", "aspects": ["overall"], "scales": [["overall", null, null]]}',
        '{"type": "system", "name": "s"}',
        '{"type": "rater", "name": "ann"}',
        DIALOGUE,
        '{"type": "response", "dialogue_id": "d", "turn": 0, "system": "s", "text": "yes"}',
        (
            '{"type": "rating", "dialogue_id": "d", "turn": 0, "system": "s", "rater": "ann", '
            f'"aspect": "overall", "score": {score}}}'
        ),
    ]
    assert problems("jsonl", file_of(tmp_path, "\n".join(lines).encode())) == [
        "file.json:6: score: is too large: at most 1e100 in size"
    ]
    wide = (
        lines[0]
        .replace("[null, null]", "")
        .replace('"overall", null, null', f'"overall", 0, {score.strip("-")}')
    )
    assert problems("jsonl", file_of(tmp_path, "\n".join([wide, *lines[1:5]]).encode()))[
        0
    ].startswith("file.json:1: scales[0]: has an end that is too large")


def test_a_byte_order_mark_before_a_corpus_is_passed_over(tmp_path: Path) -> None:
    corpus = f'\ufeff{{"type": "corpus"}}\n{DIALOGUE}\n\n\n'.encode()
    (part,) = survey(importers()["jsonl"], file_of(tmp_path, corpus))
    assert part.counts.dialogues == 1
