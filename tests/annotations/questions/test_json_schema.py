"""The JSON Schema takes every template and refuses what no form may hold."""

from __future__ import annotations

from typing import Any

import pytest

from annotations.questions import templates
from annotations.questions.json_schema import json_schema
from annotations.questions.schema import TYPES, to_data
from tests.annotations.questions.forms import LETTERS, data_of

jsonschema_rs = pytest.importorskip("jsonschema_rs")


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema_rs.Draft202012Validator(json_schema())


@pytest.mark.parametrize("name", templates.names())
def test_a_template_is_valid(validator: Any, name: str) -> None:
    validator.validate(to_data(templates.load(name)))


def test_every_type_is_described() -> None:
    kinds = [
        one["$ref"].rsplit("/", 1)[1]
        for one in json_schema()["properties"]["questions"]["items"]["oneOf"]
    ]
    assert kinds == list(TYPES)


@pytest.mark.parametrize(
    "question",
    [
        {"type": "stars"},
        {"options": LETTERS},
        {"type": "choice"},
        {"key": "A"},
        {"labels": [1]},
        {"when": {"question": "a"}},
        {"when": {"question": "a", "is": 1, "below": 2}},
        {"maximum": 1e9},
    ],
)
def test_what_no_question_may_hold_is_invalid(validator: Any, question: dict[str, Any]) -> None:
    assert not validator.is_valid(data_of(question))
