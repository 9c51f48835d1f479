"""CMN's scores of responses, by a trained model; the best reference counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Progress, Score
from workers.metrics.common.against_references import NO_REFERENCE
from workers.metrics.common.cmn_options import MONTE_CARLO_ERROR
from workers.metrics.common.options import account_of, each_once, number
from workers.metrics.common.readability import read_of_pairs, read_of_responses
from workers.metrics.common.selection_scorers import inputs_of
from workers.training.core.latent import CmnScore
from workers.training.core.latent_scorer import Judged, LatentScoring, latent_model

CUT = "the pair was cut: the model takes no more tokens"


class LatentScores:
    """A ``TurnScorer``. Every score is remarked with its Monte-Carlo error and what it is made
    of."""

    def __init__(self, trained: str, settings: LatentScoring) -> None:
        self._trained, self._settings = trained, settings
        self._account = Account()

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """CMN of each response against its best reference; see ``TurnScorer.score``.

        Returns:
            One score per example, in order. ``Undefined`` without a response, a context or a
            reference, where the score is not finite, or where the model cannot read or tell apart
            the texts.
        """
        model, remarks = latent_model(self._trained), dict[int, str]()
        self._account = account_of(model, remarks, self.facts())
        inputs = [_judged(example) for example in examples]
        flat = [
            one
            for of_example in inputs
            if not isinstance(of_example, Undefined)
            for one in of_example
        ]

        def of_model(distinct: list[Judged], progress: Progress | None) -> list[CmnScore]:
            return model.scores(distinct, self._settings, progress)

        found = iter(each_once(flat, of_model, progress, len(examples)))
        scores: list[Score] = []
        for index, of_example in enumerate(inputs):
            if isinstance(of_example, Undefined):
                scores.append(of_example)
                continue
            best = max((next(found) for _ in of_example), key=lambda one: one.value)
            cut = model.is_cut(of_example[0].context, of_example[0].response)
            remarks[index] = (
                f"{MONTE_CARLO_ERROR} {best.error:.3f}: I(c, x) = {best.with_context.value:.3f}, "
                f"I(x, r) = {best.with_reference.value:.3f}, g = {best.follows:.3f}"
                + (f"; {CUT}" if cut else "")
            )
            scores.append(number(best.value))
        whole = [[] if isinstance(of_example, Undefined) else of_example for of_example in inputs]
        shown = [
            [text for one in of_one[:1] for text in (one.response, *one.context[-model.turns :])]
            for of_one in whole
        ]
        read_of_responses(model, shown, scores)
        pairs = [[(one.reference, one.response) for one in of_one] for of_one in whole]
        self._account = replace(self._account, read=read_of_pairs(model, pairs, scores))
        return scores

    def facts(self) -> tuple[tuple[str, str], ...]:
        """Signature fields of the estimate: how many negatives it has."""
        return (("negatives", str(self._settings.negatives)),)


class FollowScores:
    """A ``TurnScorer``: g alone, which needs no reference and draws nothing."""

    def __init__(self, trained: str) -> None:
        self._trained = trained
        self._account = Account()

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Probability g that each response follows its context; see ``TurnScorer.score``.

        Returns:
            One score per example, in order. ``Undefined`` without a response or a context, where
            the score is not finite, or where the model cannot read the texts.
        """
        model, remarks = latent_model(self._trained), dict[int, str]()
        self._account = account_of(model, remarks)
        inputs = [inputs_of(example) for example in examples]
        pairs = [one for one in inputs if not isinstance(one, Undefined)]
        found = iter(
            each_once(pairs, lambda distinct, _: model.follows(distinct), progress, len(examples))
        )
        scores: list[Score] = []
        for index, pair in enumerate(inputs):
            if isinstance(pair, Undefined):
                scores.append(pair)
                continue
            scores.append(number(next(found)))
            if model.is_cut(*pair):
                remarks[index] = CUT
        shown = [
            [] if isinstance(one, Undefined) else [one[1], *one[0][-model.turns :]]
            for one in inputs
        ]
        self._account = replace(self._account, read=read_of_responses(model, shown, scores))
        return scores


def _judged(example: Example) -> list[Judged] | Undefined:
    pair = inputs_of(example)
    if isinstance(pair, Undefined):
        return pair
    references = list(dict.fromkeys(one.strip() for one in example.references if one.strip()))
    return [Judged(pair[0], reference, pair[1]) for reference in references] or NO_REFERENCE
