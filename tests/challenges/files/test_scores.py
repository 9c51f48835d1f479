"""Submitted metric scores: three levels, two formats, coverage, and what is said of each fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotations.formats.importers.problems import ImportFailed
from leaderboard.challenges.files.scores import CheckedScores, ScoreRow, check_scores, read_scores
from tests.challenges.files.helpers import SMALL, small_layout, written

SYSTEMS = ("alpha", "=beta")


def rows(**fields: Any) -> tuple[dict[str, Any], ...]:
    """A turn-level file of one system with its first line changed; a field that is ``...`` is taken
    out."""
    lines = [
        {"dialog_id": name, "turn": turn, "system": "alpha", "score": 0.5} for name, turn in SMALL
    ]
    first = {**lines[0], **fields}
    return ({key: value for key, value in first.items() if value is not ...}, *lines[1:])


def checked(folder: Path, content: Any, level: Any = "turn") -> CheckedScores:
    return check_scores(written(folder, content), level, small_layout(), SYSTEMS)


def faults(folder: Path, content: Any, level: Any = "turn") -> list[str]:
    return [
        str(problem).removeprefix("file:") for problem in checked(folder, content, level).problems
    ]


def test_coverage_counts_the_places_with_a_score(tmp_path: Path) -> None:
    found = checked(tmp_path, rows())
    assert found.is_sound
    # 4 of 4 turns × 2 systems
    assert (found.coverage.given, found.coverage.possible, found.coverage.by_system) == (
        4,
        8,
        {"alpha": 4},
    )


@pytest.mark.parametrize(
    ("level", "lines", "expected"),
    [
        (
            "turn",
            '{"dialog_id": "d2", "turn": 1, "system": "alpha", "score": 2}',
            ScoreRow("alpha", 3, 2.0),
        ),
        (
            "dialogue",
            '{"dialog_id": "d2", "system": "alpha", "score": -1e3}',
            ScoreRow("alpha", 1, -1000.0),
        ),
        ("system", '{"system": "alpha", "score": 0.25}', ScoreRow("alpha", 0, 0.25)),
        ("turn", "dialog_id,turn,system,score\nd2,1,alpha,2\n", ScoreRow("alpha", 3, 2.0)),
        ("dialogue", "score,system,dialog_id\n-1e3,alpha,d2\n", ScoreRow("alpha", 1, -1000.0)),
        ("system", "system,score\nalpha,.25\n", ScoreRow("alpha", 0, 0.25)),
        ("system", "system,score\n'=beta,+1.\n", ScoreRow("=beta", 0, 1.0)),
        ("system", "\ufeffsystem;score\nalpha;-4,5\n;\n", ScoreRow("alpha", 0, -4.5)),
        ("system", "\ufeffsystem,score\nalpha,4.5\n,\n", ScoreRow("alpha", 0, 4.5)),
    ],
)
def test_a_row_of_each_level_and_format(
    tmp_path: Path, level: Any, lines: str, expected: ScoreRow
) -> None:
    path = written(tmp_path, lines)
    assert checked(tmp_path, lines, level).is_sound
    assert list(read_scores(path, level, small_layout(), SYSTEMS)) == [expected]


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_score_is_missing_and_not_zero(tmp_path: Path, nothing: str | None) -> None:
    if nothing is None:
        content: Any = rows(score=None)
    else:
        content = "dialog_id,turn,system,score\nd1,0,alpha,\nd1,1,alpha,0\n"
    found = checked(tmp_path, content)
    assert found.is_sound
    assert found.coverage.by_system == {"alpha": 3 if nothing is None else 1}
    read = list(read_scores(written(tmp_path, content), "turn", small_layout(), SYSTEMS))
    assert 0 not in [row.place for row in read]


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    (row,) = read_scores(
        written(tmp_path, "system,score\nalpha,-0.0\n"), "system", small_layout(), SYSTEMS
    )
    assert str(row.score) == "0.0"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"system": "gamma"}, ["1: system: there is no system 'gamma'"]),
        ({"system": 1}, ["1: system: must be a string, not a number"]),
        ({"dialog_id": "d9"}, ["1: dialog_id: there is no dialogue 'd9'"]),
        ({"dialog_id": None}, ["1: dialog_id: must be a string, not null"]),
        ({"turn": 7}, ["1: turn: 7 is none of the turns of 'd1'"]),
        ({"turn": "0"}, ["1: turn: must be a whole number, not '0'"]),
        ({"turn": 1}, ["2: is a second row of 'alpha', dialogue 'd1', turn 1"]),
        ({"score": "0.5"}, ["1: score: must be a number, not a string"]),
        ({"score": True}, ["1: score: must be a number, not true or false"]),
        ({"score": 10**400}, ["1: score: is too large; where a score is undefined leave it out"]),
        ({"score": 1e101}, ["1: score: is too large; where a score is undefined leave it out"]),
        ({"score": -1.7e308}, ["1: score: is too large; where a score is undefined leave it out"]),
        ({"score": ...}, ["1: score: is missing"]),
        ({"dialog_id": ..., "dialogue_id": "d1"}, ["1: dialog_id: is missing: found dialogue_id"]),
        ({"rater": "x"}, ["1: rater: is no field of scores at turn level"]),
    ],
)
def test_faults_of_lines(tmp_path: Path, fields: dict[str, Any], said: list[str]) -> None:
    assert faults(tmp_path, rows(**fields)) == said


@pytest.mark.parametrize(
    "score", ["nan", "inf", "-Infinity", "1e999", "0,5", "1_000", "٣", " 1", "=1+1", "1e", "--1"]
)
def test_a_cell_that_is_no_finite_number_is_refused(tmp_path: Path, score: str) -> None:
    (said,) = faults(tmp_path, f'system,score\nalpha,"{score}"\n', "system")
    assert said.startswith("2: score: ")


def test_the_largest_and_the_smallest_scores_are_taken(tmp_path: Path) -> None:
    given = list(
        read_scores(
            written(tmp_path, "system,score\nalpha,-1e100\n=beta,5e-324\n"),
            "system",
            small_layout(),
            SYSTEMS,
        )
    )
    assert [row.score for row in given] == [-1e100, 5e-324]


def test_a_list_is_asked_for_as_lines(tmp_path: Path) -> None:
    assert "give JSON lines" in str(checked(tmp_path, [1]).problems[0])


def test_a_template_holds_no_score(tmp_path: Path) -> None:
    (problem,) = checked(tmp_path, "system,score\nalpha,\n", "system").problems
    assert problem.message == "holds no score: the template is not filled in"


def test_a_second_row_is_a_fault_even_where_the_first_was_empty(tmp_path: Path) -> None:
    assert faults(tmp_path, "system,score\nalpha,\nalpha,1\n", "system") == [
        "3: is a second row of 'alpha'"
    ]


def test_a_score_of_no_response_is_named(tmp_path: Path) -> None:
    everywhere = np.ones(len(SMALL), dtype=bool)
    answered = {"alpha": everywhere & (np.arange(len(SMALL)) > 0), "=beta": everywhere}
    found = check_scores(
        written(tmp_path, rows()), "turn", small_layout(), SYSTEMS, answered=answered
    )
    assert [str(one) for one in found.problems] == [
        "file:1: score: there is no response to score: 'alpha', dialogue 'd1', turn 0"
    ]
    # 4 rows, of which one is of no response; 3 + 4 responses
    assert (found.coverage.given, found.coverage.possible) == (3, 7)


def test_reading_what_was_never_sound_raises(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"system": "gamma", "score": 1}))
    with pytest.raises(ImportFailed, match="gamma"):
        list(read_scores(path, "system", small_layout(), SYSTEMS))


def test_a_decimal_comma_where_commas_separate_is_named(tmp_path: Path) -> None:
    """The text 4,500 may be four and a half or four thousand and a half: nobody guesses."""
    (fault,) = faults(tmp_path, 'system,score\nalpha,"4,500"\n', "system")[:1]
    assert "must be a finite number with a decimal point" in fault
