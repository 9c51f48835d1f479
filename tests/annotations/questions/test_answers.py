"""What raters answer is checked against the form and kept in one shape for each type."""

from __future__ import annotations

from typing import Any

import pytest

from annotations.questions import templates
from annotations.questions.answers import (
    AnswerError,
    Material,
    as_json,
    check,
    degree,
    from_fields,
    in_other_order,
    numeric,
    preferred,
    utterance_scores,
    visible,
)
from annotations.questions.schema import Form
from tests.annotations.questions.forms import LETTERS, make_form

SHOWN = Material({1: "No. I like 🙂 pink.", 3: "Bye."}, ("1", "2", "3"))
SPAN = {"utterance": 1, "start": 4, "end": 10, "label": "a"}
LOW = {"question": "q1", "below": 3}


def answer_of(question: dict[str, Any], raw: object, level: str = "response") -> Any:
    return check(make_form(question, level=level), {"q1": raw}, SHOWN)["q1"]


def message_of(question: dict[str, Any], raw: object, level: str = "response") -> str:
    with pytest.raises(AnswerError) as refused:
        check(make_form(question, level=level), {"q1": raw}, SHOWN)
    return refused.value.messages["q1"]


CHOICE = {"type": "choice", "options": LETTERS}
CHOICES = {"type": "choices", "options": LETTERS}
RANKING = {"type": "ranking", "options": LETTERS}
TIED = {**RANKING, "ties": True}
BEST_WORST = {"type": "best_worst", "options": LETTERS}
LABELS = {"type": "utterance_labels", "options": LETTERS}
SPANS = {"type": "span", "options": LETTERS}
SEVERE = {
    **SPANS,
    "severities": [{"key": "minor", "value": 1}, {"key": "major", "value": 5}],
}
PREFERENCE = {"type": "preference", "points": 7, "both_bad": True}


