"""The loop that all reference-based lexical metrics share: one response against its turn's
references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import regex

from common.estimates import Undefined
from workers.metrics.base import Account, Example, OptionValue, Progress, Read, Score
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.readability import ANOTHER_ORDER
from workers.metrics.common.tokenisation import Tokenisation

Comparison = Callable[[TokenisedText, Sequence[TokenisedText]], float]
"""Scores a response against one or more references."""

PROGRESS_EVERY = 100
NO_REFERENCE = Undefined("the turn has no reference")

NO_READABLE_REFERENCE = Undefined("no reference holds a token that the metric reads")
UNREADABLE_RESPONSE = Undefined("the response holds no token that the metric reads")

_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}\p{So}]")


class AgainstReferences:
    """A ``TurnScorer``: analyses the response and the references, then compares them.

    A reference that is empty or only white space is no reference. A turn without one has no score,
    and neither has one whose references hold no token. An empty response has: nothing of it
    matches, so every lexical metric gives it 0, as NLTK and rouge-score do; so has one of
    punctuation alone. A response whose letters the tokeniser does not read has no score.
    """

    without_text = NO_REFERENCE
    without_readable_text = NO_READABLE_REFERENCE

    def __init__(
        self, options: Mapping[str, OptionValue], compare: Comparison, content_only: bool = False
    ) -> None:
        self._options = options
        self._compare = compare
        self._content_only = content_only
        self._tokens: list[int] = []
        self._remarks: dict[int, str] = {}
        self.see_language("")

    def see_language(self, language: str) -> None:
        """Choose the tokeniser for the next calls.

        Args:
            language: code of the corpus's language; "" where it is not known.
        """
        self._tokenisation = Tokenisation.of(self._options, language, self._content_only)
        self._analyse = self._tokenisation.analysis

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Compare each response with its references; see ``TurnScorer.score``.

        Returns:
            One score per example, in order. ``Undefined`` where the turn has no reference, no
            reference holds a token, or the tokeniser reads none of the response's letters.
        """
        scores: list[Score] = []
        self._tokens = []
        self._remarks = {}
        for example in examples:
            scores.append(self._score_one(example))
            if progress is not None and len(scores) % PROGRESS_EVERY == 0:
                progress(len(scores))
        if progress is not None and len(scores) % PROGRESS_EVERY != 0:
            progress(len(scores))
        return scores

    def texts_of(self, example: Example) -> tuple[str, ...]:
        """What the response is compared with."""
        return example.references

    def account(self) -> Account:
        """Run metadata of the last call."""
        read = [Read(tokens) for tokens in self._tokens]
        return Account(facts=self._tokenisation.facts, remarks=self._remarks, read=read)

    def _score_one(self, example: Example) -> Score:
        analyse = self._analyse
        references = [analyse(text) for text in self.texts_of(example) if text.strip()]
        response = analyse(example.response)
        tokens = len(response.tokens)
        for reference in references:
            tokens += len(reference.tokens)
        self._tokens.append(tokens)
        if tokens == len(response.tokens):
            return self.without_readable_text if references else self.without_text
        if (
            not response.tokens
            and not example.response.isascii()
            and _SAYS_SOMETHING.search(example.response)
        ):
            return UNREADABLE_RESPONSE
        score = self._compare(response, references)
        if score == 1.0 and _is_of_another_order(response, references):
            self._remarks[len(self._tokens) - 1] = ANOTHER_ORDER
        return score


def _is_of_another_order(response: TokenisedText, references: Sequence[TokenisedText]) -> bool:
    """Whether some reference has the response's words, and none has them in its order."""
    if any(response.tokens == reference.tokens for reference in references):
        return False
    words = set(response.tokens)
    return any(words == set(reference.tokens) for reference in references)


def best_of(
    compare_one: Callable[[TokenisedText, TokenisedText], float],
) -> Comparison:
    """Turn a comparison with one reference into one with several.

    Args:
        compare_one: scores a response against one reference; higher is better.

    Returns:
        A comparison whose score is the highest over the references, of which there is at least one.
    """

    def compare(response: TokenisedText, references: Sequence[TokenisedText]) -> float:
        if len(references) == 1:
            return compare_one(response, references[0])
        return max(compare_one(response, reference) for reference in references)

    return compare
