"""How many tokens a response has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workers.metrics.base import Account, Example, Metric, OptionValue, Progress, Read, Score
from workers.metrics.common.tokenisation import OPTIONS, Tokenisation


class ResponseLength:
    """A ``TurnScorer``."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
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

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Count the tokens of each response; see ``TurnScorer.score``.

        Returns:
            Tokens per response, in order, from 0; never ``Undefined``.
        """
        lengths = [len(self._tokenisation.analysis(example.response)) for example in examples]
        self._account = Account(
            facts=self._tokenisation.facts, read=[Read(length) for length in lengths]
        )
        if progress is not None and examples:
            progress(len(examples))
        return [float(length) for length in lengths]


METRIC = Metric(
    name="response_length",
    version="1",
    summary="The number of tokens of the response.",
    citation="Serban et al. (2017), A Hierarchical Latent Variable Encoder-Decoder Model for "
    "Generating Dialogues, AAAI",
    build=ResponseLength,
    value_range=(0.0, None),
    options=OPTIONS,
    equation=r"L = |h|",
    description="""\
Tokens after normalisation, as word_f1 counts them. People often prefer longer answers up to a
point, so that length alone correlates with their ratings: a metric that does no better than this
one measures little else.""",
)
