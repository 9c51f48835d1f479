"""Fleiss' κ: agreement of any raters beyond chance, for items with equally many ratings.

κ = (P̄ − P̄_e) / (1 − P̄_e), with P_i = Σ_j n_ij (n_ij − 1) / (n (n − 1)) and P̄_e = Σ_j p_j²
(Fleiss 1971, equations 2, 3, 5 and 7). It needs not to know who rated, only how many gave which
level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import FloatArray, Tabulation
from common.estimates import Estimate, OwnJson


@dataclass(frozen=True, slots=True)
class FleissKappa(OwnJson):
    """κ, on how many items it stands, and how many ratings each of them has (0 and 0 where
    undefined)."""

    kappa: Estimate
    items: int = 0
    ratings_per_item: int = 0

    def as_json(self) -> dict[str, Any]:
        """κ, and what it stands on where it is on any item."""
        document = self.kappa.as_json()
        if self.items:
            document |= {"items": self.items, "ratings_per_item": self.ratings_per_item}
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> FleissKappa:
        """What ``as_json`` wrote."""
        return cls(
            Estimate.from_json(document),
            document.get("items", 0),
            document.get("ratings_per_item", 0),
        )


def fleiss_kappa(table: Tabulation, jackknife: Jackknife) -> FleissKappa:
    """Fleiss' κ on the largest set of items with equally many ratings, with its 95 % interval.

    Args:
        table: the ratings, from ``tabulate``.
        jackknife: which dialogues are left out, for the interval; ``Jackknife.none`` for none.

    Returns:
        κ in (−∞, 1], on how many items it stands, and how many ratings each of them has, two or
        more; of equally large sets, the one with more ratings per item. Undefined with fewer than
        two raters, without an item that two raters judged, with more than ``MOST_LEVELS`` different
        scores, and where all scores of these items are equal.

    κ = (P̄ − P̄_e) / (1 − P̄_e), with P_i = Σ_j n_ij (n_ij − 1) / (n (n − 1)) and P̄_e = Σ_j p_j²
    (Fleiss 1971, equations 2, 3, 5 and 7).
    """
    if table.active_raters.size < 2:
        return FleissKappa(Estimate.undefined("fewer than two raters"))
    ratings = table.usual_ratings_per_item
    if ratings is None:
        return FleissKappa(Estimate.undefined("no item was judged by two raters"))
    if table.why_not_counted:
        return FleissKappa(Estimate.undefined(table.why_not_counted))
    chosen = table.ratings_of_item == ratings
    counts = np.where(chosen[:, np.newaxis], table.counts, 0.0)
    agreement = (counts * (counts - 1.0)).sum(axis=1) / (ratings * (ratings - 1.0))
    tallies = table.sum_by_dialogue(np.column_stack([chosen.astype(np.float64), agreement, counts]))
    kappa = jackknife.estimate(
        float(_kappas_of(tallies.sum(axis=0, keepdims=True))[0]),
        _kappas_of(jackknife.sums(tallies)),
        jackknife.group[table.dialogue[chosen]],
        if_undefined=(
            f"all scores of the {int(chosen.sum())} items with {ratings} ratings are equal"
        ),
    )
    return FleissKappa(kappa, int(chosen.sum()), ratings)


def _kappas_of(tallies: FloatArray) -> FloatArray:
    """κ of each of many tallies (items, Σ P_i, Σ n_ij per level); NaN where chance agreement is
    complete."""
    items, agreement, counts = tallies[:, 0], tallies[:, 1], tallies[:, 2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts / counts.sum(axis=1, keepdims=True)
        by_chance = (share**2).sum(axis=1)
        kappas = (agreement / items - by_chance) / (1.0 - by_chance)
    more_than_one_level = (counts > 0).sum(axis=1) > 1
    return np.where(more_than_one_level, kappas, np.nan)
