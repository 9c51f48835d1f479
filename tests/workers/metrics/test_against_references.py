"""What all lexical metrics do with turns that lack something, with long batches, and with texts
they have seen."""

import pytest

from common.estimates import Undefined
from tests.workers.metrics.pairs import OWN, example, score
from workers.metrics import wordnet
from workers.metrics.common.configuration import parse
from workers.metrics.common.lexical import RememberedAnalysis, TokenisedText
from workers.metrics.registry import all_metrics

NAMES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "meteor" and bool(wordnet.missing()), reason=wordnet.missing() or "is there"
        ),
    )
    for name in all_metrics()
    if name.startswith(("word_", "bleu_", "rouge_", "meteor"))
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("references", [(), ("",), (" \n", "")])
def test_a_turn_without_reference_has_no_score(name: str, references: tuple[str, ...]) -> None:
    assert score(name, "hello", *references) == Undefined("the turn has no reference")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_response_matches_nothing(name: str) -> None:
    assert score(name, "", "hello there") == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_scores_stay_in_the_declared_range(name: str) -> None:
    low, high = all_metrics()[name].value_range
    assert low is not None
    assert high is not None
    assert all(low <= one <= high + 1e-12 for one in parse(name).scorer().score(OWN))


@pytest.mark.parametrize("name", NAMES)
def test_scores_come_in_the_order_of_the_examples(name: str) -> None:
    scorer = parse(name).scorer()
    assert scorer.score(OWN) == [scorer.score([one])[0] for one in OWN]


def test_no_examples_have_no_scores() -> None:
    assert parse("bleu_4").scorer().score([]) == []


@pytest.mark.parametrize(
    ("examples", "expected"), [(250, [100, 200, 250]), (200, [100, 200]), (3, [3]), (0, [])]
)
def test_progress_is_told_every_hundred_examples_and_at_the_end(
    examples: int, expected: list[int]
) -> None:
    told: list[int] = []
    parse("word_f1").scorer().score([example("u", "u")] * examples, told.append)
    assert told == expected


def counted() -> tuple[RememberedAnalysis, list[str]]:
    analysed: list[str] = []

    def analyse(text: str) -> TokenisedText:
        analysed.append(text)
        return TokenisedText(tuple(text.split()))

    return RememberedAnalysis(analyse, max_tokens=10), analysed


def test_a_text_is_analysed_once() -> None:
    remembered, analysed = counted()
    assert remembered("u v") is remembered("u v")
    assert remembered("").tokens == remembered("").tokens == ()
    assert analysed == ["u v", ""]


def test_the_memory_is_bounded() -> None:
    remembered, _ = counted()
    for number in range(1000):
        remembered(f"text {number}")
    assert len(remembered) <= 2 * 10


def test_a_text_in_use_is_kept_while_others_pass() -> None:
    remembered, analysed = counted()
    for number in range(100):
        remembered("in use")
        remembered(f"text {number}")
    assert analysed.count("in use") == 1


def test_a_response_compared_with_another_reference_is_counted_anew() -> None:
    response, first, second = (
        TokenisedText(tuple(text.split())) for text in ("u v v", "u", "v v v")
    )
    assert [response.matched_ngrams(reference, 1) for reference in (first, second, first)] == [
        1,
        2,
        1,
    ]
