"""Word-F1, precision and recall: bags of words, as in ParlAI. The arithmetic stands beside each
number."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.metrics.pairs import golden, score, usr_examples
from workers.metrics.common.configuration import parse

# "i like tea tea" against "tea i love": the bags share i and one tea.


def test_precision_divides_by_the_words_of_the_response() -> None:
    assert score("word_precision", "I like tea, tea", "tea I love") == 2 / 4


def test_recall_divides_by_the_words_of_the_reference() -> None:
    assert score("word_recall", "I like tea, tea", "tea I love") == 2 / 3


def test_f1_is_their_harmonic_mean() -> None:
    assert score("word_f1", "I like tea, tea", "tea I love") == pytest.approx(
        2 * 2 / (4 + 3), abs=1e-15
    )


def test_a_repeated_word_matches_as_often_as_both_hold_it() -> None:
    assert score("word_precision", "no no no yes", "no yes no") == 3 / 4  # no twice, yes once


def test_without_normalisation_case_and_marks_tell_words_apart() -> None:
    assert score("word_f1", "Tea.", "tea") == 1.0
    assert score("word_f1[normalize=false]", "Tea.", "tea") == 0.0


@pytest.mark.parametrize("name", ["word_f1", "word_precision", "word_recall"])
def test_the_best_of_several_references_counts(name: str) -> None:
    assert score(name, "green tea", "black coffee", "green tea") == 1.0


@given(
    st.lists(st.sampled_from("uvwx"), max_size=8),
    st.lists(st.sampled_from("uvwx"), min_size=1, max_size=8),
)
def test_f1_equals_its_definition(response: list[str], reference: list[str]) -> None:
    shared = (Counter(response) & Counter(reference)).total()
    expected = 2 * shared / (len(response) + len(reference))  # 2PR/(P+R), simplified
    assert score("word_f1", " ".join(response), " ".join(reference)) == pytest.approx(
        expected, abs=1e-12
    )


def test_equals_parlai_on_usr() -> None:
    expected = golden("usr_turn_metrics.json")["turn_scores"]["f1_norm(ParlAI F1Metric)"]
    assert parse("word_f1").scorer().score(usr_examples()) == pytest.approx(expected, abs=1e-9)
