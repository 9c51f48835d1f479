"""A score that sees nothing of a text is undefined, and one that sees little of it says so."""

from __future__ import annotations

import pytest

from common.estimates import Undefined
from tests.workers.metrics.pairs import example, score
from workers.metrics.base import Read
from workers.metrics.common.configuration import parse
from workers.metrics.common.readability import ANOTHER_ORDER, unknown_remark

ENCODED = [
    "bertscore_p",
    "bertscore_r",
    "bertscore_f1",
    "simcse",
    "embedding_average",
    "vector_extrema",
]
ENCODED += ["greedy_matching"]
DIFFERENT = [
    ("I got the job 😡", "I got the job 😂"),
    ("😡", "😂"),
    ("see " + "x" * 120, "see " + "y" * 120),
    ("ቡና እወዳለሁ", "ሻይ አልወድም"),
    ("ខ្ញុំចូលចិត្តឆ្មា", "ខ្ញុំស្អប់ឆ្កែ"),
    ("cat 😂", "😡 cat"),
]


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize(("response", "reference"), DIFFERENT)
def test_texts_that_differ_in_unknown_tokens_alone_never_score_1(
    name: str, response: str, reference: str
) -> None:
    found = score(name, response, reference)
    assert isinstance(found, Undefined) or found < 1 - 1e-6
    if response.split()[0] in reference and "cat" not in response:
        assert isinstance(found, Undefined)


@pytest.mark.parametrize("name", ENCODED)
def test_a_response_of_which_the_model_knows_nothing_has_no_score(name: str) -> None:
    for response, reference in (("😡😡", "I like tea"), ("I like tea", "😂 😂"), ("😂", "😂")):
        found = score(name, response, reference)
        assert isinstance(found, Undefined)
        assert "the model knows no token of" in found.reason


@pytest.mark.parametrize("name", ENCODED)
def test_equal_texts_with_an_unknown_token_score_1(name: str) -> None:
    assert score(name, "I got the job 😂", "I got the job 😂") == 1.0


@pytest.mark.parametrize("name", ENCODED)
def test_another_reference_that_the_model_can_read_counts(name: str) -> None:
    found = score(name, "I got the job 😡", "I got the job 😂", "they hired me")
    assert isinstance(found, float)
    assert found < 0.99


@pytest.mark.parametrize("name", ["bertscore_f1", "simcse", "greedy_matching"])
def test_a_run_counts_its_tokens_and_the_unknown_among_them(name: str) -> None:
    scorer = parse(name).scorer()
    for _ in range(2):  # computed, then remembered
        scorer.score([example("tea 😡", "coffee"), example("tea", "coffee 😂 😂")])
        assert scorer.account().read == [Read(3, 1), Read(4, 2)]


def test_more_than_a_fifth_of_unknown_tokens_is_remarked() -> None:
    assert unknown_remark(Read(20, 7)) == "35 % of the tokens are unknown to the model"
    assert unknown_remark(Read(20, 4)) == unknown_remark(Read(0, 0)) == ""


@pytest.mark.parametrize("name", ["rouge_1", "word_f1", "bleu_4"])
def test_a_text_that_a_tokeniser_cannot_read_has_no_lexical_score(name: str) -> None:
    as_published = f"{name}[tokenize=rouge-score]"
    for response, reference in (
        ("나는 행복합니다", "나는 행복합니다"),
        ("나는", "hello"),
        ("hello", "나는"),
    ):
        assert isinstance(score(as_published, response, reference), Undefined)
    assert isinstance(score(name, "hello", "?!"), Undefined)
    assert score(name, "?!", "hello") == score(name, "…", "hello") == 0.0


@pytest.mark.parametrize(
    "name", ["word_f1", "rouge_1", "embedding_average", "vector_extrema", "greedy_matching"]
)
def test_1_for_the_same_words_in_another_order_is_remarked(name: str) -> None:
    scorer = parse(name).scorer()
    reference = "I like dogs not cats"
    scores = scorer.score(
        [example("I like cats not dogs", reference), example("i like dogs, not cats", reference)]
    )
    assert scores[0] == pytest.approx(1.0)
    assert scorer.account().remarks.get(0) == ANOTHER_ORDER
    assert scorer.score([example(reference, reference)]) == [1.0]
    assert scorer.account().remarks == {}
