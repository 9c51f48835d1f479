"""Word-F1: the harmonic mean of word precision and word recall, as ParlAI's F1 metric."""

from __future__ import annotations

from collections.abc import Mapping

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.against_references import AgainstReferences, best_of
from workers.metrics.common.lexical import TokenisedText, f_measure
from workers.metrics.common.tokenisation import OPTIONS


def word_f1(response: TokenisedText, reference: TokenisedText) -> float:
    """F1 over bags of words against one reference.

    Returns:
        In [0, 1]; 0 where no word matches.

    2PR / (P + R), as ParlAI's F1 metric.
    """
    return f_measure(response.matched_ngrams(reference, 1), len(response), len(reference))


def _build(options: Mapping[str, OptionValue]) -> AgainstReferences:
    return AgainstReferences(options, best_of(word_f1))


METRIC = Metric(
    name="word_f1",
    version="2",
    summary="Harmonic mean of word precision and word recall against the reference.",
    citation="Miller et al. (2017), ParlAI: A Dialog Research Software Platform, EMNLP demos",
    build=_build,
    needs=frozenset({"reference"}),
    options=OPTIONS,
    signature_facts=(("references", "best"),),
    equation=r"""
P = \frac{|h \cap r|}{|h|} \qquad R = \frac{|h \cap r|}{|r|}

F_1 = \frac{2 P R}{P + R}
""",
    description="""\
How many words the response h and the reference r share. Words are counted as bags: one that h has
three times and r twice is shared twice, and their order does not matter. With several references
the best one counts.

It rewards the reference's words and nothing else. A good answer in other words gets little, a
response that repeats the question may get much, and a dialogue turn has many good answers of which
the corpus knows one.

With tokenize=parlai it equals ParlAI's F1 metric.""",
)
