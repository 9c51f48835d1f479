"""Forms are read whole, and what is wrong is said with its place."""

from __future__ import annotations

from typing import Any

import pytest

from annotations.questions.reading import (
    MOST_CHARACTERS,
    Fault,
    FormError,
    form_of,
    question_of,
    read_text,
)
from annotations.questions.schema import Condition, Option, digest, to_data
from tests.annotations.questions.forms import LETTERS, data_of, make_form

LOW = {"question": "q1", "below": 3}


def faults_of(data: object) -> tuple[Fault, ...]:
    with pytest.raises(FormError) as refused:
        form_of(data)
    return refused.value.faults


def fault_of(*questions: dict[str, Any], level: str = "response", **fields: Any) -> str:
    (fault,) = faults_of(data_of(*questions, level=level, **fields))
    return str(fault)


def fault_in_text(text: str) -> str:
    with pytest.raises(FormError) as refused:
        read_text(text)
    return str(refused.value)


# --- what is read ---------------------------------------------------------------------------------


def test_what_is_left_out_has_its_default() -> None:
    (question,) = make_form({}).questions
    assert question.values == (1, 2, 3, 4, 5)
    assert question.required
    assert question.name == "q1"


def test_decimal_steps_end_exactly_at_the_maximum() -> None:
    (question,) = make_form({"minimum": 0, "maximum": 0.3, "step": 0.1}).questions
    assert question.values == (0, 0.1, 0.2, 0.3)


def test_conditions_are_read() -> None:
    two = {"when": {"any": [LOW, {"question": "q1", "in": [4, 5]}]}}
    assert make_form({}, two).questions[1].when == Condition(
        any=(Condition("q1", below=3), Condition("q1", one_of=(4, 5)))
    )


@pytest.mark.parametrize(
    "question",
    [
        {"when": LOW, "if_hidden": 2},
        {"type": "yes_no", "labels": ["never", "always"], "when": {"all": [LOW]}},
        {"type": "choice", "options": LETTERS, "cannot_judge": True, "keys": ["q", "w", "e"]},
        {"type": "choices", "options": [{"key": "a", "value": 2.5}], "min_choices": 1},
        {"type": "slider", "maximum": 100, "anchors": ["bad", "good"]},
        {"type": "span", "options": LETTERS, "severities": [{"key": "minor", "value": 1}]},
        {"type": "text", "required": False, "max_length": 10},
    ],
)
def test_a_question_comes_back_from_its_data(question: dict[str, Any]) -> None:
    form = make_form({}, question)
    assert form_of(to_data(form)) == form


def test_yaml_and_json_are_the_same_form() -> None:
    yaml = (
        "name: test\ntitle: Test\nlevel: response\nquestions:\n- {key: q1, type: scale, text: Why}"
    )
    json = (
        '\ufeff{"name": "test", "title": "Test", "level": "response", "questions":\r\n'
        ' [{"key": "q1", "type": "scale", "text": "Why"}]}'
    )
    assert read_text(yaml) == read_text(json)


@pytest.mark.parametrize("word", ["yes", "No", "off", "2026-01-01", "12:30", "1e3", "0x1F"])
def test_words_that_older_yaml_takes_for_other_values_are_texts(word: str) -> None:
    form = read_text(
        "name: test\ntitle: T\nlevel: response\nquestions:\n"
        f"- {{key: q, type: yes_no, text: Why, labels: [{word}, other]}}"
    )
    assert form.questions[0].labels == (word, "other")


def test_other_scripts_and_emoji_are_kept() -> None:
    (question,) = make_form({"text": "自然ですか 🙂 ؟"}).questions
    assert question.text == "自然ですか 🙂 ؟"


def test_the_digest_changes_with_what_is_asked_alone() -> None:
    form = form_of(data_of({}))
    assert digest(form_of(data_of({}, version=2))) == digest(form)
    assert digest(form_of(data_of({"text": "How bad?"}))) != digest(form)


# --- the form -------------------------------------------------------------------------------------


def test_a_form_of_a_later_format_is_refused() -> None:
    assert fault_of({}, schema=2).startswith(
        "schema: the form is written in version 2 of the format; this site reads versions up to 1"
    )


