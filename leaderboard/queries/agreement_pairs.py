"""Pairs of raters in the stored answer about agreement: sixty raters make 1,770, two megabytes of
which a page shows a hundred. All of them stand apart, as a part of the answer that only files and
the API read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotations.agreement.cohen import PairwiseKappa, Weighting
from leaderboard.answers.agreement import CorpusAgreement

PAIRS_SHOWN = 100


def with_fewer_pairs(
    kappas: Mapping[Weighting, PairwiseKappa],
) -> dict[Weighting, PairwiseKappa]:
    """Each κ with the ``PAIRS_SHOWN`` pairs that have most items in common, in their order, and how
    many there are in all."""
    items = {pair.raters: pair.items for kappa in kappas.values() for pair in kappa.pairs}
    shown = frozenset(sorted(items, key=lambda pair: -items[pair])[:PAIRS_SHOWN])
    return {
        weighting: replace(
            kappa,
            pairs=tuple(pair for pair in kappa.pairs if pair.raters in shown),
            pairs_in_all=len(kappa.pairs),
        )
        for weighting, kappa in kappas.items()
    }


def with_all_pairs(stored: CorpusAgreement) -> CorpusAgreement:
    """Of a whole stored answer, every pair under each κ."""
    kappas = {
        weighting: PairwiseKappa(kappa.mean, stored.all_pairs[weighting])
        for weighting, kappa in stored.cohen_kappa.items()
    }
    return replace(stored, cohen_kappa=kappas)
