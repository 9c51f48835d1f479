"""ROUGE-1, ROUGE-2 and ROUGE-L as F-measures (Lin, 2004), with rouge-score's tokens and stemming
where text is ASCII.

Tokens are runs of letters and figures, and symbols such as emoji, in the lower-cased text.
rouge-score itself knows a–z and 0–9 only (``tokenize=rouge-score``): a word in another script has
no token there. With ``stem`` the Porter stemmer (NLTK's) shortens English words of more than three
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from workers.metrics import wordnet
from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.against_references import AgainstReferences, best_of
from workers.metrics.common.lexical import TokenisedText, f_measure, longest_common_subsequence
from workers.metrics.common.tokenisation import OPTIONS

STEM = Option("stem", False, "shorten words to their Porter stems before comparing them")


def rouge_n(response: TokenisedText, reference: TokenisedText, order: int) -> float:
    """ROUGE-N against one reference.

    Args:
        order: N, words per n-gram, from 1.

    Returns:
        F-measure of the n-grams in common, in [0, 1]; 0 where none matches.

    F = 2PR / (P + R), P and R the shares of the response's and the reference's n-grams that match
    (Lin, 2004, section 2).
    """
    matched = response.matched_ngrams(reference, order)
    return f_measure(matched, response.ngram_total(order), reference.ngram_total(order))


def rouge_l(response: TokenisedText, reference: TokenisedText) -> float:
    """ROUGE-L against one reference.

    Returns:
        F-measure of the longest common subsequence, in [0, 1]; 0 where no word matches.

    F = 2PR / (P + R), P = LCS / words of the response, R = LCS / words of the reference (Lin, 2004,
    section 3.1, with β = 1).
    """
    return f_measure(
        longest_common_subsequence(response, reference), len(response.tokens), len(reference.tokens)
    )


def _missing(options: Mapping[str, OptionValue]) -> str:
    """py-rouge looks irregular words up in WordNet."""
    return wordnet.missing() if options["stem"] and options["tokenize"] == "py-rouge" else ""


def _build(
    compare_one: Callable[[TokenisedText, TokenisedText], float], options: Mapping[str, OptionValue]
) -> AgainstReferences:
    return AgainstReferences(options, best_of(compare_one), content_only=True)


_F_MEASURE = r"F = \frac{2 P R}{P + R}"
_OF_NGRAMS = (
    r"P = \frac{|h_N \cap r_N|}{|h_N|} \qquad R = \frac{|h_N \cap r_N|}{|r_N|} \qquad" + _F_MEASURE
)
"""h_N and r_N are the bags of N-grams."""
_OF_SEQUENCE = (
    r"P = \frac{\text{LCS}(h, r)}{|h|} \qquad R = \frac{\text{LCS}(h, r)}{|r|} \qquad" + _F_MEASURE
)
_LIMITS = """

Words are runs of letters and figures, in lower case, and emoji. The package rouge-score knows the
letters a to z only: tokenize=rouge-score does as it does. With several references the best one
counts. It was made for summaries: of a dialogue it sees only whether the response says what the one
known answer says, in the same words.

With tokenize=rouge-score it equals the F-measure of that package. There Größe becomes gr and e,
and a text in another script has no token and no score. stem=true cuts words of more than three
characters to their Porter stem, so that walks and walking match.

tokenize=py-rouge,stem=true does as py-rouge with its defaults, of which the FBD paper's numbers
are: irregular words get WordNet's base form. It equals that package but for 137 words that it stems
by a list of its own, for texts of one line and at most 665 characters."""
_WORDS = (
    "The words that response h and reference r have in common, as the harmonic mean of precision "
    "and recall." + _LIMITS
)
_OF_PAIRS = (
    "The pairs of neighbouring words that response h and reference r have in common, as the "
    "harmonic mean of precision and recall." + _LIMITS
)
_OF_LCS = (
    "The longest row of words that response h and reference r hold in the same order, with gaps, "
    "as the harmonic mean of its share of either text." + _LIMITS
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
        version="2",
        summary=f"F-measure of the {what} that response and reference have in common.",
        citation="Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, Text "
        "Summarization Branches Out",
        build=partial(_build, compare_one),
        needs=frozenset({"reference"}),
        options=(*OPTIONS, STEM),
        missing=_missing,
        signature_facts=(
            ("measure", "f1"),
            ("tokens", "letters, figures, symbols"),
            ("references", "best"),
        ),
        equation=equation,
        description=description,
    )


METRICS = (
    _declare("rouge_1", partial(rouge_n, order=1), "words", _OF_NGRAMS.replace("N", "1"), _WORDS),
    _declare(
        "rouge_2",
        partial(rouge_n, order=2),
        "pairs of words",
        _OF_NGRAMS.replace("N", "2"),
        _OF_PAIRS,
    ),
    _declare("rouge_l", rouge_l, "longest sequence of words", _OF_SEQUENCE, _OF_LCS),
)
