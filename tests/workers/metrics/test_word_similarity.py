"""Embedding Average, Vector Extrema and Greedy Matching: the arithmetic, GloVe files, and the
papers' corpora."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from common.estimates import Undefined
from tests.workers.metrics.pairs import OWN, example, fbd_systems, golden, score
from tests.workers.metrics.word_encoder import WordEncoder
from workers.inference.encoders import encoder as encoders
from workers.inference.encoders.feature_store import FeatureStore
from workers.metrics.common.configuration import MetricUnavailableError, parse

NAMES = ("embedding_average", "vector_extrema", "greedy_matching")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    encoder = WordEncoder()
    monkeypatch.setattr(encoders, "encoder_for", lambda _: encoder)
    return encoder


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    file = tmp_path / "glove.txt"
    file.write_text("tea 1 0\ncoffee 0 1\ngreen 3 4\ndark -4 3\nzero 0 0\n", encoding="utf-8")
    return file


def test_the_average_is_the_cosine_of_the_sums(words: WordEncoder) -> None:
    # (1, 1) and (0.6, 0.8): 1.4 / √2
    assert score("embedding_average", "east north", "northeast") == pytest.approx(1.4 / 2**0.5)


def test_long_vectors_weigh_more_in_the_average(words: WordEncoder) -> None:
    # (5, 1) and (1, 0)
    assert score("embedding_average", "far north", "east") == pytest.approx(5 / 26**0.5)


def test_extrema_are_the_values_farthest_from_0(glove: Path) -> None:
    # green (3, 4), dark (−4, 3): the farthest are (−4, 4); tea is (1, 0)
    assert score(f'vector_extrema[vectors="{glove}"]', "green dark", "tea") == pytest.approx(
        -4 / 32**0.5
    )


def test_largest_takes_the_largest_values(glove: Path) -> None:
    # (3, 4)
    assert score(
        f'vector_extrema[vectors="{glove}",extreme=largest]', "green dark", "tea"
    ) == pytest.approx(3 / 5)


def test_of_two_values_equally_far_from_0_the_negative_one_counts(words: WordEncoder) -> None:
    assert score("vector_extrema", "east west", "east") == pytest.approx(-1)


def test_greedy_matching_is_the_mean_of_both_directions(words: WordEncoder) -> None:
    # response to reference: east 1; the other way: east 1, west −1, north 0
    assert score("greedy_matching", "east", "east west north") == pytest.approx(
        (1 + (1 - 1 + 0) / 3) / 2
    )


def test_a_word_whose_vector_is_0_matches_nothing(glove: Path) -> None:
    # response to reference: tea 1, zero 0; the other way: tea 1
    assert score(f'greedy_matching[vectors="{glove}"]', "tea zero", "tea") == pytest.approx(
        ((1 + 0) / 2 + 1) / 2
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_best_reference_counts(words: WordEncoder, name: str) -> None:
    assert score(name, "east", "west", "east", "north") == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_without_reference_has_no_score(words: WordEncoder, name: str) -> None:
    assert score(name, "east", " ") == Undefined("the turn has no reference")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_response_has_no_score(words: WordEncoder, name: str) -> None:
    assert score(name, " ", "east") == Undefined("the response is empty")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("response", "reference"), [("huh", "tea"), ("tea", "huh"), ("huh", "huh")]
)
def test_texts_without_a_known_word_have_no_score(
    glove: Path, name: str, response: str, reference: str
) -> None:
    found = score(f'{name}[vectors="{glove}"]', response, reference)
    assert found == Undefined("no word of the response, or of its reference, has a vector")


def test_unknown_words_are_left_out(glove: Path) -> None:
    found = score(f'embedding_average[vectors="{glove}"]', "well, green tea?", "Tea")
    assert found == pytest.approx(4 / 32**0.5)  # (1, 0) + (3, 4) and (1, 0)


def test_unknown_words_can_stand_for_the_mean_of_all_vectors(glove: Path) -> None:
    # the mean is (0, 8/5): with tea (1, 8/5)
    found = score(f'embedding_average[vectors="{glove}",unknown=mean]', "well tea", "tea")
    assert found == pytest.approx(1 / (1 + 1.6**2) ** 0.5)


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_sum_without_direction_has_no_score(glove: Path, name: str) -> None:
    assert isinstance(score(f'{name}[vectors="{glove}"]', "zero", "tea"), Undefined)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_and_its_revision_stand_in_the_account(glove: Path, name: str) -> None:
    one = parse(f'{name}[vectors="{glove}"]').scorer()
    one.score([example("tea", "coffee")])
    file, _, revision = one.account().model.partition("@")
    assert file == "glove.txt"
    assert len(revision) == 12


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_not_there_makes_the_metric_unavailable(name: str) -> None:
    with pytest.raises(MetricUnavailableError, match=r"nowhere\.txt is not there"):
        parse(f"{name}[vectors=nowhere.txt]").scorer()


def test_one_metric_leaves_the_others_nothing_to_compute(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = [example("east north", "northeast"), example("west", "east")]
    words.store = FeatureStore(None, 0)
    expected = [found for name in NAMES for found in parse(name).scorer().score(examples)]
    monkeypatch.setattr(words, "input_embeddings", lambda texts: pytest.fail("computed again"))
    assert [
        found for name in NAMES for found in parse(name).scorer().score(examples)
    ] == pytest.approx(expected)


def naive(name: str, response: np.ndarray, reference: np.ndarray) -> float:
    """Word by word, as nlg-eval defines them."""

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    def extreme(rows: np.ndarray) -> np.ndarray:
        return np.array([max(column, key=abs) for column in rows.T])

    if name == "embedding_average":
        return cosine(response.mean(axis=0), reference.mean(axis=0))
    if name == "vector_extrema":
        return cosine(extreme(response), extreme(reference))
    table = [[cosine(a, b) for b in reference] for a in response]
    there = sum(max(row) for row in table) / len(response)
    back = sum(max(column) for column in zip(*table, strict=True)) / len(reference)
    return (there + back) / 2


@pytest.mark.parametrize("name", NAMES)
def test_scores_on_input_embeddings_are_those_of_the_formulas(name: str) -> None:
    encoder = encoders.encoder_for()
    texts = [one for one in OWN if one.response.strip() and len(one.response) < 200]
    for one, found in zip(texts, parse(f"{name}[unicode=none]").scorer().score(texts), strict=True):
        if "😀" in one.response:  # unknown to the encoder: where a score is 1 it is undefined
            continue
        response, *references = encoder.input_embeddings([one.response, *one.references])
        expected = max(
            naive(name, response.astype(float), rows.astype(float)) for rows in references
        )
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("corpus", ["personam", "dailyh", "empathetic"])
@pytest.mark.parametrize(
    ("configuration", "key"),
    [
        # The reference code takes the texts as they are; by default curly quotes are folded, which
        # two corpora have.
        ("embedding_average[unicode=none]", "emb_average"),
        ("vector_extrema[unicode=none]", "emb_extrema_signed_absmax(helper)"),
        ("vector_extrema[extreme=largest,unicode=none]", "emb_extrema_repo_max"),
        ("greedy_matching[unicode=none]", "emb_greedy"),
    ],
)
def test_systems_scores_and_correlations_are_the_reference_numbers(
    corpus: str, configuration: str, key: str
) -> None:
    expected = golden("fbd_corpora.json")["corpora"][corpus]
    systems = fbd_systems(corpus)
    found = parse(configuration).scorer().score([one for system in systems for one in system])
    means = np.array(found).reshape(len(systems), -1).mean(axis=1)
    reference = expected["metrics"][key]["system_scores"]
    assert means == pytest.approx(np.array(reference), abs=1e-6)
    human = expected["human_system_means_by_dim"][expected["overall_dim"]]
    assert pearsonr(means, human)[0] == pytest.approx(pearsonr(reference, human)[0], abs=1e-4)
    assert spearmanr(means, human)[0] == pytest.approx(spearmanr(reference, human)[0], abs=1e-9)
