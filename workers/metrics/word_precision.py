"""Word precision: the share of the response's words that the reference holds."""

from __future__ import annotations

from collections.abc import Mapping

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.against_references import AgainstReferences, best_of
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.tokenisation import OPTIONS


def word_precision(response: TokenisedText, reference: TokenisedText) -> float:
    """Word precision: share of the response's words that one reference holds.

    Returns:
        Matched words, counted as bags, divided by the number of words of the response: in [0, 1]; 0
        where no word matches.
    """
    matched = response.matched_ngrams(reference, 1)
    return matched / len(response) if matched else 0.0


def _build(options: Mapping[str, OptionValue]) -> AgainstReferences:
    return AgainstReferences(options, best_of(word_precision))


METRIC = Metric(
    name="word_precision",
    version="2",
    summary="Share of the response's words that the reference holds.",
    citation="Miller et al. (2017), ParlAI: A Dialog Research Software Platform, EMNLP demos",
    build=_build,
    needs=frozenset({"reference"}),
    options=OPTIONS,
    signature_facts=(("references", "best"),),
    equation=r"\text{precision} = \frac{|h \cap r|}{|h|}",
    description="""\
The part of the response h that occurs in the reference r, counted in words. With several references
the best one counts.

Short responses gain: one common word alone can reach 1. Read it beside word_recall, or take
word_f1.""",
)
