"""Submitted responses: three formats, and what is said of each fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import ImportFailed
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import check_responses, read_responses
from tests.challenges.files.helpers import (
    SMALL,
    checked,
    faults,
    good_csv,
    good_lines,
    good_list,
    small_layout,
    written,
)


@pytest.mark.parametrize(
    ("content", "format"),
    [(good_list(), "json"), (tuple(good_lines()), "jsonl"), (good_csv(), "csv")],
)
def test_a_sound_file_of_each_format_is_accepted(tmp_path: Path, content: Any, format: str) -> None:
    found = checked(tmp_path, content)
    assert found.is_sound
    counts = found.counts
    assert (counts.format, counts.dialogues, counts.responses, counts.empty) == (format, 2, 4, 0)


@pytest.mark.parametrize("content", [tuple(good_lines()), good_csv()])
def test_what_is_read_is_what_was_written(tmp_path: Path, content: Any) -> None:
    read = list(read_responses(written(tmp_path, content), small_layout()))
    assert read == [(name, turn, f"{name} {turn}") for name, turn in SMALL]


def test_a_list_is_read_in_the_order_of_its_keys(tmp_path: Path) -> None:
    read = list(read_responses(written(tmp_path, good_list()[::-1]), small_layout()))
    assert read == [("d2", 0, "d2 a"), ("d2", 1, "d2 b"), ("d1", 0, "d1 a"), ("d1", 1, "d1 b")]


def test_lines_and_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    assert faults(tmp_path, tuple(good_lines()[::-1])) == []
    assert faults(tmp_path, "response,dialog_id,turn\nx,d2,1\nx,d2,0\nx,d1,1\nx,d1,0\n") == []


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_spreadsheet_of_another_country_is_taken(tmp_path: Path, delimiter: str) -> None:
    """Excel's CSV in UTF-8: a byte order mark, semicolons where the decimal mark is a comma, empty
    rows at the end."""
    text = (
        "\ufeff" + good_csv().replace(",", delimiter) + 2 * f"{delimiter}{delimiter}\r\n" + "\r\n"
    )
    assert faults(tmp_path, text) == []
    assert faults(tmp_path, "\ufeff" + good_csv() + ",,\n , ,\n,,,,\n") == []
    read = list(read_responses(written(tmp_path, text), small_layout()))
    assert read == [(name, turn, f"{name} {turn}") for name, turn in SMALL]


def test_a_byte_order_mark_before_json_is_passed_over(tmp_path: Path) -> None:
    for content in (
        json.dumps(good_list()),
        "\n".join(json.dumps(line) for line in good_lines()) + "\n\n\n",
    ):
        assert faults(tmp_path, "\ufeff" + content) == []


def test_the_format_is_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, good_csv(), "responses.json")
    assert check_responses(path, small_layout()).counts.format == "csv"


def test_an_id_that_is_a_number_is_taken_as_its_digits(tmp_path: Path) -> None:
    layout = Layout.of([("3", 0)])
    assert faults(tmp_path, [{"dialog_id": 3, "turn_0": "x"}], layout) == []
    assert faults(tmp_path, ({"dialog_id": 3, "turn": 0, "response": "x"},), layout) == []


def test_an_empty_response_says_nothing_and_is_counted(tmp_path: Path) -> None:
    found = checked(tmp_path, [{"dialog_id": "d1", "turn_0": "", "turn_1": " \n"}, good_list()[1]])
    assert found.is_sound
    assert (found.counts.responses, found.counts.empty) == (4, 2)


def test_a_file_of_empty_responses_is_a_template(tmp_path: Path) -> None:
    empty = "dialog_id,turn,response\n" + "".join(f"{name},{turn},\n" for name, turn in SMALL)
    assert faults(tmp_path, empty) == ["holds only empty responses: the template is not filled in"]


def test_texts_keep_quotes_commas_and_line_breaks(tmp_path: Path) -> None:
    text = 'He said "no, ""thanks""",\r\nthen left.\n🙂'
    cell = '"' + text.replace('"', '""') + '"'
    path = written(
        tmp_path, f"dialog_id,turn,response\r\nd1,0,{cell}\r\nd1,1,x\r\nd2,0,x\r\nd2,1,x\r\n"
    )
    assert next(read_responses(path, small_layout())) == ("d1", 0, text)


def test_the_apostrophe_of_our_own_tables_is_taken_off_an_id(tmp_path: Path) -> None:
    layout = Layout.of([("=1+1", 0), ("'quoted", 0)])
    path = written(tmp_path, "dialog_id,turn,response\n'=1+1,0,a\n'quoted,0,b\n")
    assert list(read_responses(path, layout)) == [("=1+1", 0, "a"), ("'quoted", 0, "b")]


# --- one fault each, with its place ---------------------------------------------------------------


