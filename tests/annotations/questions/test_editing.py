"""A form edited in a web page: fields and back, and each step of the editor."""

from __future__ import annotations

from typing import Any

import pytest

from annotations.questions import templates
from annotations.questions.editing import (
    apply_action,
    condition_of,
    condition_text,
    data_of,
    fields_of,
    options_of,
    rename_question,
)
from annotations.questions.reading import FormError, form_of
from annotations.questions.schema import TYPES, condition_data
from tests.annotations.questions.forms import data_of as unchecked_form
from tests.annotations.questions.forms import make_form


@pytest.mark.parametrize("name", templates.names())
def test_a_template_comes_back_from_the_fields_of_a_page(name: str) -> None:
    form = templates.load(name)
    assert form_of(data_of(fields_of(form))) == form


def test_fields_show_lists_as_lines() -> None:
    fields = fields_of(templates.load("conture"))
    assert fields["questions.0.options"] == "bad: bad = 0\nfair: fair = 1\ngood: good = 2"
    assert fields["questions.1.labels"] == "very bad\nbad\nfair\ngood\nvery good"
    assert fields["questions.0.required"] == "on"
    assert "questions.1.interval" not in fields


def test_an_empty_box_is_off_and_an_empty_text_its_default() -> None:
    fields = {"questions.0.type": "scale", "questions.0.text": "Why?", "questions.0.maximum": ""}
    assert data_of(fields)["questions"] == [
        {
            "key": "why",
            "type": "scale",
            "text": "Why?",
            "required": False,
            "interval": False,
            "cannot_judge": False,
        }
    ]


def test_questions_stand_in_the_order_of_their_numbers() -> None:
    fields = {f"questions.{number}.key": f"q{number}" for number in (10, 9, 2)}
    assert [one["key"] for one in data_of(fields)["questions"]] == ["q2", "q9", "q10"]


def test_a_number_that_is_none_is_told_where_it_stands() -> None:
    fields = {**fields_of(make_form({})), "questions.0.maximum": "ten", "name": "test"}
    with pytest.raises(FormError, match=r"questions\[0\].maximum: must be a number, not a text"):
        form_of(data_of(fields))


def test_fields_of_another_type_are_left_out() -> None:
    fields = {**fields_of(make_form({})), "questions.0.type": "text", "csrf": "x"}
    assert form_of(data_of(fields)).questions[0].type == "text"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("How good?", "how_good"),
        ("2 + 2", "question"),
        ("", "question"),
        ("Größe", "groe"),
        ("自然", "question"),
    ],
)
def test_a_question_without_a_key_gets_one(text: str, key: str) -> None:
    assert data_of({"questions.0.text": text})["questions"][0]["key"] == key


def test_keys_that_are_made_are_not_taken_twice() -> None:
    fields = {f"questions.{number}.text": "Why?" for number in range(2)}
    fields["questions.2.key"] = "why"
    keys = [one["key"] for one in data_of(fields)["questions"]]
    assert keys == ["why_2", "why_3", "why"]


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (
            "off_topic: beside the topic = -2.5",
            {"key": "off_topic", "label": "beside the topic", "value": -2.5},
        ),
        ("Beside the topic", {"key": "beside_the_topic", "label": "Beside the topic"}),
        ("yes:", {"key": "yes"}),
        ("a: b: c", {"key": "a", "label": "b: c"}),
        ("x = y = 3", {"key": "x_y", "label": "x = y", "value": 3}),
        ("Good = fine", {"key": "good_fine", "label": "Good = fine"}),
    ],
)
def test_options_from_lines(line: str, option: dict[str, Any]) -> None:
    assert options_of(f"\n{line}\n") == [option]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("overall < 3", {"question": "overall", "below": 3}),
        ("overall>2.5", {"question": "overall", "above": 2.5}),
        ("sensible = true", {"question": "sensible", "is": True}),
        ("topic in films, books", {"question": "topic", "in": ["films", "books"]}),
        ("a < 3 and b = x", {"all": [{"question": "a", "below": 3}, {"question": "b", "is": "x"}]}),
        ("a < 3 or b = x", {"any": [{"question": "a", "below": 3}, {"question": "b", "is": "x"}]}),
        ('{"question": "a", "is": 1}', {"question": "a", "is": 1}),
        ("{", "{"),
        ("overall", "overall"),
        ("a < 3 and b", "a < 3 and b"),
    ],
)
def test_conditions_from_text(text: str, condition: Any) -> None:
    assert condition_of(text) == condition


@pytest.mark.parametrize(
    "condition",
    [
        {"question": "q1", "in": [1, 5]},
        {"all": [{"question": "q1", "below": 3}, {"question": "q2", "is": True}]},
        {"any": [{"all": [{"question": "q1", "below": 3}]}, {"question": "q2", "is": False}]},
        {"question": "q1", "is": 4},
    ],
)
def test_a_condition_comes_back_from_its_text(condition: dict[str, Any]) -> None:
    read = make_form({}, {"type": "yes_no"}, {"when": condition}).questions[2].when
    assert read is not None
    assert condition_of(condition_text(read)) == condition == condition_data(read)


def keys_after(action: str) -> list[str]:
    return [one["key"] for one in apply_action(unchecked_form({}, {}, {}), action)["questions"]]


@pytest.mark.parametrize(
    ("action", "keys"),
    [
        ("up.2", ["q1", "q3", "q2"]),
        ("up.0", ["q1", "q2", "q3"]),
        ("down.0", ["q2", "q1", "q3"]),
        ("down.2", ["q1", "q2", "q3"]),
        ("remove.1", ["q1", "q3"]),
        ("copy.0", ["q1", "q1_2", "q2", "q3"]),
        ("add.yes_no", ["q1", "q2", "q3", "yes_no"]),
    ],
)
def test_steps(action: str, keys: list[str]) -> None:
    assert keys_after(action) == keys


@pytest.mark.parametrize("action", ["up.3", "up.-1", "add.stars", "drop.1", "", "up.99999999"])
def test_steps_that_are_none(action: str) -> None:
    with pytest.raises(ValueError, match="no "):
        keys_after(action)


def test_a_step_leaves_the_given_form_as_it_is() -> None:
    data = unchecked_form({}, {})
    apply_action(data, "remove.0")
    assert data == unchecked_form({}, {})


LEVEL_OF = {"preference": "pair", "ranking": "systems", "best_worst": "systems"}


@pytest.mark.parametrize("kind", TYPES)
def test_a_new_question_of_any_type_is_right_at_once(kind: str) -> None:
    data = unchecked_form(level=LEVEL_OF.get(kind, "response"))
    assert form_of(apply_action(data, f"add.{kind}")).questions[0].type == kind


def test_a_question_is_renamed_in_conditions_too() -> None:
    when = {"any": [{"question": "q1", "below": 3}, {"question": "q2", "is": 1}]}
    form = form_of(rename_question(unchecked_form({}, {}, {"when": when}), "q1", "overall"))
    assert [question.key for question in form.questions] == ["overall", "q2", "q3"]
    assert form.questions[2].when is not None
    assert form.questions[2].when.questions == ("overall", "q2")


@pytest.mark.parametrize("field", ["options", "when", "labels", "text"])
def test_endless_blanks_are_read_at_once(field: str) -> None:
    fields = {"questions.0.type": "choice", f"questions.0.{field}": "a" + " " * 1_000_000 + "b"}
    with pytest.raises(FormError):
        form_of(data_of(fields))
