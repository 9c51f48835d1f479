from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotations.personas import load_knowledge, make_persona


def run(**options: object) -> str:
    out = io.StringIO()
    call_command("make_personas", stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_a_seed_makes_the_same_personas_again() -> None:
    first = run(count=3, seed=5, format="json")
    assert first == run(count=3, seed=5, format="json")
    assert first != run(count=3, seed=6, format="json")


def test_json_is_one_document_with_name_age_heads_and_sentences() -> None:
    from random import Random

    document = json.loads(run(count=1, seed=9, format="json"))
    [given] = document["personas"]
    expected = make_persona(load_knowledge(), Random(9))
    assert (document["seed"], given["name"], given["age"]) == (9, expected.name, expected.age)
    assert given["sentences"] == list(expected.sentences)
    assert "gender" not in given  # how it was made, not what it says


def test_the_table_numbers_each_persona_once() -> None:
    rows = [line.split() for line in run(count=2, seed=1).splitlines()[2:]]
    assert [row[0] for row in rows if row[0].isdigit()] == ["1", "2"]


def test_a_broken_file_is_refused_with_each_fault(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('[{"head": "I am."}]')
    errors = io.StringIO()
    with pytest.raises(CommandError, match=r"no persona was made: 1 problem$"):
        call_command("make_personas", knowledge=file, stdout=io.StringIO(), stderr=errors)
    assert "mine.json: $[0].attributes: is missing" in errors.getvalue()


@pytest.mark.parametrize(("option", "value"), [("count", "0"), ("count", "many"), ("seed", "-1")])
def test_numbers_out_of_range_are_refused(option: str, value: str) -> None:
    with pytest.raises(CommandError, match="must be"):
        call_command(
            "make_personas", f"--{option}={value}", stdout=io.StringIO(), stderr=io.StringIO()
        )
