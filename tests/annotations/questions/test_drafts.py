"""Editing a form step by step: what an editor's fields and buttons make of a draft."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotations.questions import templates
from annotations.questions.drafts import (
    Draft,
    comparisons,
    faults_of,
    moved,
    place_of,
    read_draft,
    readable_part,
    with_fields,
    with_question,
    write_draft,
)
from annotations.questions.reading import Fault, FormError, form_of
from annotations.questions.schema import TYPES, to_data


def draft(*questions: dict[str, Any], level: str = "response") -> Draft:
    return {"name": "mine", "title": "Mine", "level": level, "questions": list(questions)}


def scale(key: str, **fields: Any) -> dict[str, Any]:
    return {"key": key, "type": "scale", "text": f"{key}?", **fields}


def typed(**fields: str | list[str]) -> dict[str, list[str]]:
    given = {"type": "scale", "text": "How?", "key": "how", "required": "1", **fields}
    return {name: [one] if isinstance(one, str) else one for name, one in given.items()}


def keys(one: Draft) -> list[str]:
    return [question["key"] for question in one["questions"]]


@pytest.mark.parametrize("name", templates.names())
def test_a_template_is_the_same_after_the_way_through_the_page(name: str) -> None:
    form = templates.load(name)
    assert form_of(read_draft(write_draft(to_data(form)))) == form


@pytest.mark.parametrize("text", ["", "[]", "{", '{"questions": 3}', "[" * 9999])
def test_what_is_no_draft_is_refused(text: str) -> None:
    with pytest.raises(FormError, match=r"^the questions came incomplete; load the page again$"):
        read_draft(text)
    with pytest.raises(FormError, match=r"^questions: must be mappings of fields$"):
        read_draft('{"questions": [3]}')
    with pytest.raises(FormError, match="200,000 characters"):
        read_draft(" " * 200_001)


@pytest.mark.parametrize("kind", [one for one in TYPES if one != "preference"])
def test_a_new_question_lacks_its_text_alone(kind: str) -> None:
    (fault,) = faults_of(with_question(draft(scale("a")), kind))
    assert fault.path == "questions[1].text"


def test_questions_move_are_duplicated_and_removed() -> None:
    one = draft(scale("a"), scale("b"), scale("c"))
    assert keys(moved(one, "up", "2")[0]) == ["a", "c", "b"]
    assert keys(moved(one, "down", "2")[0]) == ["a", "b", "c"]
    assert keys(moved(one, "up", "0")[0]) == ["a", "b", "c"]
    doubled, at = moved(one, "duplicate", "0")
    assert (keys(doubled), at) == (["a", "a_2", "b", "c"], 1)
    assert keys(moved(doubled, "duplicate", "0")[0]) == ["a", "a_3", "a_2", "b", "c"]
    assert keys(moved(one, "remove", "1")[0]) == ["a", "c"]
    assert keys(one) == ["a", "b", "c"]
    for nowhere in ("3", "-1", "x", "", "0.options.0", "0.labels.1"):
        assert moved(one, "remove", nowhere) == (one, 0)


def test_options_move_and_are_removed() -> None:
    options = [{"key": key} for key in ("x", "y", "z")]
    one = draft({"key": "a", "type": "choice", "text": "?", "options": options})
    up, _at = moved(one, "up", "0.options.2")
    assert [option["key"] for option in up["questions"][0]["options"]] == ["x", "z", "y"]
    left, _at = moved(one, "remove", "0.options.0")
    assert [option["key"] for option in left["questions"][0]["options"]] == ["y", "z"]


def test_fields_become_numbers_lists_and_flags() -> None:
    given = typed(
        minimum="0", maximum="1.5", step="0.5", keys="a b  d", labels="low\r\n\r\nmiddle\r\nhigh"
    )
    (question,) = with_fields(draft(scale("a")), "0", given)["questions"]
    assert (question["minimum"], question["maximum"], question["step"]) == (0, 1.5, 0.5)
    assert question["keys"] == ["a", "b", "d"]
    assert question["labels"] == ["low", "middle", "high"]
    assert "required" not in question
    without = {name: value for name, value in typed(cannot_judge="1").items() if name != "required"}
    (question,) = with_fields(draft(scale("a")), "0", without)["questions"]
    assert (question["required"], question["cannot_judge"]) == (False, True)


@pytest.mark.parametrize(
    ("fields", "path", "fault"),
    [
        ({"maximum": "1000000"}, "questions[0].maximum", "1,000,000 points"),
        ({"maximum": "9" * 5000}, "questions[0].maximum", "must be a number, not a text"),
        ({"maximum": "five"}, "questions[0].maximum", "must be a number"),
        ({"key": "Two words"}, "questions[0].key", "lower-case letters"),
        ({"keys": "s t"}, "questions[0].keys[0]", "the rating page's own"),
        ({"text": "a\x00b"}, "questions[0].text", ""),
        ({"type": "essay"}, "questions[0].type", "is none of"),
        ({"type": "preference"}, "questions[0].type", "needs the level pair"),
    ],
)
def test_what_cannot_be_is_a_fault_at_its_field(
    fields: dict[str, str], path: str, fault: str
) -> None:
    found = faults_of(with_fields(draft(scale("a")), "0", typed(**fields)))
    assert found[0].path == path
    assert fault in found[0].text


def test_another_type_keeps_what_it_has_and_gets_what_it_needs() -> None:
    begun = draft(scale("a", anchors=["low", "high"], step=1))
    (question,) = with_fields(begun, "0", typed(type="choice", minimum="1", hint="Think."))[
        "questions"
    ]
    assert "minimum" not in question
    assert question["hint"] == "Think."
    assert len(question["options"]) == 2
    assert faults_of({**begun, "questions": [question]}) == []


def test_empty_options_are_left_out_and_others_get_a_key() -> None:
    given = typed(type="choices") | {
        "options.0.key": ["x"],
        "options.0.label": ["Ex"],
        "options.0.value": ["2"],
        "options.1.key": [""],
        "options.1.label": [""],
        "options.2.key": [""],
        "options.2.label": ["Off topic!"],
        "options.3.key": [""],
        "options.3.label": ["日本語"],
    }
    (question,) = with_fields(draft(scale("a")), "0", given)["questions"]
    assert question["options"] == [
        {"key": "x", "label": "Ex", "value": 2},
        {"key": "off_topic", "label": "Off topic!"},
        {"key": "option_4", "label": "日本語"},
    ]


def test_a_condition_is_chosen_by_question_and_answer() -> None:
    sure = {"key": "sure", "type": "yes_no", "text": "Sure?"}
    one = draft(scale("a"), sure, scale("b"))
    below = {"when.0.question": ["a"], "when.0.how": ["below"], "when.0.number": ["3"]}
    is_yes = {"when.1.question": ["sure"], "when.1.how": ["is"], "when.1.value": ["true"]}
    none = {"when.2.question": [""]}
    single = with_fields(one, "2", typed() | below | {"when.1.question": [""]})
    assert single["questions"][2]["when"] == {"question": "a", "below": 3}
    both = with_fields(one, "2", typed() | below | is_yes | none | {"when.joined": ["any"]})
    compared = [{"question": "a", "below": 3}, {"question": "sure", "is": True}]
    assert both["questions"][2]["when"] == {"any": compared}
    assert faults_of(both) == []
    assert comparisons(both["questions"][2]["when"]) == ("any", compared)
    several = {"when.0.question": ["a"], "when.0.how": ["is"], "when.0.value": ["1", "2"]}
    assert with_fields(one, "2", typed() | several)["questions"][2]["when"]["in"] == [1, 2]
    unchosen = {"when.0.question": ["a"], "when.0.how": ["is"]}
    assert faults_of(with_fields(one, "2", typed() | unchosen))[0].path == "questions[2].when.in"


def test_a_condition_of_several_levels_is_kept() -> None:
    when = {"all": [{"any": [{"question": "a", "is": 1}, {"question": "a", "is": 2}]}]}
    one = draft(scale("a"), scale("b", when=when))
    assert comparisons(when) is None
    kept = with_fields(one, "1", typed() | {"when.kept": ["1"]})
    assert kept["questions"][1]["when"] == when


def test_conditions_follow_a_key_that_is_renamed() -> None:
    when = {"all": [{"question": "a", "is": 1}, {"question": "a", "is": 2}]}
    one = draft(scale("a"), scale("b", when=when), scale("c", when={"question": "a", "above": 3}))
    renamed = with_fields(one, "0", typed(key="first"))
    assert faults_of(renamed) == []
    assert renamed["questions"][2]["when"] == {"question": "first", "above": 3}
    twice = draft(scale("a"), scale("a"), scale("c", when={"question": "a", "above": 3}))
    assert with_fields(twice, "1", typed(key="b"))["questions"][2]["when"]["question"] == "a"


def test_two_questions_of_one_key_and_a_loop_are_faults_at_the_question() -> None:
    assert place_of(faults_of(draft(scale("a"), scale("a")))[0]) == (1, "key")
    loop = [
        scale("a", when={"question": "b", "is": 1}),
        scale("b", when={"question": "a", "is": 1}),
    ]
    (fault,) = faults_of(draft(*loop))
    assert place_of(fault) == (0, "when")
    assert "a → b → a" in fault.text


def test_a_preview_leaves_out_what_has_a_fault() -> None:
    shown = readable_part(draft(scale("a"), scale("b", maximum="x"), scale("c")))
    assert shown is not None
    assert [question.key for question in shown.questions] == ["a", "c"]
    after = scale("c", when={"question": "b", "is": 1})
    shown = readable_part(draft(scale("a"), scale("b", maximum="x"), after))
    assert shown is not None
    assert [question.key for question in shown.questions] == ["a"]
    assert readable_part(draft(scale("a", maximum="x"))) is None
    assert readable_part(draft(scale("a"), level="planet")) is None


def test_two_hundred_questions_are_too_many_and_still_shown_in_part() -> None:
    many = draft(*(scale(f"q{number}") for number in range(200)))
    assert "200 questions; at most 40" in faults_of(many)[0].text
    assert place_of(faults_of(many)[0]) == (None, "questions")
    shown = readable_part(many)
    assert shown is not None
    assert len(shown.questions) == 40


def test_a_form_of_a_newer_format_is_a_fault_of_the_whole() -> None:
    assert place_of(faults_of({**draft(scale("a")), "schema": 2})[0]) == (None, "schema")


def test_fields_to_nowhere_change_nothing() -> None:
    one = draft(scale("a"))
    for nowhere in ("", "1", "-1", "²", "99999", "x"):
        assert with_fields(one, nowhere, typed()) == one


def test_the_forms_own_fields() -> None:
    one = with_fields(draft(scale("a")), "form", {"title": ["Other"], "citation": [""]})
    assert one["title"] == "Other"
    assert "citation" not in one


def test_hostile_values_in_a_draft_raise_nothing() -> None:
    odd: list[Any] = [[], {}, 7, None, "x", True, [[]], {"a": []}]
    names = ("key", "type", "text", "when", "options", "labels", "minimum", "required")
    for value in odd:
        for name in names:
            one = read_draft(json.dumps(draft(scale("a") | {name: value}, scale("b"))))
            assert faults_of(with_question(one, "scale"))
            moved(one, "duplicate", "0")
            with_fields(one, "0", typed())
            readable_part(one)


def test_faults_of_the_form_have_no_question() -> None:
    assert place_of(Fault("title", "is empty")) == (None, "title")
    assert place_of(Fault("questions[2].options[0].key", "")) == (2, "options")
    assert place_of(Fault("questions[12]", "")) == (12, "")
