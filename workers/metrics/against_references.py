"""The loop that all reference-based lexical metrics share: one response against its turn's references."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from annotations.estimates import Undefined
from workers.metrics.base import Example, Option, Progress, Score
from workers.metrics.texts import Analysis, TokenisedText

Comparison = Callable[[TokenisedText, Sequence[TokenisedText]], float]
"""Scores a response against one or more references."""

PROGRESS_EVERY = 100
NO_REFERENCE = Undefined("the turn has no reference")

NORMALIZE = Option(
    "normalize", True, "lower-case, turn punctuation into spaces and drop articles (a, an, the) before counting words"
)


class AgainstReferences:
    """A ``TurnScorer``: analyses the response and the references, then compares them.

    A reference that is empty or only white space is no reference. A turn without one has no score. An empty response
    has: nothing of it matches, so every lexical metric gives it 0, as NLTK and rouge-score do.
    """

    def __init__(self, analyse: Analysis, compare: Comparison) -> None:
        self._analyse = analyse
        self._compare = compare

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """One score per example, in order; ``Undefined`` where the turn has no reference."""
        scores: list[Score] = []
        for example in examples:
            scores.append(self._score_one(example))
            if progress is not None and len(scores) % PROGRESS_EVERY == 0:
                progress(len(scores))
        if progress is not None and len(scores) % PROGRESS_EVERY != 0:
            progress(len(scores))
        return scores

    def _score_one(self, example: Example) -> Score:
        references = [self._analyse(reference) for reference in example.references if reference.strip()]
        if not references:
            return NO_REFERENCE
        return self._compare(self._analyse(example.response), references)


def best_of(
    compare_one: Callable[[TokenisedText, TokenisedText], float],
) -> Comparison:
    """A comparison with several references: the score against the reference that fits best."""

    def compare(response: TokenisedText, references: Sequence[TokenisedText]) -> float:
        if len(references) == 1:
            return compare_one(response, references[0])
        return max(compare_one(response, reference) for reference in references)

    return compare
