"""ROUGE-1, ROUGE-2 and ROUGE-L as F-measures (Lin, 2004), with the tokens and the stemming of rouge-score.

Tokens are runs of a–z and 0–9 in the lower-cased text: everything else separates, so a word in another script has no
token. With ``stem`` the Porter stemmer (NLTK's) shortens words of more than three characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial

from workers.metrics.against_references import NORMALIZE, AgainstReferences, best_of
from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.normalisation import is_plain, normalise
from workers.metrics.overlap import f_measure, longest_common_subsequence
from workers.metrics.texts import Analysis, RememberedAnalysis, TokenisedText, words_of_normalised

_TOKEN = re.compile("[a-z0-9]+")
_SHORTEST_STEMMED = 4

STEM = Option("stem", False, "shorten words to their Porter stems before comparing them")


def rouge_n(response: TokenisedText, reference: TokenisedText, order: int) -> float:
    """F-measure of the n-grams in common, in [0, 1] (Lin, 2004, section 2)."""
    matched = response.matched_ngrams(reference, order)
    return f_measure(matched, response.ngram_total(order), reference.ngram_total(order))


def rouge_l(response: TokenisedText, reference: TokenisedText) -> float:
    """F-measure of the longest common subsequence, in [0, 1] (Lin, 2004, section 3.1, with β = 1)."""
    return f_measure(longest_common_subsequence(response, reference), len(response.tokens), len(reference.tokens))


@cache
def rouge_tokens(normalize: bool, stem: bool) -> Analysis:
    """The analysis that gives rouge-score's tokens, after normalisation and stemming where asked for."""
    if normalize and not stem:
        return RememberedAnalysis(_tokens_of_normalised)
    stemmed = _porter_stem() if stem else None

    def tokens_of(text: str) -> TokenisedText:
        found = _TOKEN.findall((normalise(text) if normalize else text).lower())
        if stemmed is not None:
            found = [stemmed(token) if len(token) >= _SHORTEST_STEMMED else token for token in found]
        return TokenisedText(tuple(found))

    return RememberedAnalysis(tokens_of)


def _tokens_of_normalised(text: str) -> TokenisedText:
    """Where nothing but a–z and 0–9 is left, as nearly always, BLEU's and F1's words, already counted, are the same."""
    split = words_of_normalised(text)
    if is_plain(split.tokens):
        return split
    return TokenisedText(tuple(_TOKEN.findall(" ".join(split.tokens).lower())))


def _porter_stem() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # here, because listing the metrics must not load NLTK

    return lru_cache(maxsize=50_000)(PorterStemmer().stem)


def _build(
    compare_one: Callable[[TokenisedText, TokenisedText], float], options: Mapping[str, OptionValue]
) -> AgainstReferences:
    analyse = rouge_tokens(normalize=bool(options["normalize"]), stem=bool(options["stem"]))
    return AgainstReferences(analyse, best_of(compare_one))


_F_MEASURE = r"F = \frac{2 P R}{P + R}"
_OF_NGRAMS = r"P = \frac{|h_N \cap r_N|}{|h_N|} \qquad R = \frac{|h_N \cap r_N|}{|r_N|} \qquad" + _F_MEASURE
"""h_N and r_N are the bags of N-grams."""
_OF_SEQUENCE = r"P = \frac{\text{LCS}(h, r)}{|h|} \qquad R = \frac{\text{LCS}(h, r)}{|r|} \qquad" + _F_MEASURE
_LIMITS = """

Words are runs of the letters a to z and figures, in lower case; a text in another script has none, so ROUGE says
nothing there. With several references the best one counts. It was made for summaries: of a dialogue it sees only
whether the response says what the one known answer says, in the same words."""
_OF_WORDS = (
    "The words that response h and reference r have in common, as the harmonic mean of precision and recall." + _LIMITS
)
_OF_PAIRS = (
    "The pairs of neighbouring words that response h and reference r have in common, as the harmonic mean of "
    "precision and recall." + _LIMITS
)
_OF_LCS = (
    "The longest row of words that response h and reference r hold in the same order, with gaps, as the harmonic mean "
    "of its share of either text." + _LIMITS
)


def _declare(
    name: str,
    compare_one: Callable[[TokenisedText, TokenisedText], float],
    what: str,
    equation: str,
    description: str,
) -> Metric:
    return Metric(
        name=name,
        version="1",
        summary=f"F-measure of the {what} that response and reference have in common.",
        citation="Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, Text Summarization Branches Out",
        build=partial(_build, compare_one),
        needs=frozenset({"reference"}),
        options=(NORMALIZE, STEM),
        signature_facts=(("measure", "f1"), ("tokens", "a-z0-9"), ("references", "best")),
        equation=equation,
        description=description,
    )


METRICS = (
    _declare("rouge_1", partial(rouge_n, order=1), "words", _OF_NGRAMS.replace("N", "1"), _OF_WORDS),
    _declare("rouge_2", partial(rouge_n, order=2), "pairs of words", _OF_NGRAMS.replace("N", "2"), _OF_PAIRS),
    _declare("rouge_l", rouge_l, "longest sequence of words", _OF_SEQUENCE, _OF_LCS),
)
