from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import ImportFailed
from annotations.personas.knowledge import ASPECTS, load_knowledge

GOOD = [
    {
        "head": f"I am number {number}.",
        "min_age": 20,
        "max_age": 60,
        "attributes": {"experience": [f"I was {number}."]},
    }
    for number in range(4)
]


def problems_of(tmp_path: Path, rows: Any) -> list[str]:
    file = tmp_path / "persona.json"
    file.write_text(rows if isinstance(rows, str) else json.dumps(rows), encoding="utf-8")
    with pytest.raises(ImportFailed) as refusal:
        load_knowledge(file)
    return [str(problem) for problem in refusal.value.problems]


def test_the_own_knowledge_is_large_enough_and_uses_all_eight_aspects() -> None:
    own = load_knowledge()
    assert len(own.heads) >= 40
    assert {aspect for head in own.heads for aspect in head.attributes} == set(ASPECTS)
    assert all(head.sentence.min_age >= 18 for head in own.heads)


def test_numbers_are_filled_into_family_sentences() -> None:
    texts = [sentence.text for sentence in load_knowledge().family]
    assert {"I have two sons.", "I have three sons.", "I have four sons."} <= set(texts)
    assert not any("{n}" in text for text in texts)


def test_attributes_are_sentences_or_objects_with_ages_and_tags(tmp_path: Path) -> None:
    rows = json.loads(json.dumps(GOOD))
    rows[0]["attributes"]["experience"].append(
        {"text": "I raised six dogs.", "min_age": 30, "tags": {"dog": "some", "cat": "none"}}
    )
    file = tmp_path / "persona.json"
    file.write_text(json.dumps(rows))
    plain, tagged = load_knowledge(file).heads[0].attributes["experience"]
    assert (plain.text, plain.tags) == ("I was 0.", ())
    assert (tagged.min_age, tagged.max_age, tagged.tags) == (
        30,
        99,
        (("cat", "none"), ("dog", "some")),
    )


def test_a_head_without_ages_is_an_adult_s_and_its_attributes_are_anybody_s(tmp_path: Path) -> None:
    rows: list[Any] = [{**row} for row in GOOD]
    del rows[0]["min_age"]
    file = tmp_path / "persona.json"
    file.write_text(json.dumps(rows))
    head = load_knowledge(file).heads[0]
    assert (head.sentence.min_age, head.attributes["experience"][0].min_age) == (18, 15)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"head": ""}, "persona.json: $[1].head: is empty"),
        (
            {"head": "x" * 301},
            "persona.json: $[1].head: has 301 characters; at most 300 are allowed",
        ),
        ({"head": "I am\0a NUL."}, "persona.json: $[1].head: holds a NUL character (character 5)"),
        ({"head": "I am number 0."}, "persona.json: $[1].head: 'I am number 0.' occurs twice"),
        ({"min_age": "young"}, "persona.json: $[1].min_age: must be a whole number, not a string"),
        ({"min_age": 12}, "persona.json: $[1].min_age: must be from 15 to 99"),
        ({"min_age": 61}, "persona.json: $[1].max_age: 60 is below min_age 61"),
        ({"tags": ["home"]}, "persona.json: $[1].tags: must be an object, not a list"),
        ({"tags": {"home": 3}}, "persona.json: $[1].tags.home: must be a string, not a number"),
        ({"attributes": []}, "persona.json: $[1].attributes: must be an object, not a list"),
        ({"attributes": {}}, "persona.json: $[1].attributes: holds no attribute"),
        (
            {"attributes": {"hobby": []}},
            "persona.json: $[1].attributes.hobby: is not a field of this format",
        ),
        (
            {"attributes": {"experience": ["I was.", 3]}},
            "persona.json: $[1].attributes.experience[1]: must be an object, not a number",
        ),
        (
            {"attributes": {"experience": [{"text": "I was.", "max_age": 200}]}},
            "persona.json: $[1].attributes.experience[0].max_age: must be from 15 to 99",
        ),
        ({"gender": "any"}, "persona.json: $[1].gender: is not a field of this format"),
    ],
)
def test_a_fault_is_named_with_its_place_and_field(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    rows = json.loads(json.dumps(GOOD))
    rows[1].update(change)
    assert problem in problems_of(tmp_path, rows)


def test_a_pair_needs_four_heads(tmp_path: Path) -> None:
    assert problems_of(tmp_path, GOOD[:3]) == [
        "persona.json: $: holds 3 head personas; a pair needs at least 4"
    ]


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    assert problems_of(tmp_path, '{"personas": []}')[0].startswith(
        "persona.json: $: must be a list (JSON array)"
    )