@pytest.mark.parametrize(
    ("question", "raw", "answer"),
    [
        ({}, 3, 3),
        ({}, "3", 3),
        ({}, 3.0, 3),
        ({"minimum": 0, "maximum": 1, "step": 0.1}, "0.3", 0.3),
        ({"minimum": -2, "maximum": 2}, "-2", -2),
        ({"type": "slider", "minimum": 0, "maximum": 100}, 50, 50),
        ({"type": "yes_no"}, "no", False),
        ({"type": "yes_no"}, True, True),
        ({"cannot_judge": True}, "cannot_judge", "cannot_judge"),
        (CHOICE, "b", "b"),
        (CHOICES, ["c", "a", "c"], ["a", "c"]),
        (CHOICES, "b", ["b"]),
        (CHOICES, [], []),
        (RANKING, ["c", "a", "b"], {"a": 2, "b": 3, "c": 1}),
        (RANKING, {"a": "20", "b": "30", "c": "10"}, {"a": 2, "b": 3, "c": 1}),
        (TIED, {"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 1, "c": 3}),
        (TIED, [["c", "b"], "a"], {"a": 3, "b": 1, "c": 1}),
        (BEST_WORST, {"best": "c", "worst": "a"}, {"best": "c", "worst": "a"}),
        ({"type": "text"}, " one\r\ntwo ", "one\ntwo"),
        (LABELS, {"1": "a", "3": ["c", "b"]}, {"1": ["a"], "3": ["b", "c"]}),
        (LABELS, {3: ["a"]}, {"1": [], "3": ["a"]}),
        (SPANS, [], []),
        (SPANS, [{**SPAN, "start": 11, "end": 12}, SPAN], [SPAN, {**SPAN, "start": 11, "end": 12}]),
        (
            SPANS,
            '[{"utterance": 3, "start": 0, "end": 4, "label": "b"}]',
            [{"utterance": 3, "start": 0, "end": 4, "label": "b"}],
        ),
    ],
)
def test_an_answer_has_one_shape(question: dict[str, Any], raw: object, answer: object) -> None:
    checked = answer_of(question, raw)
    assert checked == answer
    assert type(checked) is type(answer)
    assert answer_of(question, checked) == answer


@pytest.mark.parametrize(
    ("question", "raw", "message"),
    [
        ({}, None, "Choose an answer."),
        ({}, " ", "Choose an answer."),
        ({}, 6, "Choose a number from 1 to 5."),
        ({}, 2.5, "Choose a number from 1 to 5."),
        ({}, True, "Choose a number from 1 to 5."),
        ({}, "٣", "Choose a number from 1 to 5."),
        ({}, "1_0", "Choose a number from 1 to 5."),
        ({}, "nan", "Choose a number from 1 to 5."),
        ({"maximum": 2, "step": 0.5}, 10**400, "Choose a number from 1 to 2 in steps of 0.5."),
        ({}, [3], "Choose a number from 1 to 5."),
        ({}, "cannot_judge", "Choose a number from 1 to 5."),
        ({"type": "yes_no"}, 1, "Choose yes or no."),
        (CHOICE, "d", "Choose one of the answers on the page."),
        (CHOICE, ["a"], "Choose one of the answers on the page."),
        (CHOICES, ["d"], "Choose one of the answers on the page."),
        (CHOICES, {"a": 1}, "Choose among the answers on the page."),
        ({**CHOICES, "min_choices": 2}, ["a"], "Choose at least 2."),
        ({**CHOICES, "max_choices": 1}, ["a", "b"], "Choose at most 1."),
        (CHOICES, None, "Choose all that apply, or none."),
        (RANKING, ["a", "b"], "Give each one a rank."),
        (RANKING, ["a", "b", "c", "a"], "Give each one a single rank."),
        (RANKING, ["a", "b", "d"], "Give each one a rank."),
        (RANKING, {"a": 1, "b": 1, "c": 2}, "Two have the same rank. Give each one its own."),
        (RANKING, {"a": 1, "b": 2, "c": -1}, "A rank is a whole number; 1 is best."),
        (RANKING, "[[[", "The answer cannot be read. Reload the page and answer again."),
        (BEST_WORST, {"best": "a", "worst": "a"}, "One cannot be both the best and the worst."),
        (BEST_WORST, {"best": "a"}, "Choose the best and the worst."),
        ({"type": "text"}, 3, "The answer must be a text."),
        ({"type": "text"}, "a\0", "The text holds a NUL character (character 2)."),
        (
            {"type": "text", "max_length": 3},
            "four",
            "The text has 4 characters; at most 3 are allowed.",
        ),
        (LABELS, ["a"], "Label each utterance."),
        (LABELS, {"2": "a"}, "A label is given to an utterance that is not on the page."),
        (LABELS, {"1": 3}, "Label each utterance."),
        ({**LABELS, "min_choices": 1}, {"1": "a"}, "Choose at least 1 for utterance 2."),
        (SPANS, {}, "Mark the spans, or say that there are none."),
        (SPANS, [3], "A span has end, label, start, utterance."),
        (SPANS, [{**SPAN, "start": 1.5}], "A span begins and ends at whole numbers."),
        (SPANS, [{**SPAN, "utterance": 2}], "A span lies in a text that cannot be marked."),
        (SPANS, [{**SPAN, "end": 19}], "A span lies outside its text. Mark it again."),
        (SPANS, [{**SPAN, "end": 4}], "A span lies outside its text. Mark it again."),
        (SPANS, [{**SPAN, "label": "d"}], "Choose one of the answers on the page."),
        (SPANS, [SPAN, SPAN], "One span is marked twice with one label."),
        (SPANS, [SPAN] * 201, "At most 200 spans can be marked."),
        (SEVERE, [SPAN], "A span has end, label, severity, start, utterance."),
    ],
)
def test_a_wrong_answer_is_told_to_the_rater(
    question: dict[str, Any], raw: object, message: str
) -> None:
    assert message_of(question, raw) == message


def test_a_span_ends_at_the_last_code_point_of_its_text() -> None:
    # "No. I like 🙂 pink." has 18 code points, and 19 units of UTF-16.
    (span,) = answer_of(SPANS, [{**SPAN, "end": 18}])
    assert span["end"] == 18


def test_responses_side_by_side_are_ranked_by_what_was_shown() -> None:
    assert answer_of({"type": "ranking"}, ["2", "3", "1"], "systems") == {"1": 3, "2": 1, "3": 2}


# --- several questions ----------------------------------------------------------------------------


def test_every_message_is_told_at_once() -> None:
    with pytest.raises(AnswerError) as refused:
        check(make_form({}, {"type": "yes_no"}), {"q2": "maybe", "q3": 1})
    assert refused.value.messages == {
        "q1": "Choose an answer.",
        "q2": "Choose yes or no.",
        "": "The form has no question 'q3'.",
    }


def test_an_answer_that_is_not_required_may_be_missing() -> None:
    assert check(make_form({"required": False}, {}), {"q2": 1}) == {"q2": 1}


def test_answers_to_hidden_questions_are_dropped() -> None:
    form = make_form({}, {"when": LOW})
    assert check(form, {"q1": 4, "q2": 1}) == {"q1": 4}


def test_a_visible_question_must_be_answered() -> None:
    with pytest.raises(AnswerError, match="q2: Choose an answer"):
        check(make_form({}, {"when": LOW}), {"q1": 2})


def test_a_question_hidden_by_a_hidden_one_is_hidden() -> None:
    form = make_form({}, {"when": LOW}, {"when": {"question": "q2", "above": 3}})
    assert check(form, {"q1": 5, "q2": 5, "q3": 5}) == {"q1": 5}
    assert [question.key for question in visible(form, {"q1": 5, "q2": 5})] == ["q1"]


@pytest.mark.parametrize(
    ("condition", "answers", "shown"),
    [
        ({"question": "q1", "is": 3}, {"q1": 3}, True),
        ({"question": "q1", "is": 3}, {"q1": 4}, False),
        ({"question": "q1", "in": [1, 5]}, {"q1": 5}, True),
        ({"question": "q1", "above": 3}, {"q1": 3}, False),
        ({"question": "q1", "above": 3}, {"q1": "cannot_judge"}, False),
        ({"question": "q1", "is": "cannot_judge"}, {"q1": "cannot_judge"}, True),
        ({"question": "q1", "is": 1}, {}, False),
        ({"question": "q2", "is": True}, {"q2": True}, True),
        ({"question": "q2", "is": True}, {"q2": 1}, False),
        ({"question": "q3", "is": "b"}, {"q3": ["a", "b"]}, True),
        ({"question": "q3", "is": "b"}, {"q3": ["a"]}, False),
        ({"all": [LOW, {"question": "q2", "is": True}]}, {"q1": 2, "q2": False}, False),
        ({"any": [LOW, {"question": "q2", "is": True}]}, {"q1": 2, "q2": False}, True),
    ],
)
def test_conditions(condition: dict[str, Any], answers: dict[str, Any], shown: bool) -> None:
    form = make_form(
        {"cannot_judge": True},
        {"type": "yes_no"},
        CHOICES,
        {"when": condition},
    )
    assert ("q4" in [question.key for question in visible(form, answers)]) is shown


def test_a_response_that_makes_no_sense_counts_as_not_specific() -> None:
    ssa = templates.load("ssa")
    assert check(ssa, {"sensible": "no"}) == {"sensible": False, "specific": False}
    assert check(ssa, {"sensible": "yes", "specific": "yes"}) == {
        "sensible": True,
        "specific": True,
    }


def test_answers_stand_in_the_order_of_the_form() -> None:
    assert list(check(make_form({}, {}), {"q2": 1, "q1": 1})) == ["q1", "q2"]


def test_equal_answers_have_equal_json() -> None:
    one = answer_of(RANKING, {"c": 3, "a": 1, "b": 2})
    assert as_json({"q1": one}) == as_json({"q1": answer_of(RANKING, ["a", "b", "c"])})
    assert as_json({"q1": one})["q1"] == '{"a":1,"b":2,"c":3}'


# --- web forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "fields", "answer"),
    [
        ({}, {"q.q1": ["4"]}, 4),
        (CHOICES, {"q.q1": ["a", "b"], "q.q1.asked": ["1"]}, ["a", "b"]),
        (CHOICES, {"q.q1.asked": ["1"]}, []),
        (RANKING, {"q.q1.a": ["2"], "q.q1.b": ["1"], "q.q1.c": ["3"]}, {"a": 2, "b": 1, "c": 3}),
        (BEST_WORST, {"q.q1.best": ["a"], "q.q1.worst": ["b"]}, {"best": "a", "worst": "b"}),
        (LABELS, {"q.q1.1": ["a", "b"]}, {"1": ["a", "b"], "3": []}),
        (LABELS, {"q.q1.asked": ["1"]}, {"1": [], "3": []}),
        (SPANS, {"q.q1": ["[]"]}, []),
    ],
)
def test_fields_of_a_web_form(
    question: dict[str, Any], fields: dict[str, list[str]], answer: object
) -> None:
    form = make_form(question)
    assert check(form, from_fields(form, {**fields, "comment": ["x"]}), SHOWN) == {"q1": answer}


def test_fields_that_were_not_filled_in_are_no_answer() -> None:
    form = make_form(RANKING, CHOICES, {"type": "text"}, LABELS)
    with pytest.raises(AnswerError) as refused:
        check(form, from_fields(form, {"q.q1.a": [""], "q.q3": [""]}), SHOWN)
    assert list(refused.value.messages) == ["q1", "q2", "q3", "q4"]


# --- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "raw", "score"),
    [
        ({}, 4, 4.0),
        ({"type": "yes_no"}, "yes", 1.0),
        ({"type": "yes_no"}, "no", 0.0),
        ({"cannot_judge": True}, "cannot_judge", None),
        (CHOICE, "a", None),
        (CHOICES, ["a"], None),
        ({"type": "text"}, "5", None),
        (
            {"type": "choice", "options": [{"key": "a", "value": 0}, {"key": "b", "value": 2}]},
            "b",
            2.0,
        ),
        # (5 − 4) / (5 + 3): points that were got over those that could be
        (
            {
                "type": "choices",
                "options": [
                    {"key": "a", "value": 5},
                    {"key": "b", "value": 3},
                    {"key": "c", "value": -4},
                ],
            },
            ["a", "c"],
            0.125,
        ),
        (
            SEVERE,
            [{**SPAN, "severity": "major"}, {**SPAN, "label": "b", "severity": "minor"}],
            -6.0,
        ),
        (SEVERE, [], 0.0),
        (SPANS, [SPAN], None),
        (LABELS, {"1": "a"}, None),
    ],
)
def test_scores(question: dict[str, Any], raw: object, score: float | None) -> None:
    form = make_form(question)
    assert numeric(form.questions[0], check(form, {"q1": raw}, SHOWN)["q1"]) == score


