"""The importer of the FBD corpora, on files written here and on the six real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    SystemRecord,
)
from tests.annotations.formats.importers.helpers import (
    lines_of,
    of_type,
    problems,
    read,
    real_file,
    surveyed,
)


def line(scores: list[list[float]], **fields: Any) -> dict[str, Any]:
    return {
        "src": " hi there ",
        "refs": ["hello"],
        "hyps": ["yes"] * len(scores),
        "human_scores": scores,
        **fields,
    }


def test_a_line_is_a_dialogue_with_one_utterance(tmp_path: Path) -> None:
    records = read("fbd", lines_of(tmp_path, [line([[2.5]]), line([[3.0]])]))
    dialogues = of_type(records, DialogueRecord)
    assert [dialogue.id for dialogue in dialogues] == ["0", "1"]
    assert [(u.speaker, u.text) for u in dialogues[0].turns[0].context] == [("A", "hi there")]
    assert dialogues[0].turns[0].references == ("hello",)


def test_systems_are_numbered_and_the_rater_is_an_aggregate(tmp_path: Path) -> None:
    records = read("fbd", lines_of(tmp_path, [line([[2.5], [4.25]])]))
    assert of_type(records, SystemRecord) == [SystemRecord("system_0"), SystemRecord("system_1")]
    assert of_type(records, RaterRecord) == [RaterRecord("mean of raters", "aggregate")]
    assert [rating.score for rating in of_type(records, RatingRecord)] == [2.5, 4.25]


@pytest.mark.parametrize(
    ("count", "aspects", "main"),
    [
        (1, ("overall",), "overall"),
        (2, ("aspect_1", "aspect_2"), "aspect_2"),
        (4, ("relevance", "grammar", "content", "overall"), "overall"),
        (
            6,
            (
                "Understandable",
                "Natural",
                "Maintains Context",
                "Engaging",
                "Uses Knowledge",
                "Overall",
            ),
            "Overall",
        ),
    ],
)
def test_the_number_of_scores_names_the_aspects(
    tmp_path: Path, count: int, aspects: tuple[str, ...], main: str
) -> None:
    (corpus,) = of_type(read("fbd", lines_of(tmp_path, [line([[1.0] * count])])), CorpusRecord)
    assert (corpus.aspects, corpus.main_aspect) == (aspects, main)


def test_a_known_questionnaire_is_checked_against_its_scale(tmp_path: Path) -> None:
    found = problems("fbd", lines_of(tmp_path, [line([[1.5, 1, 1, 1, 0, 1]])]))
    assert found == [
        "file.jsonl:1: human_scores[0][0]: 1.5 lies outside the scale of 'Understandable', 0 to 1"
    ]


def test_an_unknown_questionnaire_has_an_open_scale(tmp_path: Path) -> None:
    records = read("fbd", lines_of(tmp_path, [line([[-7.0]])]))
    assert of_type(records, CorpusRecord)[0].scale_of("overall") == (None, None)
    assert of_type(records, RatingRecord)[0].score == -7.0


def test_ragged_lines_are_named(tmp_path: Path) -> None:
    lines = [
        line([[1.0], [2.0]]),
        line([[1.0]]),
        line([[1.0], [2.0, 3.0]]),
        line([[1.0], [1.0]], hyps=["a"]),
    ]
    assert problems("fbd", lines_of(tmp_path, lines)) == [
        "file.jsonl:2: hyps: has 1 responses where the first line has 2",
        "file.jsonl:3: human_scores[1]: has 2 scores where the first has 1",
        "file.jsonl:4: hyps: has 1 responses where the first line has 2",
        "file.jsonl:4: human_scores: has 2 rows for 1 responses",
    ]


@pytest.mark.parametrize(
    ("name", "dialogues", "systems", "aspects"),
    [
        ("convai2", 150, 4, 1),
        ("dailyh", 150, 11, 1),
        ("dailyz", 100, 8, 4),
        ("empathetic", 150, 11, 1),
        ("personam", 60, 4, 6),
        ("personaz", 150, 5, 1),
    ],
)
def test_the_six_real_files(name: str, dialogues: int, systems: int, aspects: int) -> None:
    (part,) = surveyed("fbd", real_file(f"fbd/{name}_annotation.json"))
    assert (part.counts.dialogues, part.counts.systems, part.counts.raters) == (
        dialogues,
        systems,
        1,
    )
    assert part.counts.responses == dialogues * systems
    assert part.counts.ratings == dialogues * systems * aspects
