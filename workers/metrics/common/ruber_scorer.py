"""BERT-RUBER: how well a response follows its context, blended with how like the reference it
is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from common.estimates import Undefined
from workers.inference.encoders.encoder import encoder_for
from workers.metrics.base import Account, Example, Progress, Score
from workers.metrics.common.options import number
from workers.metrics.common.readability import sum_of
from workers.metrics.common.selection_scorers import TurnReadings, probability
from workers.metrics.common.sentence_cosines import ReferenceCosine


class BlendedScores:
    """A ``TurnScorer``."""

    def __init__(self, trained: str, model: str, blend: str) -> None:
        self._unreferenced = TurnReadings(trained, probability)
        self._referenced = ReferenceCosine(model, "mean", "none")
        self._model, self._blend = model, blend
        self._account = Account()

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Blend the two scores of each response; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, in [0, 1]. ``Undefined`` without a response, a context
            or a reference, or where a model cannot read or tell apart the texts.
        """
        encoder = encoder_for(self._model)

        def half(done: int) -> None:
            if progress is not None:
                self._tell(encoder.files.revision, {})
                progress(done // 2)

        follows = self._unreferenced.score(examples, half)
        similar = self._referenced.score(examples)
        remarks = dict(self._referenced.account().remarks) | dict(
            self._unreferenced.account().remarks
        )
        self._tell(encoder.files.revision, remarks)
        read = zip(self._unreferenced.account().read, self._referenced.account().read, strict=True)
        self._account = replace(self._account, read=[sum_of(of_one) for of_one in read])
        if progress is not None:
            progress(len(examples))
        return [self._blended(*pair) for pair in zip(follows, similar, strict=True)]

    def _tell(self, revision: str, remarks: dict[int, str]) -> None:
        run_info = self._unreferenced.account()
        facts = (*run_info.facts, ("encoder_revision", revision))
        self._account = Account(run_info.model, run_info.device, facts, remarks)

    def _blended(self, follows: Score, cosine: Score) -> Score:
        if isinstance(follows, Undefined):
            return follows
        if isinstance(cosine, Undefined):
            return cosine
        return number(blended(follows, min(1.0, max(0.0, (1.0 + cosine) / 2)), self._blend))


def blended(follows: float, similar: float, blend: str) -> float:
    """Blend two scores by one of RUBER's four strategies.

    Args:
        follows: the unreferenced score, in [0, 1].
        similar: the referenced score, in [0, 1].
        blend: ``min``, ``max``, ``geometric`` (mean), or anything else for the arithmetic mean.

    Returns:
        In [0, 1].

    Tao et al. (2018).
    """
    if blend == "min":
        return min(follows, similar)
    if blend == "max":
        return max(follows, similar)
    if blend == "geometric":
        return math.sqrt(follows * similar)
    return (follows + similar) / 2
