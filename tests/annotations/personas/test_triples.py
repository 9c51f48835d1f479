from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotations.formats.importers.problems import ImportFailed
from annotations.personas import load_knowledge, make_persona
from annotations.personas.triples import aspect_of, head_sentence, is_negative, sentence_of

RANCHER = [
    ["i am a rancher", "characteristic", "rugged individualism"],
    ["i am a rancher", "routine_habit", "tends to cattle"],
    ["i am a rancher", "goal_plan", "to pass my ranch down to my children"],
    ["i am a rancher", "experience_relationship", "rode a horse"],
]
OTHERS = [[f"i am a cook of dish {n}", "experience", f"made {n} pies."] for n in range(4)]


def knowledge_of(tmp_path: Path, rows: Any) -> Any:
    file = tmp_path / "triples.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return load_knowledge(file)


def test_tails_become_sentences_of_their_aspects(tmp_path: Path) -> None:
    rancher, *others = knowledge_of(tmp_path, [*RANCHER, RANCHER[0], *OTHERS]).heads
    assert rancher.text == "I am a rancher."
    assert {
        aspect: [sentence.text for sentence in sentences]
        for aspect, sentences in rancher.attributes.items()
    } == {
        "characteristic": ["My character trait: rugged individualism."],
        "routine_or_habit": ["I regularly or consistently tends to cattle."],
        "goal_or_plan": ["I intend to pass my ranch down to my children in the future."],
        "experience_relationship": ["I rode a horse in the past."],
    }
    assert others[1].attributes["experience"][0].text == "I made 1 pies in the past."


def test_triples_between_tabs_are_the_same(tmp_path: Path) -> None:
    rows = [*RANCHER, *OTHERS]
    with_tabs = ["\t".join(row) for row in rows]
    assert knowledge_of(tmp_path, with_tabs).heads == knowledge_of(tmp_path, rows).heads


def test_a_persona_can_be_made_of_triples(tmp_path: Path) -> None:
    persona = make_persona(knowledge_of(tmp_path, [*RANCHER, *OTHERS]), Random(1))
    assert "I am a rancher." in persona.sentences or any("cook" in one for one in persona.sentences)


@pytest.mark.parametrize(
    ("relation", "aspect"),
    [
        ("Characteristic", "characteristic"),
        ("Routine or Habit", "routine_or_habit"),
        ("goal_plan_relationship", "goal_or_plan_relationship"),
        ("Relationship: Experience", "experience_relationship"),
        ("relationship", None),
        ("experience_goal", None),
        ("not", None),
    ],
)
def test_a_relation_names_its_aspect_however_it_is_written(
    relation: str, aspect: str | None
) -> None:
    assert aspect_of(relation) == aspect


def test_heads_of_negative_impression_are_left_out(tmp_path: Path) -> None:
    rows = [["i am a forger", "experience", "copied a painting"], *OTHERS]
    assert len(knowledge_of(tmp_path, rows).heads) == len(OTHERS)
    assert is_negative("I am a dishonest person")
    assert not is_negative("i am a detective who catches those who break the law")


def test_gendered_words_become_neutral_where_there_is_a_word() -> None:
    assert head_sentence("i am a police man") == "I am a police officer."
    assert sentence_of("goal_or_plan", "become a Waitress") == (
        "I intend to become a Server in the future."
    )
    assert head_sentence("I am a king.") == "I am a king."


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            ["a", "experience"],
            "$[1]: must be three texts in a list or between tabs: head, relation",
        ),
        ({"head": "a"}, "$[1]: must be three texts in a list or between tabs: head, relation"),
        ("a\texperience", "$[1]: must be three texts in a list or between tabs: head, relation"),
        (["a", "likes", "b"], "$[1][1]: 'likes' is no relation of PeaCoK's"),
        (["a", "experience", " "], "$[1][2]: is empty"),
        (["a\0", "experience", "b"], "$[1][0]: holds a NUL character"),
        (["a" * 201, "experience", "b"], "$[1][0]: has 201 characters; at most 200 are allowed"),
    ],
)
def test_a_bad_triple_is_refused_with_its_place(tmp_path: Path, row: Any, problem: str) -> None:
    with pytest.raises(ImportFailed) as refusal:
        knowledge_of(tmp_path, [OTHERS[0], row, *OTHERS])
    assert any(problem in str(one) for one in refusal.value.problems)
