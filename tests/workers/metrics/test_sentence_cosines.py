"""SimCSE-style similarity and context similarity: the arithmetic, what has no score, and the
reference numbers."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.metrics.pairs import data_folder, example, golden, score
from tests.workers.metrics.word_encoder import WordEncoder
from workers.metrics.base import Example
from workers.metrics.common import sentence_cosines
from workers.metrics.common.configuration import ConfigurationError, parse


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    encoder = WordEncoder(max_tokens=6)
    monkeypatch.setattr(sentence_cosines, "encoder_for", lambda _: encoder)
    return encoder


def spoken(response: str, context: Sequence[str], persona: Sequence[str] = ()) -> Example:
    return Example(
        "d", 0, tuple(persona), (), tuple(Utterance("A", text) for text in context), (), response
    )


def context_score(one: Example, options: str = "") -> object:
    return parse(f"context_similarity[{options}]").scorer().score([one])[0]


def test_simcse_is_the_cosine_with_the_best_reference(words: WordEncoder) -> None:
    assert score("simcse", "east", "north", "northeast", "west") == pytest.approx(0.6)


def test_equal_texts_score_exactly_1() -> None:
    assert [score("simcse", text, text) for text in ("how are you?", "日本 😀")] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("response", "references", "reason"),
    [("east", (), "the turn has no reference"), ("", (" ",), "the turn has no reference")]
    + [(response, ("east",), "the response is empty") for response in ("", " \n")],
)
def test_simcse_has_no_score_where_a_text_is_missing(
    words: WordEncoder, response: str, references: tuple[str, ...], reason: str
) -> None:
    assert score("simcse", response, *references) == Undefined(reason)


def test_the_pooling_is_asked_of_the_encoder(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    vectors = words.sentence_vectors
    monkeypatch.setattr(
        words,
        "sentence_vectors",
        lambda texts, pooling, progress: (asked.append(pooling), vectors(texts))[1],
    )
    for options in ("", "pooling=cls", "pooling=pooler"):
        parse(f"simcse[{options}]").scorer().score([example("east", "north")])
    assert asked == ["mean", "cls", "pooler"]


def test_without_a_persona_the_context_alone_counts(words: WordEncoder) -> None:
    assert context_score(spoken("east", ["northeast"])) == pytest.approx(0.6)


def test_the_best_line_of_the_persona_is_added(words: WordEncoder) -> None:
    assert context_score(spoken("east", ["northeast"], ["north", "east", "west"])) == pytest.approx(
        0.6 + 1
    )


def test_a_persona_unlike_the_response_is_subtracted(words: WordEncoder) -> None:
    assert context_score(spoken("east", ["northeast"], ["west", ""])) == pytest.approx(0.6 - 1)


def test_the_context_is_one_text_of_all_utterances(words: WordEncoder) -> None:
    # (1, 1) in the plane
    assert context_score(spoken("east", ["east ", " north"])) == pytest.approx(1 / 2**0.5)


def test_only_the_last_utterances_are_the_context_where_a_number_is_given(
    words: WordEncoder,
) -> None:
    assert context_score(
        spoken("east", ["east", "north", "northeast"]), "utterances=1"
    ) == pytest.approx(0.6)


def test_the_oldest_utterances_are_left_out_where_the_model_takes_no_more(
    words: WordEncoder,
) -> None:
    context_score(spoken("east", ["west west", "north north", "east", "northeast"]))
    assert "north north east northeast" in words.encoded  # four words and two tokens around them


def test_an_utterance_too_long_for_the_model_is_cut_and_remarked(words: WordEncoder) -> None:
    scorer = parse("context_similarity").scorer()
    scorer.score([spoken("east", ["north"]), spoken("east", ["north", "north " * 9])])
    assert scorer.account().remarks == {1: "a text was cut: the model takes no more tokens"}


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (spoken("east", []), "the turn has no context"),
        (spoken("east", [" "], ["east"]), "the turn has no context"),
        (spoken(" ", ["east"]), "the response is empty"),
    ],
)
def test_context_similarity_has_no_score_where_a_text_is_missing(
    words: WordEncoder, one: Example, reason: str
) -> None:
    assert context_score(one) == Undefined(reason)


@pytest.mark.parametrize(
    ("personas", "said"),
    [((["east"], ["west"]), "all"), (([], [" "]), "none"), ((["east"], []), "some")],
)
def test_the_account_says_how_many_had_a_persona(
    words: WordEncoder, personas: Sequence[Sequence[str]], said: str
) -> None:
    scorer = parse("context_similarity").scorer()
    scorer.score([spoken("east", ["north"], persona) for persona in personas])
    assert ("with_persona", said) in scorer.account().facts


def test_the_account_says_it_of_each_system_of_a_call(words: WordEncoder) -> None:
    scorer = parse("context_similarity").scorer()
    scorer.score([spoken("east", ["north"], persona) for persona in (["east"], [], ["west"])])
    of = scorer.account().facts_of
    assert (
        of(slice(0, 2))
        == scorer.account().facts
        == (("dtype", "float32"), ("with_persona", "some"))
    )
    assert [dict(of(slice(place, place + 1)))["with_persona"] for place in range(3)] == [
        "all",
        "none",
        "all",
    ]
    assert of(slice(3, 3)) == (
        ("dtype", "float32"),
    )  # a system without any response: nothing is said of it


def test_a_negative_number_of_utterances_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="a whole number from 0"):
        parse("context_similarity[utterances=-1]")


@pytest.mark.parametrize("name", ["simcse", "context_similarity"])
def test_many_examples_are_scored_in_parts_as_if_in_one(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    said = (Utterance("A", "north east"),)
    examples = [
        Example("d", turn, ("west",), (), said, ("northeast",), response)
        for turn, response in enumerate(["east", "north", "", "west", "east north"])
    ]
    whole = parse(name).scorer().score(examples)
    monkeypatch.setattr(sentence_cosines, "EXAMPLES_AT_ONCE", 2)
    told: list[int] = []
    assert parse(name).scorer().score(examples, told.append) == whole
    assert told == sorted(told)
    assert told[-1] == len(examples)


def test_texts_that_are_odd_have_a_score() -> None:
    odd = ["日本語のお茶", "مرحبا بالعالم", "a\0b", "x", "word " * 800]
    found = parse("simcse").scorer().score([example(text, "i like green tea") for text in odd])
    assert all(isinstance(one, float) and -1 <= one <= 1 for one in found)


@pytest.fixture(scope="module")
def usr() -> tuple[list[Example], list[float]]:
    """USR's 300 responses with context, persona and reference, and their mean Overall."""
    examples, human = [], []
    for number, context in enumerate(
        json.loads((data_folder() / "usr" / "pc_usr_data.json").read_text("utf-8"))
    ):
        said = tuple(Utterance("A", text) for text in context["context"].strip().split("\n"))
        persona = tuple(
            line.removeprefix("your persona:").strip()
            for line in context["fact"].strip().split("\n")
        )
        answers = {answer["model"]: answer["response"].strip() for answer in context["responses"]}
        for answer in context["responses"]:
            reference = answers["Original Ground Truth"]
            examples.append(
                Example(str(number), 0, persona, (), said, (reference,), answer["response"])
            )
            human.append(float(np.mean(answer["Overall"])))
    return examples, human


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key", "of_ranks"),
    [
        # Sixty responses repeat their reference: here they are ties, in the reference numbers
        # ranked by rounding.
        ("simcse", "minilm_cos_ref", 3e-3),
        ("context_similarity", "minilm_cos_ctx+max_persona", 1e-6),
    ],
)
def test_usr_correlations_are_the_reference_numbers(
    usr: tuple[list[Example], list[float]], name: str, key: str, of_ranks: float
) -> None:
    expected = golden("llm.json")["correlations"]["results"]["usr_personachat"][key]
    examples, human = usr
    found = parse(name).scorer().score(examples)
    assert pearsonr(found, human)[0] == pytest.approx(expected["pearson"], abs=1e-6)
    assert spearmanr(found, human)[0] == pytest.approx(expected["spearman"], abs=of_ranks)