def test_labels_with_values_are_scores_of_utterances() -> None:
    form = templates.load("conture")
    answers = check(form, {"impression": {"1": "good", "3": "bad"}, "overall": 4}, SHOWN)
    assert utterance_scores(form.question("impression"), answers["impression"]) == {1: 2.0, 3: 0.0}


@pytest.mark.parametrize(
    ("answer", "which", "size"),
    [
        ("a", "a", 1),
        ("b", "b", -1),
        ("tie", "tie", 0),
        ("both_bad", "both_bad", 0),
        ("a3", "a", 3),
        ("b1", "b", -1),
        ("cannot_judge", None, None),
    ],
)
def test_degrees_of_preference(answer: str, which: str | None, size: int | None) -> None:
    assert preferred(answer) == which
    assert degree(answer) == size


def pair_form() -> Form:
    return make_form(PREFERENCE, {}, level="pair")


def test_seven_points_of_a_preference_have_keys_from_left_to_right() -> None:
    (preference, _confidence) = pair_form().questions
    assert list(preference.keyboard.items()) == [
        ("a3", "1"),
        ("a2", "2"),
        ("a1", "3"),
        ("tie", "4"),
        ("b1", "5"),
        ("b2", "6"),
        ("b3", "7"),
        ("both_bad", "x"),
    ]


