"""Whatever bytes come: a reader answers with problems, never an exception, and soon; and what it
accepts is whole."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.formats.importers.problems import ImportFailed
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.responses import check_responses, read_responses
from leaderboard.challenges.files.scores import COLUMNS_OF_LEVEL, check_scores, read_scores
from tests.challenges.files.helpers import SMALL, good_csv, good_lines, good_list, small_layout
from tests.ci import IS_LONG
from tests.processor_time import at_most
from workers.baselines.dialogue_file import read_dialogues

SYSTEMS = ("s", "=t")
ids = st.sampled_from(["d1", "d2", "d3", "", " d1", "'d1"]) | st.text(max_size=5)
odd = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.lists(st.text(), max_size=3)
)
texts = (
    st.text(st.characters(), max_size=40)
    | st.just("\ud800")
    | st.just("x" * 4001)
    | st.just("a\0b")
)
keys = st.sampled_from(
    [
        "dialog_id",
        "dialogue_id",
        "turn",
        "response",
        "turn_0",
        "turn_1",
        "turn_7",
        "system",
        "score",
    ]
)
objects = st.dictionaries(keys | st.text(max_size=5), ids | texts | odd, max_size=6)
lines = st.fixed_dictionaries(
    {"dialog_id": ids, "turn": st.integers(-1, 3) | odd, "response": texts | odd}
)
scores = st.fixed_dictionaries(
    {
        "dialog_id": ids,
        "turn": st.integers(0, 2),
        "system": st.sampled_from(SYSTEMS),
        "score": st.floats() | odd,
    }
)
good = st.sampled_from(
    [
        json.dumps(good_list()),
        "\n".join(map(json.dumps, good_lines())),
        good_csv(),
        "dialog_id,turn,system,score\n",
    ]
)


def as_lines(values: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def as_csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return b"dialog_id,turn,response\r\n" + text.getvalue().encode("utf-8", "surrogatepass")


@st.composite
def damaged(draw: Callable[[Any], Any]) -> bytes:
    """A sound file with a stretch of bytes taken out and others put there."""
    data: bytes = draw(good).encode()
    start = draw(st.integers(0, len(data)))
    return data[:start] + draw(st.binary(max_size=8)) + data[start + draw(st.integers(0, 12)) :]


files = st.one_of(
    st.binary(max_size=200),
    damaged(),
    st.lists(objects, max_size=4).map(lambda values: json.dumps(values).encode()),
    st.lists(lines | objects, max_size=6).map(as_lines),
    st.lists(st.lists(ids | texts, min_size=2, max_size=4), max_size=6).map(as_csv),
    st.lists(scores, max_size=6).map(as_lines),
)


def drawn(cases: int) -> int:
    """Of these, which are the same in each run, the first two fifths where somebody waits."""
    return cases if IS_LONG else cases * 2 // 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file, written anew for each case."""
    return tmp_path_factory.mktemp("fuzz") / "file"


@pytest.mark.slow
@settings(max_examples=drawn(2_000), deadline=None, derandomize=True)
@given(files)
def test_responses(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with at_most(2):
        found = check_responses(path, small_layout())
    assert len(found.problems) <= 100
    for problem in found.problems:
        # What the site stores and shows: text that every database and terminal takes.
        json.dumps([problem.where, problem.field, problem.message], ensure_ascii=False).encode()
        assert str(problem).isprintable()
    if found.is_sound:
        read = list(read_responses(path, small_layout()))
        assert sorted((name, turn) for name, turn, _ in read) == sorted(SMALL)
        assert all(len(text) <= 4_000 and "\0" not in text for _, _, text in read)


@pytest.mark.slow
@settings(max_examples=drawn(1_000), deadline=None, derandomize=True)
@given(files, st.sampled_from(tuple(COLUMNS_OF_LEVEL)))
def test_scores(path: Path, data: bytes, level: Any) -> None:
    path.write_bytes(data)
    with at_most(2):
        found = check_scores(path, level, small_layout(), SYSTEMS)
    assert len(found.problems) <= 100
    for problem in found.problems:
        json.dumps([problem.where, problem.field, problem.message], ensure_ascii=False).encode()
        assert str(problem).isprintable()
    if found.is_sound:
        read = list(read_scores(path, level, small_layout(), SYSTEMS))
        assert len({(row.system, row.place) for row in read}) == len(read) == found.coverage.given
        assert all(abs(row.score) < float("inf") for row in read)


@settings(max_examples=drawn(500), deadline=None, derandomize=True)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50),
        min_size=4,
    )
)
def test_any_text_survives_the_way_through_each_format(path: Path, said: list[str]) -> None:
    answers = [(name, turn, text) for (name, turn), text in zip(SMALL, said[:4], strict=True)]
    if not any(text.strip() for _, _, text in answers):
        return
    rows = [[name, str(turn), text] for name, turn, text in answers]
    as_objects = [
        {"dialog_id": name, "turn": turn, "response": text} for name, turn, text in answers
    ]
    for data in (as_lines(as_objects), as_csv(rows)):
        path.write_bytes(data)
        with at_most(2):
            assert list(read_responses(path, small_layout())) == answers


@pytest.mark.slow
@settings(max_examples=drawn(500), deadline=None, derandomize=True)
@given(files)
def test_templates_and_dialogues(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for read in (layout_of, read_dialogues):
        with at_most(2), contextlib.suppress(ImportFailed):
            read(path)
