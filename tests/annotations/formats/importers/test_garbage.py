"""Small garbage in every format: problems that name a place, soon, and never anything else.

Megabytes of it are in test_hostile_files.py.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.checks import Checker
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.importers.registry import importers
from tests.annotations.formats.importers.helpers import file_of
from tests.processor_time import at_most

DEEP = '{"a":' * 900 + "1" + "}" * 900
GARBAGE: dict[str, bytes] = {
    "nothing": b"",
    "NUL": b'{"messages": "\0"}\n',
    "half an object": b'{"messages": [{"role": "us',
    "deep": DEEP.encode(),
    "deeper": b"[" * 100_000,
    "a huge number": b'[{"id": ' + b"9" * 5_000 + b"}]",
    "an endless key": b'{"' + b"a." * 50_000 + b'": 1}',
    "numbers": b"[1, 2.5, -3e400, null, true]",
    "lists": b"[[], [[]], [[[1]]]]",
    "empty objects": b"[{}, {}, {}]",
    "no UTF-8": b'[{"id": "\xff\xfe"}]',
    "UTF-16": '[{"id": 1}]'.encode("utf-16"),
    "carriage returns": b"\r\r\r\n\r",
    "words": "not a corpus, 한국어 🤷\n".encode() * 50,
    "a page": b"<html><script>alert(1)</script></html>",
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
}


@pytest.mark.parametrize(("name", "kind"), list(product(importers(), GARBAGE)))
def test_garbage_is_refused_soon(tmp_path: Path, name: str, kind: str) -> None:
    path = file_of(tmp_path, GARBAGE[kind])
    with at_most(5), pytest.raises(ImportFailed) as failure:
        survey(importers()[name], path)
    assert failure.value.problems


WRONG = (None, True, -1, 1e308, "\ud800", "x" * 300, "[", [], [[]], {}, {"a": {"a": [None]}})


def spoilt(value: Any, depth: int = 0) -> Iterator[Any]:
    """Copies of a document, each with something else in one of its places."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {other: one for other, one in value.items() if other != key}
            for wrong in WRONG:
                yield {**value, key: wrong}
            for one in spoilt(inner, depth + 1):
                yield {**value, key: one}
    elif isinstance(value, list) and depth < 12:
        for index, inner in enumerate(value[:3]):
            for one in (*WRONG, *spoilt(inner, depth + 1)):
                yield [*value[:index], one, *value[index + 1 :]]


def documents(example: str) -> list[Any]:
    """The JSON values of an example: of an array, or of lines."""
    try:
        whole = json.loads(example)
    except ValueError:
        return [json.loads(line) for line in example.splitlines()]
    return whole if isinstance(whole, list) else [whole]


JSON_FORMATS = [name for name, one in importers().items() if one.example.startswith(("[", "{"))]


@pytest.mark.parametrize("name", JSON_FORMATS)
def test_a_wrong_value_at_any_place_is_read_or_refused(tmp_path: Path, name: str) -> None:
    whole = documents(importers()[name].example)
    is_array = importers()[name].example.startswith("[")
    for lines in spoilt(whole):
        text = json.dumps(lines) if is_array else "".join(json.dumps(one) + "\n" for one in lines)
        # Anything but a survey or ImportFailed is an error of ours.
        with contextlib.suppress(ImportFailed):
            survey(importers()[name], file_of(tmp_path, text))


@pytest.mark.parametrize("name", JSON_FORMATS)
def test_the_good_records_of_a_spoilt_file_are_sound(tmp_path: Path, name: str) -> None:
    """What remains is a corpus by itself: nothing refers to what was left out."""
    importer = importers()[name]
    is_array = importer.example.startswith("[")
    for lines in islice(spoilt(documents(importer.example)), 0, None, 7):
        text = json.dumps(lines) if is_array else "".join(json.dumps(one) + "\n" for one in lines)
        path = file_of(tmp_path, text.encode())
        with contextlib.suppress(ImportFailed):
            checker = Checker(Problems(path.name))
            for record in importer.read(path, good_only=True):
                checker.accepts(record, "", "")
            assert checker.problems.found == []
