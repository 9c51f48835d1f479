"""ROUGE-1, ROUGE-2 and ROUGE-L equal rouge-score's F-measures on the same text."""

import math
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from leaderboard.reproduction.fbd import OURS
from tests.workers.metrics.pairs import OWN, fbd_systems, golden, score, usr_examples
from workers.metrics import wordnet
from workers.metrics.base import Example
from workers.metrics.common.configuration import MetricUnavailableError, parse
from workers.metrics.common.lexical import TokenisedText, longest_common_subsequence, normalise

needs_wordnet = pytest.mark.skipif(bool(wordnet.missing()), reason=wordnet.missing())
NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


@cache
def peer(stem: bool) -> RougeScorer:
    return RougeScorer(list(NAMES.values()), use_stemmer=stem)


def assert_equals_rouge_score(examples: Sequence[Example], normalize: bool, stem: bool) -> None:
    prepare = normalise if normalize else str
    peers = [
        peer(stem).score_multi([prepare(r) for r in example.references], prepare(example.response))
        for example in examples
    ]
    for name, key in NAMES.items():
        ours = (
            parse(
                f"{name}[normalize={str(normalize).lower()},stem={str(stem).lower()},"
                "tokenize=rouge-score]"
            )
            .scorer()
            .score(examples)
        )
        assert ours == pytest.approx([scores[key].fmeasure for scores in peers], abs=1e-9), name


def test_rouge_1_by_hand() -> None:
    # U and v match once each
    assert score("rouge_1", "u u v", "u v w x") == pytest.approx(2 * 2 / (3 + 4))


def test_rouge_2_by_hand() -> None:
    # "u v" and "v w" match
    assert score("rouge_2", "u v w", "v w u v") == pytest.approx(2 * 2 / (2 + 3))


def test_rouge_l_by_hand() -> None:
    # U w x in order
    assert score("rouge_l", "u v w x", "v u w y x") == pytest.approx(2 * 3 / (4 + 5))


def test_stems_match_only_where_asked_for() -> None:
    assert score("rouge_1", "walking", "walked") == 0.0
    assert score("rouge_1[stem=true]", "walking", "walked") == 1.0


@needs_wordnet
def test_py_rouge_takes_the_base_form_of_an_irregular_word() -> None:
    """went is go; better is well rather than good; cannot stays one word, wanna is two."""
    py_rouge = "rouge_1[tokenize=py-rouge,stem=true]"
    assert score(py_rouge, "went", "go") == score(py_rouge, "better", "well") == 1.0
    assert score(py_rouge, "better", "good") == 0.0
    assert score(py_rouge, "cannot", "can not") == 0.0
    assert score(py_rouge, "I wanna go", "na") == pytest.approx(2 / (4 + 1))


def test_py_rouge_s_stems_need_wordnet(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALEVAL_HOME", str(tmp_path))
    with pytest.raises(MetricUnavailableError, match=r"rouge_l.*WordNet 3\.0 is not installed"):
        parse("rouge_l[tokenize=py-rouge,stem=true]").scorer()
    assert score("rouge_l[tokenize=py-rouge]", "tea", "tea") == 1.0


@needs_wordnet
@pytest.mark.parametrize("corpus", ["personam", "dailyh", "empathetic"])
def test_py_rouge_s_equal_the_reference_means_on_fbd(corpus: str) -> None:
    """But for the few words that the package stems by a list of its own."""
    expected = golden("fbd_corpora.json")["corpora"][corpus]["metrics"]["rougeL_repo_pyrouge"]
    scorer = parse(OURS["ROUGE-L"]).scorer()
    ours = [math.fsum(scorer.score(examples)) / len(examples) for examples in fbd_systems(corpus)]
    assert ours == pytest.approx(expected["system_scores"], abs=2e-4)


def test_words_of_three_characters_are_not_stemmed() -> None:
    assert score("rouge_1[stem=true]", "cats", "cat") == 1.0
    assert score("rouge_1[stem=true]", "was", "wa") == 0.0  # Porter's stem of "was" would be "wa"


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("stem", [True, False])
def test_equals_rouge_score_on_own_pairs(normalize: bool, stem: bool) -> None:
    assert_equals_rouge_score(OWN, normalize, stem)


TEXT = st.lists(
    st.sampled_from(["u", "v", "w", "The", "isn't", "Größe", "walking", "walks"]), max_size=14
)


@given(TEXT, st.lists(TEXT.filter(bool), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_equals_rouge_score_on_random_words(
    response: list[str], references: list[list[str]], normalize: bool, stem: bool
) -> None:
    # A reference of which nothing is left to read is undefined here; rouge-score gives 0.
    assume(not normalize or any(word != "The" for reference in references for word in reference))
    one = Example(
        "d",
        0,
        (),
        (),
        (),
        tuple(" ".join(reference) for reference in references),
        " ".join(response),
    )
    assert_equals_rouge_score([one], normalize, stem)


@given(st.lists(st.sampled_from("uvw"), max_size=70), st.lists(st.sampled_from("uvw"), max_size=70))
def test_the_longest_common_subsequence_equals_its_table(
    response: list[str], reference: list[str]
) -> None:
    row = [0] * (len(reference) + 1)
    for word in response:
        above = row
        row = [0]
        for k, other in enumerate(reference):
            row.append(above[k] + 1 if word == other else max(above[k + 1], row[k]))
    assert (
        longest_common_subsequence(TokenisedText(tuple(response)), TokenisedText(tuple(reference)))
        == row[-1]
    )


@pytest.mark.parametrize("stem", [True, False])
def test_equals_rouge_score_on_usr(stem: bool) -> None:
    assert_equals_rouge_score(usr_examples(), normalize=True, stem=stem)


@pytest.mark.parametrize(
    ("stem", "key"), [("false", "rougeL_f_norm_nostem"), ("true", "rougeL_f_norm_stem")]
)
def test_equals_the_reference_numbers_on_usr(stem: str, key: str) -> None:
    expected = golden("usr_turn_metrics.json")["turn_scores"][key]
    assert parse(f"rouge_l[stem={stem}]").scorer().score(usr_examples()) == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("corpus", ["personam", "dailyh", "empathetic"])
@pytest.mark.parametrize(
    ("stem", "key"), [("false", "rougeL_rouge_score_nostem"), ("true", "rougeL_rouge_score_stem")]
)
def test_equals_the_reference_means_on_fbd(corpus: str, stem: str, key: str) -> None:
    expected = golden("fbd_corpora.json")["corpora"][corpus]["metrics"][key]["system_scores"]
    scorer = parse(f"rouge_l[normalize=false,stem={stem}]").scorer()
    ours = [math.fsum(scorer.score(examples)) / len(examples) for examples in fbd_systems(corpus)]
    assert ours == pytest.approx(expected, abs=1e-9)
