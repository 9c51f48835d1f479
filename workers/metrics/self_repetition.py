"""How much of its own earlier responses a system repeats within a dialogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from common.estimates import Undefined
from workers.metrics.base import (
    Account,
    Example,
    Metric,
    Option,
    OptionValue,
    Progress,
    Read,
    Score,
)
from workers.metrics.common.tokenisation import OPTIONS, Tokenisation

ORDER = Option("order", 2, "how many neighbouring tokens make an n-gram", least=1, most=8)


class SelfRepetition:
    """A ``DialogueScorer``."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self._options = options
        self._order = int(options["order"])
        self._account = Account()
        self.see_language("")

    def see_language(self, language: str) -> None:
        """Choose the tokeniser for the next calls.

        Args:
            language: code of the corpus's language; "" where it is not known.
        """
        self._tokenisation = Tokenisation.of(self._options, language)

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Progress | None = None
    ) -> list[Score]:
        """Share of n-grams that repeat earlier responses; see ``DialogueScorer.score_dialogues``.

        Returns:
            One score per dialogue, in order, in [0, 1]: the mean over its responses that have an
            n-gram and follow another that has one. ``Undefined`` where there is no such response.
        """
        scores: list[Score] = []
        read: list[Read] = []
        examples_done = 0
        for dialogue in dialogues:
            responses = [self._tokenisation.analysis(example.response) for example in dialogue]
            read.append(Read(sum(map(len, responses))))
            scores.append(self._of_dialogue([list(text.ngrams(self._order)) for text in responses]))
            examples_done += len(dialogue)
            if progress is not None:
                progress(examples_done)
        self._account = Account(facts=self._tokenisation.facts, read=read)
        return scores

    def _of_dialogue(self, responses: Sequence[Sequence[Any]]) -> Score:
        earlier: set[Any] = set()
        shares: list[float] = []
        for ngrams in responses:
            if ngrams and earlier:
                shares.append(sum(ngram in earlier for ngram in ngrams) / len(ngrams))
            earlier.update(ngrams)
        if not shares:
            return Undefined(f"no response of {self._order} tokens follows another one")
        return math.fsum(shares) / len(shares)


METRIC = Metric(
    name="self_repetition",
    version="1",
    summary="The share of a response's pairs of words that the system said earlier in the "
    "dialogue.",
    citation="See et al. (2019), What makes a good conversation? How controllable attributes "
    "affect human judgments, NAACL (external repetition)",
    build=SelfRepetition,
    higher_is_better=False,
    levels=frozenset({"dialogue", "system"}),
    options=(*OPTIONS, ORDER),
    equation=r"\text{SR} = \frac{1}{T} \sum_{t} \frac{|\{ g \in h_t : g \in h_1 \cup \dots \cup "
    r"h_{t-1} \}|}{|h_t|}",
    description="""\
Of each response h after the first, the share of its n-grams g that the same system already said in
one of its earlier responses of the dialogue; the mean over these T responses is the dialogue's
score.

The other speaker's words do not count, and nor do those of other systems. Some repetition is part
of talk: what is usual shows the row of the people's answers, where a corpus has one.

A dialogue in which no response follows another that is long enough has no score.""",
)
