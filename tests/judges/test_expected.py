"""The expected score: what a judge would answer on average, from the probabilities of tokens."""

import math

import pytest

from common.estimates import Undefined
from tests.judges.prompts import DETAIL, OF_THREE, SIMPLE, prompt
from workers.judges.core.calls import Answer, TokenChance
from workers.judges.core.parsing import expected

HALVES = {"4": 0.5, "2": 0.25, "no": 0.25}
EXPECTED_OF_HALVES = (4 * 0.5 + 2 * 0.25) / 0.75


def token(text, chances=None):
    told = {text: 1.0} if chances is None else chances
    return TokenChance(
        text, tuple((one, math.log(p) if p else -math.inf) for one, p in told.items())
    )


def answer(*tokens):
    return Answer("answered", "".join(one.token for one in tokens), chances=tuple(tokens))


def score(*tokens, of=DETAIL, label="Humanness"):
    return expected(answer(*tokens), of, label)


def test_it_is_the_mean_of_the_numbers_weighted_by_their_probabilities():
    """G-EVAL (Liu et al. 2023, eq. 1): 1 × .1 + 2 × .2 + 3 × .3 + 4 × .3 + 5 × .1 = 3.1."""
    found = score(token("3", {"1": 0.1, "2": 0.2, "3": 0.3, "4": 0.3, "5": 0.1}))
    assert found.value == pytest.approx(3.1)
    assert found.mass == pytest.approx(1.0)


def test_what_is_no_number_of_the_scale_is_left_out_and_the_rest_makes_one():
    found = score(token("4", HALVES))
    assert found.value == pytest.approx(EXPECTED_OF_HALVES)
    assert found.mass == pytest.approx(0.75)
    assert dict(found.by_number) == pytest.approx({2: 1 / 3, 4: 2 / 3})


@pytest.mark.parametrize("written", ["4", " 4", "▁4", "Ġ4", "4\n", "**4", "\t4", '"4'])
def test_a_number_may_come_with_a_blank_or_a_mark(written):
    assert score(token(written, {written: 0.5, "2": 0.5})).value == pytest.approx(3.0)


def test_several_tokens_of_one_number_are_added():
    """(4 × (.4 + .2) + 1 × .2) / .8 = 3.25"""
    assert score(token(" 4", {" 4": 0.4, "4": 0.2, "1": 0.2})).value == pytest.approx(3.25)


@pytest.mark.parametrize(
    "other", ["0", "6", "9", "45", "4.5", "-4", "four", "４", "٤", "4th", "", " ", "²"]
)
def test_what_only_looks_like_a_number_of_the_scale_has_no_part(other):
    assert score(token("3", {"3": 0.5, other: 0.5})).value == pytest.approx(3.0)


def test_the_scale_is_the_prompts():
    """Of 1 to 3: (1 × .2 + 3 × .2) / .4 = 2; the 5 is none."""
    found = score(token("5", {"5": 0.6, "1": 0.2, "3": 0.2}), of=OF_THREE, label="Engagingness")
    assert found.value == pytest.approx(2.0)


# --- the number's place ---------------------------------------------------------------------------


def test_a_model_that_goes_on_begins_with_the_number_whatever_it_drew():
    assert score(token("no", HALVES)).value == pytest.approx(EXPECTED_OF_HALVES)


def test_a_model_that_answers_anew_has_the_number_behind_the_label():
    found = score(
        token("-"), token(" Human"), token("ness"), token(":"), token(" 4", {" 4": 0.9, " 1": 0.1})
    )
    assert found.value == pytest.approx(3.7)


def test_behind_the_label_also_where_another_word_was_drawn():
    assert score(token("Humanness"), token(":"), token(" no", HALVES)).value == pytest.approx(
        EXPECTED_OF_HALVES
    )


def test_behind_the_right_one_of_several_labels():
    tokens = [
        token("fluency"),
        token(" -"),
        token(" 5"),
        token("\n"),
        token("overall"),
        token(" -"),
        token(" 4", HALVES),
    ]
    assert score(*tokens, of=SIMPLE, label="overall").value == pytest.approx(EXPECTED_OF_HALVES)
    assert score(*tokens, of=SIMPLE, label="fluency").value == pytest.approx(5.0)


def test_of_a_label_stated_twice_the_last_counts():
    tokens = [token("Humanness:"), token(" 1"), token("\nHumanness:"), token(" 4", HALVES)]
    assert score(*tokens).value == pytest.approx(EXPECTED_OF_HALVES)


