"""BLEU-1 to BLEU-4 equal NLTK's ``sentence_bleu`` with method 1, epsilon 1e-12, on the same
tokens."""

import math
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from tests.workers.metrics.pairs import OWN, fbd_systems, golden, score, usr_examples
from workers.metrics.base import Example
from workers.metrics.common.configuration import parse
from workers.metrics.common.lexical import normalise

SMOOTHING = SmoothingFunction(epsilon=1e-12).method1
ORDERS = (1, 2, 3, 4)


def nltk_bleu(example: Example, order: int, normalize: bool = True) -> float:
    def tokens(text: str) -> list[str]:
        return (normalise(text) if normalize else text).split()

    references = [tokens(reference) for reference in example.references]
    return float(
        sentence_bleu(references, tokens(example.response), (1 / order,) * order, SMOOTHING)
    )


def assert_equals_nltk(examples: Sequence[Example], order: int, normalize: bool = True) -> None:
    ours = (
        parse(f"bleu_{order}[normalize={str(normalize).lower()},tokenize=parlai]")
        .scorer()
        .score(examples)
    )
    assert ours == pytest.approx(
        [nltk_bleu(example, order, normalize) for example in examples], rel=1e-9, abs=1e-15
    )


def test_bleu_1_by_hand() -> None:
    # u u v against u v w x: u is clipped at 1, so p1 = 2/3; c = 3, r = 4, BP = exp(1 - 4/3).
    assert score("bleu_1", "u u v", "u v w x") == pytest.approx(2 / 3 * math.exp(-1 / 3), rel=1e-12)


def test_bleu_2_is_a_geometric_mean() -> None:
    # u v w y against u v w x: p1 = 3/4, p2 = 2/3, BP = 1 (equal lengths).
    assert score("bleu_2", "u v w y", "u v w x") == pytest.approx(
        math.sqrt(3 / 4 * 2 / 3), rel=1e-12
    )


def test_an_order_without_a_match_counts_epsilon() -> None:
    # u x against v u: p1 = 1/2, p2 = 1e-12/1.
    assert score("bleu_2", "u x", "v u") == pytest.approx(math.sqrt(0.5 * 1e-12), rel=1e-9)


def test_without_smoothing_it_equals_nltk() -> None:
    # u x against u v: p1 = 1/2, p2 the smallest positive number.
    without = score("bleu_2[smooth=none]", "u x", "u v")
    assert without == pytest.approx(math.sqrt(0.5 * sys.float_info.min))
    with pytest.warns(UserWarning, match="0 counts"):
        assert without == pytest.approx(sentence_bleu([["u", "v"]], ["u", "x"], (0.5, 0.5)))


def test_capitals_are_other_letters_unless_they_are_lowered() -> None:
    of_words = "bleu_1[normalize=false,tokenize=parlai"
    assert score(f"{of_words}]", "u V", "U V") == pytest.approx(0.5)
    assert score(f"{of_words},lowercase=true]", "u V", "U V") == pytest.approx(1.0)


def test_clipping_takes_the_reference_that_has_the_word_most_often() -> None:
    # u u u against "u u v" and "u": 2 of 3 match; both references are no longer than the response,
    # BP = 1.
    assert score("bleu_1", "u u u", "u u v", "u") == pytest.approx(2 / 3, rel=1e-12)


def test_the_brevity_penalty_takes_the_closest_reference_and_of_two_the_shorter() -> None:
    # 2 and 4 words are as close to 3: the shorter one, so no penalty.
    assert score("bleu_1", "u v w", "u v w x", "u v") == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_nltk_on_own_pairs(order: int, normalize: bool) -> None:
    assert_equals_nltk(OWN, order, normalize)


WORDS = st.lists(st.sampled_from(["u", "v", "w"]), max_size=12)


@given(WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=3), st.sampled_from(ORDERS))
def test_equals_nltk_on_random_tokens(
    response: list[str], references: list[list[str]], order: int
) -> None:
    one = Example(
        "d",
        0,
        (),
        (),
        (),
        tuple(" ".join(reference) for reference in references),
        " ".join(response),
    )
    assert_equals_nltk([one], order)


@pytest.mark.parametrize("order", ORDERS)
def test_equals_nltk_on_usr(order: int) -> None:
    assert_equals_nltk(usr_examples(), order)


@pytest.mark.parametrize("corpus", ["dailyh", "personam"])
def test_equals_nltk_on_fbd(corpus: str) -> None:
    for examples in fbd_systems(corpus)[:4]:
        for order in ORDERS:
            assert_equals_nltk(examples, order)


def test_equals_parlai_on_usr() -> None:
    expected = golden("usr_turn_metrics.json")["turn_scores"][
        "bleu_norm_split(ParlAI BleuMetric k=4)"
    ]
    assert parse("bleu_4").scorer().score(usr_examples()) == pytest.approx(
        expected, rel=1e-9, abs=1e-15
    )