@pytest.mark.parametrize(
    ("answer", "turned"),
    [("a3", "b3"), ("b1", "a1"), ("a", "b"), ("tie", "tie"), ("cannot_judge", "cannot_judge")],
)
def test_a_preference_in_the_other_order(answer: str, turned: str) -> None:
    form = pair_form()
    preference, confidence = (question.key for question in form.questions)
    given = {preference: answer, confidence: 3, "dropped": "a"}
    assert in_other_order(form, given) == given | {preference: turned}


def test_nothing_asked_of_a_pair_is_a_score_of_one_response() -> None:
    assert pair_form().scored == ()
    assert make_form({}, {"type": "text"}).scored == (make_form({}).questions[0],)


@pytest.mark.parametrize(
    ("question", "measurement"),
    [
        ({}, "ordinal"),
        ({"interval": True}, "interval"),
        ({"type": "slider"}, "interval"),
        ({"type": "yes_no"}, "nominal"),
        (CHOICE, "nominal"),
        (CHOICES, "nominal"),
        (RANKING, "ranking"),
        (BEST_WORST, "ranking"),
        ({"type": "correction"}, "text"),
        (SPANS, "nominal"),
    ],
)
def test_levels_of_measurement(question: dict[str, Any], measurement: str) -> None:
    assert make_form(question).questions[0].measurement == measurement


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ({"minimum": 0, "maximum": 2, "cannot_judge": True}, ["0", "1", "2", "x"]),
        ({"maximum": 10}, list("1234567890")),
        ({"type": "yes_no"}, ["n", "y"]),
        ({**CHOICE, "keys": ["q", "w", "e"]}, ["q", "w", "e"]),
        ({"type": "slider"}, []),
        ({"type": "text"}, []),
    ],
)
def test_keys_of_the_keyboard(question: dict[str, Any], keys: list[str]) -> None:
    assert list(make_form(question).questions[0].keyboard.values()) == keys