def test_two_questions_of_one_key_are_refused() -> None:
    assert fault_of({}, {"key": "q1"}) == (
        "questions[1].key: questions 1 and 2 both have the key q1; give each its own"
    )


def test_every_fault_is_told_with_its_place() -> None:
    faults = faults_of(data_of({"type": "stars"}, {"text": ""}, {}, name="A form"))
    assert [fault.path for fault in faults] == ["name", "questions[0].type", "questions[1].text"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"level": None}, "level: is missing: one of utterance, response"),
        ({"level": "turn"}, "level: 'turn' is none of utterance, response"),
        ({"title": 3}, "title: must be a text, not a number"),
        ({"title": "\0"}, "title: holds a NUL character"),
        ({"title": "\ud800"}, "title: holds half of a surrogate pair"),
        ({"title": "x" * 121}, "title: has 121 characters; at most 120 are allowed"),
        ({"version": True}, "version: must be a whole number, not true or false"),
        ({"version": 10**400}, "version: must lie between 1 and 1,000,000"),
        ({"raters": 3}, "raters: is no field; there are schema, name"),
        ({"questions": []}, "questions: must list at least 1 of them"),
        ({"questions": "all"}, "questions: must be a list of questions, not a text"),
        ({"questions": [{}] * 41}, "questions: has 41 questions; at most 40 are allowed"),
        ({"questions": [3]}, "questions[0]: must be a mapping of fields, not a number"),
        ({"schema": "1"}, "schema: must be the version of the format, 1"),
        ({"name": "../etc"}, "name: must be lower-case letters"),
    ],
)
def test_fields_of_a_form(fields: dict[str, Any], fault: str) -> None:
    assert str(faults_of(data_of({}) | fields)[0]).startswith(fault)


def test_a_file_of_anything_but_a_mapping_is_refused() -> None:
    assert str(faults_of([1])[0]) == "must be a mapping of fields, not a list"


