"""distinct-1, -2 and -3: how many of a system's n-grams are different ones (Li et al., 2016)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Metric, OptionValue, Progress, Read, Score
from workers.metrics.common.tokenisation import OPTIONS, Tokenisation

ORDERS = (1, 2, 3)


class Distinct:
    """A ``SystemScorer``."""

    def __init__(self, order: int, options: Mapping[str, OptionValue]) -> None:
        self._order = order
        self._options = options
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

    def score_system(
        self,
        examples: Sequence[Example],
        human: Sequence[Example],  # noqa: ARG002
        progress: Progress | None = None,
    ) -> Score:
        """Share of distinct n-grams over all responses of a system; see ``SystemScorer``.

        Args:
            human: not used.

        Returns:
            In (0, 1]. ``Undefined`` where no response is as long as the order.

        Distinct n-grams / all n-grams (Li et al., 2016).
        """
        analysed = [self._tokenisation.analysis(example.response) for example in examples]
        read = [Read(len(text)) for text in analysed]
        self._account = Account(facts=self._tokenisation.facts, read=read)
        if progress is not None:
            progress(len(examples))
        total = sum(text.ngram_total(self._order) for text in analysed)
        if not total:
            return Undefined(f"no response has {self._order} tokens")
        return len({ngram for text in analysed for ngram in text.ngrams(self._order)}) / total


def _declare(order: int) -> Metric:
    what = {1: "words", 2: "pairs of words", 3: "triples of words"}[order]
    return Metric(
        name=f"distinct_{order}",
        version="1",
        summary=f"The share of different {what} among all {what} of a system's responses.",
        citation="Li et al. (2016), A Diversity-Promoting Objective Function for Neural "
        "Conversation Models, NAACL",
        build=partial(Distinct, order),
        levels=frozenset({"system"}),
        options=OPTIONS,
        equation=r"\text{distinct}_n = \frac{|\{g\}|}{\sum_{g} c(g)}",
        description="""\
c(g) counts how often the system says the n-gram g, over all its responses together; the different
n-grams are counted once each. Low where a system says the same things again and again.

The more a system says, the lower it gets, since words come back: compare systems that answered the
same turns. It says nothing of whether an answer fits.""",
    )


METRICS = tuple(_declare(order) for order in ORDERS)