def test_a_blank_of_its_own_stands_before_the_number():
    assert score(token("▁", {"▁": 0.98, "2": 0.02}), token("4", HALVES)).value == pytest.approx(
        EXPECTED_OF_HALVES
    )


def test_a_blank_that_was_drawn_instead_of_a_number_changes_nothing():
    """Else the score would hang on the draw: with ``4`` drawn it is that of HALVES."""
    drawn = token("\n", {**HALVES, "no": 0.15, "\n": 0.1})
    assert score(drawn, token("1")).value == pytest.approx(EXPECTED_OF_HALVES)


def test_of_a_number_in_several_tokens_the_first_digit_counts():
    """4.5 in three tokens: the expected score is that of the digit before the point."""
    assert score(token("4", HALVES), token("."), token("5")).value == pytest.approx(
        EXPECTED_OF_HALVES
    )


def test_a_model_that_goes_on_and_on_is_read_where_it_began():
    tokens = [token("4", HALVES), token("\n"), token("Humanness"), token(":"), token(" 1")]
    assert score(*tokens).value == pytest.approx(EXPECTED_OF_HALVES)


def test_a_scale_that_is_quoted_is_not_the_number():
    tokens = [
        token("Humanness:"),
        token(" 1"),
        token("-"),
        token("5"),
        token("\nHumanness:"),
        token(" 4", HALVES),
    ]
    assert score(*tokens).value == pytest.approx(EXPECTED_OF_HALVES)


# --- no score -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (Answer("answered", "4"), "the endpoint gave no log-probabilities"),
        (Answer("answered", "4", chances=()), "the endpoint gave no log-probabilities"),
        (Answer("refused", error="too long"), "the endpoint refused the call: too long"),
        (
            answer(token("no", {"no": 0.6, "6": 0.4})),
            "none of the 2 likeliest tokens at the number's place is one from 1",
        ),
        (
            answer(TokenChance("4", ())),
            "none of the 0 likeliest tokens at the number's place is one from 1 to 5",
        ),
        (
            answer(token("4", {"4": 0.0})),
            "none of the 1 likeliest tokens at the number's place is one from 1 to 5",
        ),
        (
            answer(token("Humanness"), token(":")),
            "the answer holds no token at the place of the number",
        ),
    ],
)
def test_undefined_says_why(given, reason):
    found = expected(given, DETAIL, "Humanness")
    assert isinstance(found.value, Undefined)
    assert found.value.reason.startswith(reason)
    assert found.mass == 0.0


def test_a_scale_of_two_digits_has_none():
    found = score(token("10"), of=prompt(scale="1-10"))
    assert found.value == Undefined(
        "a scale up to 10 has no expected score: its numbers may be several tokens"
    )


@pytest.mark.parametrize("logarithm", [math.nan, 5.0, math.inf])
def test_what_cannot_be_a_log_probability_is_not_believed(logarithm):
    given = answer(TokenChance("4", (("4", logarithm), ("2", math.log(0.5)))))
    assert expected(given, DETAIL, "Humanness").value == 2.0


def test_probabilities_that_add_up_to_more_than_one_by_rounding_are_one():
    assert score(token("4", {"4": 0.7, "3": 0.3000001})).mass == 1.0


@pytest.mark.parametrize(("share", "remarked"), [(0.49, True), (0.51, False)])
def test_little_mass_is_worth_a_remark(share, remarked):
    remark = score(token("4", {"4": share, "no": 1 - share})).remark
    assert remark == (
        "the numbers of the scale have 49% of the probability; the rest is other words"
        if remarked
        else ""
    )


def test_a_hostile_answer_is_read():
    many = answer(*[token(" \n*") for _ in range(20_000)])
    assert isinstance(expected(many, DETAIL, "Humanness").value, Undefined)


def test_the_number_of_a_list_s_line_is_no_score():
    """An endpoint that answers anew may count its lines: "1. Humanness: 4" is 4 and not 1."""
    found = score(
        *map(token, ("1", ".", " Human", "ness", ":")), token(" 4", {" 4": 0.9, " 1": 0.1})
    )
    assert found.value == pytest.approx(3.7)


def test_a_number_that_goes_on_counts_whatever_the_next_lines_say():
    found = score(token("4"), token("\n"), token("- Humanness: "), token("1"))
    assert found.value == pytest.approx(4.0)
