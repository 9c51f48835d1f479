"""METEOR equals NLTK's ``meteor_score`` on words split at white space, with WordNet 3.0."""

import math
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.workers.metrics.pairs import OWN, fbd_systems, golden, score, usr_examples
from workers.metrics import wordnet
from workers.metrics.base import Example
from workers.metrics.common.configuration import MetricUnavailableError, parse
from workers.metrics.common.lexical import normalise

needs_wordnet = pytest.mark.skipif(bool(wordnet.missing()), reason=wordnet.missing())


@cache
def plain_wordnet() -> Any:
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class English(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            return None

    folder = str(wordnet.default_folder())
    nltk.data.path.append(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return English(nltk.data.find("corpora/wordnet", paths=[folder]), None)


def nltk_meteor(examples: Sequence[Example], normalize: bool) -> list[float]:
    """NLTK called plainly, with its own stemmer and WordNet reader, nothing remembered between
    calls."""
    from nltk.translate.meteor_score import meteor_score

    prepare = normalise if normalize else str
    return [
        meteor_score(
            [prepare(r).split() for r in e.references],
            prepare(e.response).split(),
            wordnet=plain_wordnet(),
        )
        for e in examples
    ]


@pytest.mark.slow
@needs_wordnet
def test_one_chunk_by_hand() -> None:
    # 3 of 3 words match in one chunk: F = 1, penalty .5 (1/3)^3 = 1/54.
    assert score("meteor", "green tea please", "green tea please") == pytest.approx(
        1 - 1 / 54, abs=1e-12
    )


@needs_wordnet
def test_a_synonym_and_a_stem_match() -> None:
    # hound-dog are synonyms, walks-walking share a stem: 2 of 2 in one chunk, penalty .5 (1/2)^3 =
    # 1/16.
    assert score("meteor", "hound walks", "dog walking") == pytest.approx(1 - 1 / 16, abs=1e-12)


@pytest.mark.slow
@needs_wordnet
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_nltk_on_own_pairs(normalize: bool) -> None:
    """NLTK cuts at white space alone, and takes every sign as it stands."""
    ours = parse(f"meteor[normalize={str(normalize).lower()},tokenize=parlai]").scorer().score(OWN)
    assert ours == pytest.approx(nltk_meteor(OWN, normalize), abs=1e-9)


@needs_wordnet
def test_equals_the_reference_numbers_on_usr() -> None:
    expected = golden("usr_turn_metrics.json")["turn_scores"]["meteor_nltk_norm_split"]
    assert parse("meteor").scorer().score(usr_examples()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@needs_wordnet
@pytest.mark.parametrize("corpus", ["personam", "dailyh", "empathetic"])
def test_equals_the_reference_means_on_fbd(corpus: str) -> None:
    expected = golden("fbd_corpora.json")["corpora"][corpus]["metrics"]["meteor_split"][
        "system_scores"
    ]
    scorer = parse("meteor[normalize=false]").scorer()
    ours = [math.fsum(scorer.score(examples)) / len(examples) for examples in fbd_systems(corpus)]
    assert ours == pytest.approx(expected, abs=1e-9)


@needs_wordnet
def test_nltk_3_5_counts_what_a_stem_has_matched_again() -> None:
    """dogs-dog and cats-cat share a stem, and WordNet's form of dogs is dog: m = 4 of 2 words, P = R
    = F = 2; each word's two matches are two chunks, and cats follows dogs: 3 chunks. The penalty is
    .5 (3/4)^3 = 27/128."""
    texts = ("dogs cats", "dog cat")
    assert score("meteor[synonyms=words]", *texts) == pytest.approx(2 * (1 - 27 / 128), abs=1e-12)
    assert score("meteor", *texts) == pytest.approx(1 - 1 / 16, abs=1e-12)
    assert score("meteor[synonyms=words]", "dogs", "tea") == 0.0


def test_says_that_wordnet_is_missing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALEVAL_HOME", str(tmp_path))
    with pytest.raises(
        MetricUnavailableError, match=r"meteor: WordNet 3\.0 is not installed: run make setup"
    ):
        parse("meteor").scorer()
