"""chrF, chrF++ and corpus BLEU equal sacrebleu's; distinct-n, self-repetition and length by
hand."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer
from nltk.translate.bleu_score import corpus_bleu as nltk_corpus_bleu

from common.estimates import Undefined
from tests.workers.metrics.pairs import OWN, example, score
from workers.metrics.base import Example
from workers.metrics.common.configuration import parse

TEXTS = [one for one in OWN if one.response.strip() and len(one.response) < 400]


@pytest.mark.parametrize(("name", "word_order"), [("chrf", 0), ("chrf_pp", 2)])
def test_chrf_equals_sacrebleu(name: str, word_order: int) -> None:
    ours = parse(f"{name}[unicode=none]").scorer().score(TEXTS)
    theirs = [
        sacrebleu.sentence_chrf(one.response, list(one.references), word_order=word_order).score
        / 100
        for one in TEXTS
    ]
    assert ours == pytest.approx(theirs, abs=1e-12)


@given(st.text("ab c", max_size=12), st.text("ab c", min_size=1, max_size=12).filter(str.strip))
def test_chrf_of_any_text_equals_sacrebleu(response: str, reference: str) -> None:
    theirs = sacrebleu.sentence_chrf(response, [reference]).score / 100
    assert score("chrf", response, reference) == pytest.approx(theirs, abs=1e-12)


def test_chrf_by_hand() -> None:
    # ab against abc: orders 1 and 2 are there in both; P = (2/2 + 1/1)/2, R = (2/3 + 1/2)/2 (order
    # 3: R only).
    precision, recall = 1.0, (2 / 3 + 1 / 2) / 2
    assert score("chrf", "ab", "abc") == pytest.approx(
        5 * precision * recall / (4 * precision + recall)
    )


@pytest.mark.parametrize(
    ("language", "tokenize"), [("", "13a"), ("zh", "zh"), ("ja", "ja-mecab"), ("fr", "13a")]
)
def test_corpus_bleu_equals_sacrebleu(language: str, tokenize: str) -> None:
    scorer = parse("corpus_bleu[unicode=none]").scorer()
    scorer.see_language(language)
    longest = max(len(one.references) for one in TEXTS)
    streams = [[dict(enumerate(one.references)).get(k) for one in TEXTS] for k in range(longest)]
    theirs = (
        sacrebleu.corpus_bleu([one.response for one in TEXTS], streams, tokenize=tokenize).score
        / 100
    )
    assert scorer.score_system(TEXTS, []) == pytest.approx(theirs, abs=1e-12)
    assert ("tokenize", tokenize) in scorer.account().facts


@pytest.mark.parametrize("first", [0, 1, 2])
def test_corpus_bleu_of_treebank_tokens_without_smoothing_equals_nltk(first: int) -> None:
    """In the last text alone no three words match, which NLTK does not make 0; the second has no three
    words."""
    texts = [
        ("The cat can't sit.", "The CAT can't sit there."),
        ("Oh no", "Oh no no"),
        ("a b c d e", "x a b y c"),
    ][first:]
    tokens = TreebankWordTokenizer().tokenize
    theirs = nltk_corpus_bleu(
        [[tokens(reference.lower())] for _, reference in texts],
        [tokens(response.lower()) for response, _ in texts],
    )
    scorer = parse(
        "corpus_bleu[tokenize=treebank,lowercase=true,smooth=none,unicode=none]"
    ).scorer()
    assert 0 < theirs < 1
    assert scorer.score_system([example(*one) for one in texts], []) == pytest.approx(
        theirs, rel=1e-9
    )


def test_corpus_bleu_without_a_reference_is_undefined() -> None:
    scorer = parse("corpus_bleu").scorer()
    assert scorer.score_system([example("hello")], []) == Undefined("no turn has a reference")
    assert scorer.score_system(
        [example("hello there you two", "hello there you two")], []
    ) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "expected"), [("distinct_1", 3 / 6), ("distinct_2", 3 / 4), ("distinct_3", 1.0)]
)
def test_distinct_counts_different_ngrams_of_all_responses(name: str, expected: float) -> None:
    # u v w, u v u: words u v w of 6; pairs uv vw vu of 4; triples both different.
    found = parse(name).scorer().score_system([example("u v w"), example("U v, u!")], [])
    assert found == pytest.approx(expected)


def test_distinct_of_responses_that_are_too_short_is_undefined() -> None:
    assert isinstance(
        parse("distinct_2").scorer().score_system([example("hi"), example("")], []), Undefined
    )


def said(*responses: str) -> list[Example]:
    return [Example("d", turn, (), (), (), (), text) for turn, text in enumerate(responses)]


def test_self_repetition_counts_what_the_system_said_before() -> None:
    scorer = parse("self_repetition").scorer()
    # Second response: uv of (uv, vx) was said; third: uv, vw, both said in the first.
    found = scorer.score_dialogues(
        [said("u v w", "u v x", "u v w"), said("u v w"), said("u v", "x y")]
    )
    assert found == [
        pytest.approx((1 / 2 + 1) / 2),
        Undefined("no response of 2 tokens follows another one"),
        0.0,
    ]


def test_progress_of_a_metric_of_dialogues_counts_responses() -> None:
    seen: list[int] = []
    dialogues = [said("u v w", "u v x"), said("u v w")]
    parse("self_repetition").scorer().score_dialogues(dialogues, seen.append)
    assert seen == [2, 3]


def test_length_counts_tokens_by_language() -> None:
    scorer = parse("response_length").scorer()
    assert scorer.score([example("Well, the green tea!"), example("")]) == [3.0, 0.0]
    scorer.see_language("ja")
    assert scorer.score([example("今日はとても嬉しいです。")]) == [5.0]