def changed(**fields: Any) -> list[dict[str, Any]]:
    """A sound list with the first element changed; a field that is ``...`` is taken out."""
    first = {**good_list()[0], **fields}
    return [{key: value for key, value in first.items() if value is not ...}, good_list()[1]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (changed(turn_1=...), ["$[0].turn_1: is missing"]),
        (changed(turn_2="x"), ["$[0].turn_2: is none of this dialogue's turns, turn_0 to turn_1"]),
        (
            changed(turn_01="x"),
            ["$[0].turn_01: is none of this dialogue's turns, turn_0 to turn_1"],
        ),
        (changed(note="x"), ["$[0].note: is not a field of this format"]),
        (changed(turn_1=None), ["$[0].turn_1: is null: the template is not filled in here"]),
        (changed(turn_1=5), ["$[0].turn_1: must be a string, not a number"]),
        (changed(turn_1=["x"]), ["$[0].turn_1: must be a string, not a list"]),
        (
            changed(turn_1="x" * 4001),
            ["$[0].turn_1: has 4,001 characters; at most 4,000 are allowed"],
        ),
        (changed(turn_1="a\0b"), ["$[0].turn_1: holds a NUL character (character 2)"]),
        (changed(turn_1="a\ud800"), ["$[0].turn_1: holds half of a surrogate pair (character 2)"]),
        (
            changed(dialog_id=True),
            [
                "$[0].dialog_id: must be a string, not true or false",
                "has no response for the dialogue 'd1'",
            ],
        ),
        (
            changed(dialog_id=..., dialogue_id="d1"),
            [
                "$[0].dialogue_id: found dialogue_id, expected dialog_id",
                "has no response for the dialogue 'd1'",
            ],
        ),
        (
            changed(dialog_id="d3"),
            ["$[0].dialog_id: there is no dialogue 'd3'", "has no response for the dialogue 'd1'"],
        ),
        (
            changed(dialog_id="d1 "),
            [
                "$[0].dialog_id: there is no dialogue 'd1 '; take off the white space",
                "has no response for the dialogue 'd1'",
            ],
        ),
        ([*good_list(), good_list()[0]], ["$[2].dialog_id: the dialogue 'd1' occurs twice"]),
        ([*good_list(), "x"], ["$[2]: must be an object, not a string"]),
        (good_list()[:1], ["has no response for the dialogue 'd2'"]),
        ([], ["has no response for the dialogue 'd1'", "has no response for the dialogue 'd2'"]),
    ],
)
def test_faults_of_a_list(tmp_path: Path, content: Any, said: list[str]) -> None:
    assert faults(tmp_path, content) == said


def line(**fields: Any) -> tuple[Any, ...]:
    """Sound lines with the first one changed."""
    first = {**good_lines()[0], **fields}
    return ({key: value for key, value in first.items() if value is not ...}, *good_lines()[1:])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (line(note=1), ["1: note: is not a field of this format"]),
        (line(response=...), ["1: response: is missing"]),
        (line(response=None), ["1: response: is null: the template is not filled in here"]),
        (
            line(turn=True),
            [
                "1: turn: must be a whole number, not true or false",
                "has no response for turn 0 of 'd1'",
            ],
        ),
        (
            line(turn=0.0),
            ["1: turn: must be a whole number, not 0.0", "has no response for turn 0 of 'd1'"],
        ),
        (
            line(turn=2),
            ["1: turn: 2 is none of the turns of 'd1'", "has no response for turn 0 of 'd1'"],
        ),
        (
            line(turn=10**40),
            [
                "1: turn: a number of more than 30 digits is none of the turns of 'd1'",
                "has no response for turn 0 of 'd1'",
            ],
        ),
        (
            line(dialog_id=..., dialogue_id="d1"),
            [
                "1: dialogue_id: found dialogue_id, expected dialog_id",
                "has no response for turn 0 of 'd1'",
            ],
        ),
        ((*good_lines(), good_lines()[0]), ["5: is a second response to turn 0 of 'd1'"]),
        ((*good_lines(), [1]), ["5: must be an object, not a list"]),
        (tuple(good_lines()[:2]), ["has no response for the dialogue 'd2'"]),
        (
            ({"dialog_id": "d1", "turn_0": "a", "turn_1": "b"},),
            [
                (
                    "1: turn: is missing: a line holds one response; objects with turn_0, turn_1, "
                    "… are in a list, [ ]"
                ),
                "has no response for the dialogue 'd1'",
                "has no response for the dialogue 'd2'",
            ],
        ),
    ],
)
def test_faults_of_lines(tmp_path: Path, content: Any, said: list[str]) -> None:
    assert faults(tmp_path, content) == said


