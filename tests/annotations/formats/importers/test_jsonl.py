"""The project's own format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, problems, read, surveyed

CORPUS = {"type": "corpus", "aspects": ["overall", "Engaging"], "scales": [["Engaging", 0, None]]}
SYSTEM = {"type": "system", "name": "echo", "kind": "baseline"}
RATER = {"type": "rater", "name": "r1"}
DIALOGUE = {
    "type": "dialogue",
    "id": "d",
    "persona": ["i sing"],
    "partner_persona": [],
    "turns": [{"number": 0, "context": [{"speaker": "A", "text": "hi"}], "references": ["hello"]}],
}
RESPONSE = {"type": "response", "dialogue_id": "d", "turn": 0, "system": "echo", "text": "hi"}
RATING = {
    "type": "rating",
    "dialogue_id": "d",
    "turn": 0,
    "system": "echo",
    "rater": "r1",
    "aspect": "overall",
    "score": 4,
}
CORPUS_LINES: list[Any] = [CORPUS, SYSTEM, RATER, DIALOGUE, RESPONSE, RATING]


def with_line(position: int, **changes: Any) -> list[Any]:
    """The corpus above with one line changed."""
    lines = list(CORPUS_LINES)
    lines[position] = {**lines[position], **changes}
    return lines


def test_every_record_is_read(tmp_path: Path) -> None:
    lines = [*CORPUS_LINES, {**RATING, "turn": None, "comment": "dull"}]
    assert read("jsonl", lines_of(tmp_path, lines)) == [
        CorpusRecord(aspects=("overall", "Engaging"), scales=(("Engaging", 0.0, None),)),
        SystemRecord("echo", "baseline"),
        RaterRecord("r1"),
        DialogueRecord("d", ("i sing",), (), (TurnRecord(0, (Utterance("A", "hi"),), ("hello",)),)),
        ResponseRecord("d", 0, "echo", "hi"),
        RatingRecord("d", 0, "echo", "r1", "overall", 4.0),
        RatingRecord("d", None, "echo", "r1", "overall", 4.0, "dull"),
    ]


def test_the_digest_does_not_see_white_space_key_order_or_defaults(tmp_path: Path) -> None:
    first = surveyed("jsonl", lines_of(tmp_path, CORPUS_LINES))[0].digest
    turned = [dict(reversed(list(line.items()))) for line in with_line(1, description="")]
    text = "\r\n".join(str(line).replace("'", '"').replace("None", "null") for line in turned)
    assert surveyed("jsonl", file_of(tmp_path, text, "turned.jsonl"))[0].digest == first


def test_the_digest_does_not_see_names_or_how_the_scales_are_said(tmp_path: Path) -> None:
    first = surveyed("jsonl", lines_of(tmp_path, CORPUS_LINES))[0].digest
    said_otherwise = with_line(
        0, name="Other", part="p", scale=[0, 9], scales=[["overall", 1, 5], ["Engaging", 0, None]]
    )
    assert surveyed("jsonl", lines_of(tmp_path, said_otherwise))[0].digest == first


def test_the_digest_sees_another_scale(tmp_path: Path) -> None:
    first = surveyed("jsonl", lines_of(tmp_path, CORPUS_LINES))[0].digest
    assert surveyed("jsonl", lines_of(tmp_path, with_line(0, scale=[1, 7])))[0].digest != first


def test_the_digest_sees_one_changed_score(tmp_path: Path) -> None:
    first = surveyed("jsonl", lines_of(tmp_path, CORPUS_LINES))[0].digest
    assert surveyed("jsonl", lines_of(tmp_path, with_line(5, score=5)))[0].digest != first


def test_an_empty_response_is_a_response(tmp_path: Path) -> None:
    assert read("jsonl", lines_of(tmp_path, with_line(4, text="")))[4] == ResponseRecord(
        "d", 0, "echo", ""
    )


@pytest.mark.parametrize(
    ("position", "changes", "problem"),
    [
        (
            0,
            {"type": "korpus"},
            "1: type: 'korpus' is none of corpus, system, rater, dialogue, response, rating, "
            "label, preference",
        ),
        (0, {"main_aspect": "Natural"}, "1: main_aspect: 'Natural' is not one of the aspects"),
        (0, {"scale": [5, 1]}, "1: scale: the lowest score must be below the highest"),
        (0, {"simulated": "yes"}, "1: simulated: must be true or false, not a string"),
        (1, {"kind": "robot"}, "2: kind: must be one of agent, human, gold, baseline"),
        (1, {"nmae": "x"}, "2: nmae: is not a field of this format"),
        (3, {"turns": []}, "4: turns: is empty; a dialogue has at least one turn"),
        (3, {"persona": [""]}, "4: persona[0]: is empty"),
        (
            4,
            {"text": "x" * 200_001},
            "5: text: has 200,001 characters; at most 200,000 are allowed",
        ),
        (4, {"text": "a\0"}, "5: text: holds a NUL character (character 2)"),
        (4, {"text": "é\ud800"}, "5: text: holds half of a surrogate pair (character 2)"),
        (4, {"turn": True}, "5: turn: must be a whole number, not true or false"),
        (4, {"turn": 3}, "5: turn: the dialogue 'd' has no turn 3"),
        (4, {"system": "dog"}, "5: system: the system 'dog' is not known"),
        (4, {"dialogue_id": "e"}, "5: dialogue_id: does not follow its dialogue 'e'"),
        (5, {"score": True}, "6: score: must be a number, not true or false"),
        (5, {"score": "4"}, "6: score: must be a number, not a string"),
        (5, {"score": 10**400}, "6: score: is too large to be a number here"),
        (5, {"score": 6}, "6: score: 6 lies outside the scale of 'overall', 1 to 5"),
        (
            5,
            {"aspect": "Engaging", "score": -1},
            "6: score: -1 lies outside the scale of 'Engaging', 0 to open",
        ),
        (5, {"aspect": "Natural"}, "6: aspect: the corpus has no aspect 'Natural'"),
        (5, {"rater": "r2"}, "6: rater: the rater 'r2' is not known"),
    ],
)
def test_a_fault_is_named_by_line_and_field(
    tmp_path: Path, position: int, changes: dict[str, Any], problem: str
) -> None:
    assert (
        problems("jsonl", lines_of(tmp_path, with_line(position, **changes)))[0]
        == f"file.jsonl:{problem}"
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (CORPUS, "is a second corpus record; a stream holds one corpus"),
        (SYSTEM, "comes after the first dialogue; systems come before"),
        (RATER, "comes after the first dialogue; raters come before"),
        (DIALOGUE, "id: the dialogue 'd' occurs twice"),
        (RESPONSE, "the system 'echo' answers turn 0 of dialogue 'd' twice"),
        (RATING, "the rater 'r1' rates the same item for 'overall' twice"),
    ],
)
def test_a_record_that_comes_twice_is_refused(
    tmp_path: Path, line: dict[str, Any], problem: str
) -> None:
    assert problems("jsonl", lines_of(tmp_path, [*CORPUS_LINES, line])) == [
        f"file.jsonl:7: {problem}"
    ]


def test_a_rating_needs_the_response_that_it_judges(tmp_path: Path) -> None:
    lines = [CORPUS, SYSTEM, RATER, DIALOGUE, RATING]
    assert problems("jsonl", lines_of(tmp_path, lines)) == [
        "file.jsonl:5: turn: 'echo' has no response at turn 0 of dialogue 'd' before this rating"
    ]


def test_the_corpus_record_comes_first(tmp_path: Path) -> None:
    found = problems("jsonl", lines_of(tmp_path, [SYSTEM, CORPUS]))
    assert found == ["file.jsonl:1: comes before the corpus record, which must be the first"]


def test_a_corpus_without_dialogues_is_refused(tmp_path: Path) -> None:
    assert problems("jsonl", lines_of(tmp_path, [CORPUS])) == ["file.jsonl: holds no dialogue"]


@pytest.mark.parametrize(
    ("position", "changes", "field"),
    [
        (0, {"descripton": "misspelt"}, "descripton"),
        (1, {"kind": "model"}, "kind"),
        (2, {"kind": "model"}, "kind"),
        (3, {"persona": [""]}, "persona[0]"),
        (4, {"text": None}, "text"),
    ],
)
def test_what_refers_to_a_record_at_fault_is_not_told_beside_it(
    tmp_path: Path, position: int, changes: dict[str, Any], field: str
) -> None:
    (found,) = problems("jsonl", lines_of(tmp_path, with_line(position, **changes)))
    assert found.startswith(f"file.jsonl:{position + 1}: {field}: ")


def test_where_raters_stand_among_systems_makes_no_other_version(tmp_path: Path) -> None:
    swapped = [CORPUS, RATER, SYSTEM, DIALOGUE, RESPONSE, RATING]
    one, other = (
        surveyed("jsonl", lines_of(tmp_path, lines))[0].digest for lines in (CORPUS_LINES, swapped)
    )
    assert one == other


@pytest.mark.parametrize(("position", "field"), [(1, "name"), (2, "name"), (3, "id")])
def test_names_that_look_the_same_are_refused(tmp_path: Path, position: int, field: str) -> None:
    name = CORPUS_LINES[position][field]
    found = problems("jsonl", lines_of(tmp_path, with_line(position, **{field: f"{name} "})))
    assert found[0] == f"file.jsonl:{position + 1}: {field}: begins or ends with white space"


@pytest.mark.parametrize(("position", "field"), [(1, "name"), (2, "name"), (3, "id")])
def test_a_letter_and_its_accent_are_one_character_in_a_name(
    tmp_path: Path, position: int, field: str
) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    found = problems("jsonl", lines_of(tmp_path, with_line(position, **{field: decomposed})))
    assert (
        found[0] == f"file.jsonl:{position + 1}: {field}: is not in Unicode's composed form (NFC)"
    )
    found = problems("jsonl", lines_of(tmp_path, with_line(position, **{field: composed})))
    assert not any("NFC" in problem for problem in found)


def test_an_aspect_has_the_length_that_a_column_holds(tmp_path: Path) -> None:
    found = problems(
        "jsonl", lines_of(tmp_path, with_line(0, aspects=["overall", "x" * 101], scales=[]))
    )
    assert found == ["file.jsonl:1: aspects[1]: has 101 characters; at most 100 are allowed"]


def test_an_aspect_has_one_scale(tmp_path: Path) -> None:
    scales = [["overall", 1, 5], ["overall", 1, 7]]
    found = problems("jsonl", lines_of(tmp_path, with_line(0, scales=scales)))
    assert found == ["file.jsonl:1: scales[1]: 'overall' has a scale already"]


def test_a_score_is_told_with_all_its_digits(tmp_path: Path) -> None:
    found = problems("jsonl", lines_of(tmp_path, with_line(5, score=5.000000000000001)))
    assert found == [
        "file.jsonl:6: score: 5.000000000000001 lies outside the scale of 'overall', 1 to 5"
    ]


def test_half_a_pair_in_a_key_is_told(tmp_path: Path) -> None:
    found = problems("jsonl", lines_of(tmp_path, with_line(0, **{"\ud83d": 1})))
    assert found == ["file.jsonl:1: ?: is not a field of this format"]
