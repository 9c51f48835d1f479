"""Word recall: the share of the reference's words that the response holds."""

from __future__ import annotations

from collections.abc import Mapping

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.against_references import AgainstReferences, best_of
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.tokenisation import OPTIONS


def word_recall(response: TokenisedText, reference: TokenisedText) -> float:
    """Word recall: share of one reference's words that the response holds.

    Returns:
        Matched words, counted as bags, divided by the number of words of the reference: in [0, 1];
        0 where no word matches.
    """
    matched = response.matched_ngrams(reference, 1)
    return matched / len(reference) if matched else 0.0


def _build(options: Mapping[str, OptionValue]) -> AgainstReferences:
    return AgainstReferences(options, best_of(word_recall))


METRIC = Metric(
    name="word_recall",
    version="2",
    summary="Share of the reference's words that the response holds.",
    citation="Miller et al. (2017), ParlAI: A Dialog Research Software Platform, EMNLP demos",
    build=_build,
    needs=frozenset({"reference"}),
    options=OPTIONS,
    signature_facts=(("references", "best"),),
    equation=r"\text{recall} = \frac{|h \cap r|}{|r|}",
    description="""\
The part of the reference r that occurs in the response h, counted in words. With several references
the best one counts.

Long responses gain: what is said beside the reference costs nothing. Read it beside word_precision,
or take word_f1.""",
)
