"""BLEU-1 to BLEU-4 of one response, with NLTK's smoothing method 1 or without smoothing (Papineni
et al., 2002; Chen and Cherry, 2014).

BLEU-N = BP · exp(1/N · Σ log p_n), n = 1..N. p_n is the share of the response's n-grams that a
reference holds, each counted at most as often as in the reference that has it most often (equation
1 of Papineni et al.). A p_n without a match is ε / (number of n-grams) instead of 0. BP = exp(1 −
r/c) where the response (c words) is not longer than the reference closest in length (r words), else
1.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.against_references import AgainstReferences
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.tokenisation import LOWERCASE, OPTIONS

EPSILON = 1e-12
"""ComperDial's and ParlAI's choice: a missing order all but removes the response, yet keeps an
order among them."""
MAX_ORDER = 4
SMOOTH = Option(
    "smooth",
    "method1",
    "an order without a match: method1, 1e-12 matches; none, the smallest positive number as its "
    "precision, as NLTK without smoothing",
    ("method1", "none"),
)


def sentence_bleu(
    response: TokenisedText,
    references: Sequence[TokenisedText],
    max_order: int,
    is_smoothed: bool = True,
) -> float:
    """Sentence BLEU with uniform weights.

    Args:
        references: at least one.
        max_order: N, words in the longest n-gram, from 1.
        is_smoothed: whether an order without a match counts as ε = 1e-12 matches (method 1 of Chen
            and Cherry, 2014); else its precision is the smallest positive number, as NLTK's.

    Returns:
        In [0, 1]; 0 where not even a word matches. A response shorter than an order counts as one
        n-gram of it, unmatched.

    BLEU-N = BP · exp(1/N · Σ log p_n), n = 1..N (Papineni et al., 2002).
    """
    matched = clipped_matches(response, references, max_order)
    if matched[0] == 0:
        return 0.0
    weight = 1.0 / max_order
    length = len(response.tokens)
    # A response shorter than the order counts as one n-gram, unmatched.
    precisions = (
        (count or EPSILON) / max(1, length - order) if count or is_smoothed else sys.float_info.min
        for order, count in enumerate(matched)
    )
    return brevity_penalty(length, references) * math.exp(
        math.fsum([weight * math.log(p) for p in precisions])
    )


def clipped_matches(
    response: TokenisedText, references: Sequence[TokenisedText], max_order: int
) -> list[int]:
    """Number of matched n-grams of each order, clipped.

    Args:
        references: at least one.
        max_order: N, words in the longest n-gram, from 1.

    Returns:
        N counts, for orders 1 to N. Each n-gram of the response counts at most as often as in the
        reference that has it most often (Papineni et al., 2002, equation 1).
    """
    matched: list[int] = []
    for order in range(1, max_order + 1):
        if matched and matched[-1] == 0:
            # An n-gram that matches holds a shorter one that matches: nothing is left to count.
            return matched + [0] * (max_order - len(matched))
        if len(references) == 1:
            matched.append(response.matched_ngrams(references[0], order))
        else:
            counts = [reference.ngram_counts(order) for reference in references]
            matched.append(
                sum(
                    min(in_response, max(in_reference[ngram] for in_reference in counts))
                    for ngram, in_response in response.ngram_counts(order).items()
                )
            )
    return matched


def brevity_penalty(response_length: int, references: Sequence[TokenisedText]) -> float:
    """Brevity penalty of BLEU.

    Args:
        response_length: c, words, at least 1: a response without words has no match and is 0 before
            it gets here.
        references: at least one. The one closest in length gives r; of two as close, the shorter.

    Returns:
        In (0, 1]; 1 for a response longer than r.

    BP = exp(1 − r/c) for c ≤ r, else 1 (Papineni et al., 2002).
    """
    closest = len(references[0].tokens)
    if len(references) > 1:
        closest = min(
            (len(reference.tokens) for reference in references),
            key=lambda r: (abs(r - response_length), r),
        )
    return 1.0 if response_length > closest else math.exp(1 - closest / response_length)


def _build(max_order: int, options: Mapping[str, OptionValue]) -> AgainstReferences:
    is_smoothed = options["smooth"] == "method1"
    compare = partial(sentence_bleu, max_order=max_order, is_smoothed=is_smoothed)
    return AgainstReferences(options, compare)


_EQUATION = r"""
\text{BLEU}_N = B \cdot \sqrt[N]{\prod\limits_{n=1}^{N} p_n}

p_n = \frac{\sum_{g} \min \left( c_h(g), \max_{r} c_r(g) \right)}{\sum_{g} c_h(g)}

B = \min \left( 1, e^{1 - |r| / |h|} \right)
"""
_DESCRIPTION = """\
The share of the response's n-grams g that a reference holds. c(g) counts how often one occurs; each
counts at most as often as in the reference r that has it most often. The factor B makes a response
h that is shorter than the reference pay for it.

An order without a match would make the whole product 0, so it counts as 1e-12 matches (method 1 of
Chen and Cherry, 2014), or not (smooth=none). Single turns are thereby told apart mostly by the
longest n-gram that matches, and scores near 0 differ by powers of ten. A response without any word
of a reference is 0.

A system's score is the mean over its turns. Corpus BLEU, which sums the counts of all turns first,
is another number.

The reference closest in length counts for B, of two the shorter. A response of fewer than n words
counts as one n-gram without a match. On the same tokens the score equals NLTK's `sentence_bleu`
with weights 1/N and `SmoothingFunction(epsilon=1e-12).method1`, which is ComperDial's setting;
with smooth=none, without a smoothing function: DEnsity's with lowercase=true."""


def _declare(max_order: int) -> Metric:
    upto = "words" if max_order == 1 else f"n-grams of 1 to {max_order} words"
    return Metric(
        name=f"bleu_{max_order}",
        version="2",
        summary=f"Clipped precision of {upto} against the references, with a brevity penalty.",
        citation="Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine "
        "Translation, ACL",
        build=partial(_build, max_order),
        needs=frozenset({"reference"}),
        options=(*OPTIONS, SMOOTH, LOWERCASE),
        signature_facts=(("epsilon", repr(EPSILON)), ("references", "clipped")),
        equation=_EQUATION.replace("N", str(max_order)),
        description=_DESCRIPTION,
    )


METRICS = tuple(_declare(max_order) for max_order in range(1, MAX_ORDER + 1))