# --- a question -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ({"maximum": 1_000_000}, "maximum: the scale has 1,000,000 points; at most 21 are allowed"),
        ({"maximum": 1}, "maximum: must be above the minimum, 1"),
        ({"step": 0}, "step: must be above 0"),
        ({"step": 3}, "step: steps of 3 from 1 do not end at 5"),
        ({"step": 1e-9}, "step: may have six decimals at most"),
        ({"maximum": float("nan")}, "maximum: must lie between"),
        ({"maximum": float("inf")}, "maximum: must lie between"),
        ({"maximum": 10**400}, "maximum: must lie between"),
        ({"maximum": "5"}, "maximum: must be a number, not a text"),
        ({"labels": ["bad", "good"]}, "labels: has 2 texts for 5 answers; give each one"),
        ({"anchors": ["bad"]}, "anchors: must be two texts"),
        ({"labels": list("abcde"), "anchors": ["a", "b"]}, "anchors: give either labels"),
        ({"key": "Überall"}, "key: must be lower-case letters"),
        ({"key": "cannot_judge"}, "key: cannot_judge is the answer of raters"),
        ({"type": "stars"}, "type: 'stars' is none of scale, yes_no"),
        ({"type": ["scale"]}, "type: \"['scale']\" is none of scale, yes_no"),
        ({"options": LETTERS}, "options: is no field of the type scale; there are key"),
        ({"text": None}, "text: is missing: a text is needed"),
        ({"text": "x" * 1_001}, "text: has 1,001 characters"),
        ({"required": "yes"}, "required: must be true or false, not a text"),
        ({"keys": ["1", "2", "3", "4", "f"]}, "keys[4]: the key f is the rating page's own"),
        ({"keys": [1, 2, 3, 4, 4]}, "keys[4]: the key 4 stands twice"),
        ({"keys": ["1"]}, "keys: has 1 keys for 5 answers"),
        ({"keys": ["Enter"] * 5}, "keys[0]: must be one lower-case letter"),
        ({"if_hidden": 1}, "if_hidden: needs a condition (when)"),
        ({"type": "choice"}, "options: is missing: list what can be chosen"),
        ({"type": "choice", "options": LETTERS[:1]}, "options: must list at least 2 options"),
        ({"type": "choice", "options": [LETTERS[0]] * 2}, "options: two options have the key 'a'"),
        (
            {"type": "choice", "options": [{"key": "a", "value": 1}, {"key": "b"}]},
            "options: either all options have a value, or none",
        ),
        ({"type": "choices", "options": LETTERS, "min_choices": 4}, "min_choices: at least 4"),
        (
            {"type": "choices", "options": [{"key": "a", "value": -1}]},
            "options: at least one option must have a value above 0",
        ),
        (
            {"type": "utterance_labels", "options": [{"key": "a", "value": 1}]},
            "max_choices: must be 1 where labels have a value",
        ),
        (
            {"type": "ranking", "options": [{"key": "a", "value": 1}, {"key": "b"}]},
            "options: options of the type ranking have no value",
        ),
        (
            {"type": "choices", "options": LETTERS, "min_choices": 2, "max_choices": 1},
            "min_choices: at least 2 cannot be chosen of 3 options, of which at most 1 may be",
        ),
        (
            {"type": "choice", "options": [{"key": "a", "colour": "red"}, {"key": "b"}]},
            "options[0].colour: is no field of an option; there are key, label, value",
        ),
        (
            {
                "type": "span",
                "options": LETTERS,
                "severities": [{"key": "minor", "value": 1}, {"key": "major"}],
            },
            "severities: either all severities have a value, or none",
        ),
        (
            {"type": "choice", "options": LETTERS, "cannot_judge": True, "keys": ["x", "1", "2"]},
            "keys: the key x is for raters who cannot judge; choose another",
        ),
        ({"maximum": 22}, "maximum: the scale has 22 points; at most 21 are allowed; use a slider"),
        ({"type": "text", "max_length": 0}, "max_length: must lie between 1 and 20,000"),
    ],
)
def test_fields_of_a_question(question: dict[str, Any], fault: str) -> None:
    assert fault_of(question).startswith(f"questions[0].{fault}")


@pytest.mark.parametrize(
    ("question", "level", "fault"),
    [
        ({"type": "preference"}, "response", "a preference needs the level pair"),
        ({"type": "ranking"}, "response", "without options, ranking needs the level systems"),
        ({"type": "span", "options": LETTERS}, "pair", "the type span needs one response"),
        ({"type": "correction"}, "pair", "the type correction needs one response or conversation"),
        ({"type": "best_worst"}, "pair", "without options, best_worst needs the level systems"),
        ({"type": "correction"}, "conversation", "a correction needs the level response"),
        (
            {"type": "utterance_labels", "options": LETTERS},
            "systems",
            "labels of utterances need the level response or conversation",
        ),
    ],
)
def test_a_type_needs_a_level_that_shows_it(
    question: dict[str, Any], level: str, fault: str
) -> None:
    assert fault_of(question, level=level).startswith(f"questions[0].type: {fault}")


def test_a_preference_has_two_three_five_or_seven_points() -> None:
    fault = fault_of({"type": "preference", "points": 4}, level="pair")
    assert fault.startswith("questions[0].points: must be 2 (A or B), 3 (with tie)")


