"""The GRADE importer, on files written here and on the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers
from annotations.formats.records import DialogueRecord, RaterRecord, RatingRecord, ResponseRecord
from tests.annotations.formats.importers.helpers import (
    file_of,
    of_type,
    problems,
    read,
    real_file,
    surveyed,
)


def row(
    number: int, system: str, context: str = "hello|||who is it", **fields: Any
) -> dict[str, Any]:
    return {
        "ID": number,
        "Dataset": "dailydialog_EVAL",
        "DialogModel": system,
        "Context": context,
        "Response": "it is me",
        "HumanScores": "[5, 3, 1]",
        **fields,
    }


def test_parts_are_the_datasets_in_lower_case_without_eval(tmp_path: Path) -> None:
    path = file_of(tmp_path, [row(0, "a"), row(1, "a", Dataset="ConvAI2")])
    assert importers()["grade"].parts(path) == ("dailydialog", "convai2")


def test_two_systems_answer_one_dialogue(tmp_path: Path) -> None:
    path = file_of(tmp_path, [row(4, "a"), row(7, "b")])
    records = read("grade", path, "dailydialog")
    assert [dialogue.id for dialogue in of_type(records, DialogueRecord)] == ["4"]
    assert [(r.dialogue_id, r.system) for r in of_type(records, ResponseRecord)] == [
        ("4", "a"),
        ("4", "b"),
    ]


def test_a_context_met_twice_by_one_system_is_two_dialogues(tmp_path: Path) -> None:
    path = file_of(tmp_path, [row(0, "a"), row(1, "a"), row(2, "b"), row(3, "b")])
    responses = of_type(read("grade", path, "dailydialog"), ResponseRecord)
    # The n-th answer of b belongs to the n-th meeting of that context.
    assert [(r.dialogue_id, r.system) for r in responses] == [
        ("0", "a"),
        ("0", "b"),
        ("1", "a"),
        ("1", "b"),
    ]


def test_raters_are_positions_and_anonymous(tmp_path: Path) -> None:
    path = file_of(tmp_path, [row(0, "a"), row(1, "b", HumanScores="[2, 4]")])
    records = read("grade", path, "dailydialog")
    assert of_type(records, RaterRecord) == [
        RaterRecord(f"position {n}", "anonymous") for n in (1, 2, 3)
    ]
    ratings = [(r.system, r.rater, r.score) for r in of_type(records, RatingRecord)]
    assert ratings[3:] == [("b", "position 1", 2.0), ("b", "position 2", 4.0)]


def test_the_context_ends_with_the_partner(tmp_path: Path) -> None:
    path = file_of(tmp_path, [row(0, "a")])
    (dialogue,) = of_type(read("grade", path, "dailydialog"), DialogueRecord)
    assert [(u.speaker, u.text) for u in dialogue.turns[0].context] == [
        ("B", "hello"),
        ("A", "who is it"),
    ]


@pytest.mark.parametrize("scores", ["4, 3", "__import__('os')", "[4, 3", "[" * 5000])
def test_scores_that_are_no_list_are_refused(tmp_path: Path, scores: str) -> None:
    assert problems("grade", file_of(tmp_path, [row(0, "a", HumanScores=scores)])) == [
        (
            "file.json: $[0].HumanScores: must be a string that holds a list of numbers, such as "
            '"[4, 3]"'
        )
    ]


def test_a_score_above_the_scale_is_named_by_row_and_place(tmp_path: Path) -> None:
    found = problems("grade", file_of(tmp_path, [row(0, "a", HumanScores="[5, 6]")]))
    assert found == [
        "file.json: $[0].HumanScores[1]: 6 lies outside the scale of 'overall', 1 to 5"
    ]


def test_the_faults_of_all_corpora_are_told_at_once(tmp_path: Path) -> None:
    path = file_of(
        tmp_path, [row(0, "a", Response=3), row(1, "a", Dataset="convai2", HumanScores="[]")]
    )
    assert problems("grade", path) == [
        "file.json: $[0].Response: must be a string, not a number",
        "file.json: $[1].HumanScores: must hold a list of numbers, not an empty list",
    ]


def test_a_part_that_the_file_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="holds no corpus 'convai2'; it holds dailydialog"):
        read("grade", file_of(tmp_path, [row(0, "a")]), "convai2")


def test_the_real_file_holds_three_corpora() -> None:
    parts = surveyed("grade", real_file("grade/human_judgement.json"))
    assert [(p.part, p.counts.responses, p.counts.systems) for p in parts] == [
        ("dailydialog", 300, 2),
        ("convai2", 600, 4),
        ("empatheticdialogues", 300, 2),
    ]
    assert sum(part.counts.ratings for part in parts) == 11_910
    assert max(part.counts.raters for part in parts) == 11


def test_every_real_dialogue_of_dailydialog_has_both_systems() -> None:
    records = read("grade", real_file("grade/human_judgement.json"), "dailydialog")
    assert len(of_type(records, DialogueRecord)) == 150
