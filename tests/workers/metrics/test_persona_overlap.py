"""Words that a response shares with the persona. The arithmetic stands beside each number."""

import math

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from workers.metrics.base import Example, Score
from workers.metrics.common.configuration import parse

PERSONA = ("I like dogs.", "Green tea!")


def example(response: str, *persona: str, said: tuple[str, ...] = ()) -> Example:
    context = tuple(Utterance("A", text) for text in said)
    return Example("d", 0, persona, (), context, (), response)


def score(name: str, response: str, *persona: str) -> Score:
    (one,) = parse(name).scorer().score([example(response, *persona)])
    return one


# "dogs and tea and tea" shares dogs and one tea with the five words of the persona.


def test_precision_divides_by_the_words_of_the_response() -> None:
    assert score("persona_precision", "Dogs and tea and tea", *PERSONA) == 2 / 5


def test_recall_divides_by_the_words_of_all_lines() -> None:
    assert score("persona_recall", "Dogs and tea, tea", *PERSONA) == 2 / 5


def test_f1_is_their_harmonic_mean() -> None:
    assert score("persona_f1", "Dogs and tea", *PERSONA) == pytest.approx(2 * 2 / (3 + 5))


@pytest.mark.parametrize("name", ["persona_f1", "persona_coverage"])
def test_a_dialogue_without_a_persona_has_no_score(name: str) -> None:
    for persona in ((), (" ",)):
        assert score(name, "dogs", *persona) == Undefined("the dialogue has no persona")


def test_lines_without_a_word_are_no_persona_to_compare_with() -> None:
    assert score("persona_f1", "dogs", "?!") == Undefined(
        "no line of the persona holds a token that the metric reads"
    )


def test_an_empty_response_shares_nothing() -> None:
    assert score("persona_f1", "", *PERSONA) == 0.0
    assert score("persona_coverage", "", *PERSONA) == 0.0


def idf(occurrences: int, words: int) -> float:
    return 1 / (1 + math.log(1 + 1_000_000 * occurrences / words))


def test_coverage_is_the_mean_weight_of_the_words_shared_with_the_best_line() -> None:
    """13a makes three tokens of "Dogs? I": nine in the corpus, I three times, dogs once."""
    corpus = [example("", "I like dogs", "I like tea", said=("Dogs? I",))]
    scorer = parse("persona_coverage[normalize=false,tokenize=13a]").scorer()
    scorer.see_corpus(corpus)
    found = scorer.score([example("I love dogs", "I like dogs", "I like tea")])
    assert found == [pytest.approx((idf(3, 9) + idf(1, 9)) / 2)]


def test_a_word_counts_once_and_texts_count_once() -> None:
    """The line "tea" stands in both turns, and is one text: three words in all."""
    corpus = [example("", "tea", "black coffee"), example("", "tea", "black coffee")]
    scorer = parse("persona_coverage").scorer()
    scorer.see_corpus(corpus)
    assert scorer.score([example("tea tea tea", "tea")]) == [pytest.approx(idf(1, 3))]


def test_a_system_s_company_does_not_change_its_coverage() -> None:
    scorer = parse("persona_coverage").scorer()
    ours = example("green tea", *PERSONA)
    scorer.see_corpus([ours, example("", "tea tea tea")])
    alone = scorer.score([ours])
    assert scorer.score([example("other", "words"), ours])[1:] == alone