def test_who_cannot_judge_and_both_bad_share_a_place() -> None:
    fault = fault_of({"type": "preference", "both_bad": True, "cannot_judge": True}, level="pair")
    assert fault == "questions[0].cannot_judge: stands in the place of both bad; choose one"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"key": "cannot_judge"}, "key"),
        ({"anchors": ["a"]}, "anchors"),
        ({"labels": [1]}, "labels[0]"),
    ],
)
def test_the_fault_of_a_single_question_has_its_field(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(FormError) as refused:
        question_of({"key": "fun", "type": "scale", "text": "How funny?", **changes})
    assert [fault.path for fault in refused.value.faults] == [path]


def test_an_option_is_named_by_its_key_unless_it_has_a_label() -> None:
    (question,) = make_form({"type": "choices", "options": [{"key": "off_topic"}]}).questions
    assert question.options == (Option("off_topic", "off topic"),)


# --- conditions -----------------------------------------------------------------------------------


def test_a_loop_of_conditions_is_named() -> None:
    one, two, three = ({"when": {"question": key, "is": 1}} for key in ("q3", "q1", "q2"))
    assert fault_of(one, two, three) == (
        "questions[0].when: the conditions form a cycle: q1 → q3 → q2 → q1"
    )


def test_a_condition_on_itself_is_a_loop() -> None:
    assert fault_of({"when": {"question": "q1", "is": 1}}).endswith("a cycle: q1 → q1")


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ({"question": "q9", "is": 1}, ".question: no question has the key 'q9'"),
        ({"question": "q3", "is": 1}, ".question: question 3 (q3) is asked later; move it before"),
        ({"question": "q1", "is": 6}, ": '6' is no answer to q1: 1, 2, 3, 4, 5"),
        ({"question": "q1", "is": True}, ": 'True' is no answer to q1"),
        ({"question": "q1", "is": [1]}, ": compares with numbers, texts, true and false alone"),
        ({"question": "q1"}, ": must have exactly one of is, in, below and above"),
        ({"question": "q1", "is": 1, "above": 1}, ": must have exactly one of is, in"),
        ({"question": "q1", "like": 1}, ".like: is no field of a condition"),
        ({"all": []}, ".all: must list at least 1 of them"),
        ({"all": [LOW] * 21}, ".all: has 21 conditions; at most 20 are allowed"),
        ({"all": [{"any": [LOW] * 15}, {"any": [LOW] * 15}]}, ": has more than 20 comparisons"),
        ("q1", ": must be a mapping of fields, not a text"),
    ],
)
def test_conditions_that_cannot_be_met(condition: Any, fault: str) -> None:
    assert fault_of({}, {"when": condition}, {}).startswith(f"questions[1].when{fault}")


def test_conditions_are_not_nested_endlessly() -> None:
    condition: dict[str, Any] = LOW
    for _ in range(5):
        condition = {"all": [condition]}
    assert fault_of({}, {"when": condition}).endswith("conditions are nested more than 5 deep")


def test_below_needs_a_number() -> None:
    fault = fault_of({"type": "yes_no"}, {"when": LOW})
    assert fault == "questions[1].when: below and above need a scale or slider; q1 is none"


def test_texts_are_not_compared() -> None:
    fault = fault_of({"type": "text"}, {"when": {"question": "q1", "is": "yes"}})
    assert fault.endswith("answers of the type text are not compared in conditions")


# --- hostile files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the form is empty"),
        ("name: [", "the form is not YAML"),
        ('{"name": ', "the form is not JSON: Expecting value (line 1, column 10)"),
        ("x" * (MOST_CHARACTERS + 1), "the form has more than 200,000 characters"),
        ("a: \0", "the form holds a NUL character"),
        ("a: &x [1]\nb: *x", "line 2 has an alias (*)"),
        ("a: !!python/object:os.system {}", "line 1 has a tag (!)"),
        ("a: !!int zero", "line 1 has a tag (!)"),
        ("a: 1\na: 2", "the key 'a' stands twice"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ("1: a", "line 1: the key '1' must be a text"),
        ("[1, 2]: a", "line 1: the key"),
        ("[" * 50_000, "the form is nested too deeply"),
        ('{"a":' * 20_000, "the form is nested too deeply"),
        (f'{{"version": {"9" * 5_000}}}', "the form has a number that is too long"),
        ("--- {}\n--- {}", "the form is not YAML"),
        ("just words", "must be a mapping of fields, not a text"),
    ],
)
def test_files_that_are_no_form(text: str, fault: str) -> None:
    assert fault_in_text(text).startswith(fault)


def test_aliases_that_grow_are_never_expanded() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert fault_in_text("\n".join(lines)).startswith("line 2 has an alias (*)")


def test_markup_in_a_question_is_a_text_like_any_other() -> None:
    (question,) = make_form({"text": "<script>alert(1)</script>"}).questions
    assert question.text == "<script>alert(1)</script>"