HEAD = "dialog_id,turn,response\n"
BACKOFF = "d1,1,x\nd2,0,x\nd2,1,x\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            f"{HEAD}d1,0,a,b\n{BACKOFF}",
            ["2: has 4 cells; the heading line has 3", "has no response for turn 0 of 'd1'"],
        ),
        (
            f"{HEAD}d1,0.0,a\n{BACKOFF}",
            ["2: turn: must be a whole number, not '0.0'", "has no response for turn 0 of 'd1'"],
        ),
        (f"{HEAD}d1,0,a\n\n\n{BACKOFF}d2,1,y\n", ["8: is a second response to turn 1 of 'd2'"]),
        (f'{HEAD}d1,0,"a\nb\nc"\nd3,1,x\n{BACKOFF}', ["5: dialog_id: there is no dialogue 'd3'"]),
        (f'{HEAD}d1,0,"a\n{BACKOFF}', ["2: begins a quoted cell that never ends"]),
        (
            f'{HEAD}d1,0,"a"b\n{BACKOFF}',
            [
                (
                    "2: has something after the closing quote of a cell; a quote inside a cell is "
                    "written twice"
                )
            ],
        ),
        (
            "dialogue_id,turn,response\n",
            [
                (
                    "1: found dialogue_id, expected dialog_id: the heading line must be "
                    "dialog_id, turn, response"
                )
            ],
        ),
        ("d1,0,a\n", ['1: the heading line must be dialog_id, turn, response; found "d1,0,a"']),
        (
            "dialog_id,turn,response,response\n",
            [
                (
                    "1: the heading line must be dialog_id, turn, response; found "
                    '"dialog_id,turn,response,response"'
                )
            ],
        ),
        (
            HEAD.replace("\n", "\r") + "d1,0,a\r",
            ["1: has a carriage return outside quotes; end lines with LF or CR LF"],
        ),
        (
            f"{HEAD}d1,0,{'x' * 140_000}\n",
            ["2: has a cell of more than 131,072 characters; a quote may be missing"],
        ),
    ],
)
def test_faults_of_csv(tmp_path: Path, content: str, said: list[str]) -> None:
    found = faults(tmp_path, content)
    assert found[: len(said)] == said
    assert len(found) == len(said) or found[len(said)].startswith("has no response")


def test_missing_turns_are_told_dialogue_by_dialogue(tmp_path: Path) -> None:
    layout = Layout.of(("d", turn) for turn in range(20))
    assert faults(tmp_path, ({"dialog_id": "d", "turn": 3, "response": "x"},), layout) == [
        "has no response for turns 0, 1, 2, 4, 5, 6, 7, 8, 9, 10 and 9 more of 'd'"
    ]
    lines = tuple({"dialog_id": "d", "turn": turn, "response": "x"} for turn in range(17))
    assert faults(tmp_path, lines, layout) == ["has no response for turns 17, 18 and 19 of 'd'"]


def test_at_most_a_hundred_problems_are_told(tmp_path: Path) -> None:
    found = checked(
        tmp_path, tuple({"dialog_id": "x", "turn": 0, "response": "x"} for _ in range(500))
    )
    assert (len(found.problems), found.more) == (100, True)
    hundred = checked(
        tmp_path, tuple([{"dialog_id": "x", "turn": 0, "response": "x"}] * 100 + good_lines())
    )
    assert (len(hundred.problems), hundred.more) == (100, False)


def test_a_broken_place_is_told_once(tmp_path: Path) -> None:
    found = faults(tmp_path, line(response=5))
    assert found == ["1: response: must be a string, not a number"]


def test_problems_name_the_file_as_the_caller_calls_it(tmp_path: Path) -> None:
    found = check_responses(written(tmp_path, b""), small_layout(), file="mine.json")
    assert [str(problem) for problem in found.problems] == ["mine.json: is empty"]


def test_what_a_file_says_comes_back_printable(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e\0\ud800"
    found = checked(tmp_path, [{"dialog_id": evil, evil: "x"}, {"dialog_id": "d1", evil: "x"}])
    said = " ".join(str(problem) for problem in found.problems)
    assert said.isprintable()
    json.dumps([problem.message for problem in found.problems]).encode("utf-8")


def test_the_limit_of_characters_is_the_callers(tmp_path: Path) -> None:
    found = check_responses(written(tmp_path, changed(turn_0="abcdef")), small_layout(), limit=5)
    assert [problem.message for problem in found.problems] == [
        "has 6 characters; at most 5 are allowed"
    ]


def test_progress_is_told_while_a_file_is_read(tmp_path: Path) -> None:
    layout = Layout.of(("d", turn) for turn in range(12_000))
    path = written(
        tmp_path, tuple({"dialog_id": "d", "turn": turn, "response": "x"} for turn in range(12_000))
    )
    heard: list[int] = []
    assert check_responses(path, layout, progress=heard.append).is_sound
    assert heard == [5_000, 10_000]


def test_reading_what_was_never_sound_raises(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="d2"):
        list(read_responses(written(tmp_path, good_list()[:1]), small_layout()))
