"""Cohen's κ of two raters, on the items that both judged: unweighted, and with linear and quadratic
weights.

κ_w = 1 − Σ w_ab o_ab / Σ w_ab e_ab, with the confusion matrix o and the one expected from its
margins e (Cohen 1960, equation 1; Cohen 1968, equation 8). The weight of a disagreement is 1, |a −
b| or (a − b)², in the units of the scale: on a scale in equal steps these are the usual weights
over the full list of categories, and levels that nobody used change nothing.

The mean over pairs is Light's (1971; Conger 1980): each pair counts once, provided that it has
enough common items (``Tabulation.least_common_items``). With one item κ is 0 or 0/0, with few it is
pulled towards 0 by about κ / n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import MISSING, FloatArray, IntArray, Tabulation
from common.correlation.jackknife import jackknife_intervals
from common.estimates import Estimate, OwnJson, Undefined

Weighting = Literal["unweighted", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
NOTHING_IN_COMMON = "the two raters judged no item in common"
ONE_SCORE = "both raters gave one and the same score to all common items"
CELLS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True)
class PairKappa(OwnJson):
    """κ of two raters, and on how many items both judged it stands."""

    raters: tuple[str, str]
    items: int
    kappa: Estimate

    def as_json(self) -> dict[str, Any]:
        """κ's own keys beside the raters and items."""
        return {"raters": list(self.raters), "items": self.items, **self.kappa.as_json()}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PairKappa:
        """What ``as_json`` wrote."""
        first, second = document["raters"]
        return cls((first, second), document["items"], Estimate.from_json(document))


@dataclass(frozen=True, slots=True)
class PairwiseKappa(OwnJson):
    """κ of every pair of raters, and the mean over the pairs with enough common items for which it
    is defined. ``pairs_in_all``: how many pairs there are, where ``pairs`` are some of them."""

    mean: Estimate
    pairs: tuple[PairKappa, ...]
    pairs_in_all: int | None = None

    @classmethod
    def undefined(cls, reason: str) -> PairwiseKappa:
        """No κ, with the reason, and no pairs.

        Args:
            reason: why there is none, for the reader.

        Returns:
            An undefined mean without pairs.
        """
        return cls(Estimate.undefined(reason), ())

    def as_json(self) -> dict[str, Any]:
        """``mean`` is the number itself, with its interval beside it; undefined carries ``value``
        too, as everywhere."""
        mean = self.mean.as_json()
        document = (
            {"mean": mean.pop("value"), **mean} if self.mean.is_defined else {"mean": None, **mean}
        )
        document["pairs"] = [pair.as_json() for pair in self.pairs]
        if self.pairs_in_all is not None:
            document["pairs_in_all"] = self.pairs_in_all
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PairwiseKappa:
        """What ``as_json`` wrote."""
        return cls(
            Estimate.from_json({**document, "value": document["mean"]}),
            tuple(map(PairKappa.from_json, document["pairs"])),
            document.get("pairs_in_all"),
        )


def cohen_kappas(table: Tabulation, jackknife: Jackknife) -> dict[Weighting, PairwiseKappa]:
    """Cohen's κ of all pairs of raters under the three weightings, each with its 95 % interval.

    Args:
        table: the ratings, from ``tabulate``.
        jackknife: which dialogues are left out, for the intervals; ``Jackknife.none`` for none.

    Returns:
        One result for each name in ``WEIGHTINGS``, values in (−∞, 1]. κ is undefined for a pair
        without a common item, or where both raters gave one and the same score throughout (0/0).
        The mean is over the pairs with ``table.least_common_items`` or more for which κ is defined;
        without some dialogues, over the pairs that are defined without them. With fewer than two
        raters everything is undefined, and there are no pairs.

    κ_w = 1 − Σ w_ab o_ab / Σ w_ab e_ab (Cohen 1960, equation 1; Cohen 1968, equation 8); the mean
    over pairs is Light's (1971).
    """
    if table.active_raters.size < 2:
        return {
            weighting: PairwiseKappa.undefined("fewer than two raters") for weighting in WEIGHTINGS
        }
    distance = np.abs(table.levels[:, np.newaxis] - table.levels)
    weights = np.stack([(distance > 0).astype(np.float64), distance, distance**2])
    pairs: dict[Weighting, list[PairKappa]] = {weighting: [] for weighting in WEIGHTINGS}
    mean = _MeanOfPairs(table.least_common_items, int(jackknife.group.max()) + 1)
    for some in _pairs_of_raters(table, jackknife.group, weights):
        values = _kappas_of(some.tallies_of_pairs, weights)
        intervals: Sequence[Sequence[tuple[float, float] | Undefined | None]] = [
            [None] * len(weights)
        ] * len(values)
        if jackknife.replicates and len(values):
            left_out = _kappas_of(some.tallies_without_each_cell, weights)
            intervals = jackknife_intervals(values, left_out, some.first_cell)
            mean.add(some, values, left_out)
        else:
            mean.add(some, values, None)
        for kind, weighting in enumerate(WEIGHTINGS):
            found = iter(
                zip(values[:, kind].tolist(), (row[kind] for row in intervals), strict=True)
            )
            pairs[weighting] += [
                PairKappa(names, items, _with_interval(*next(found)) if items else _NOTHING)
                for names, items in zip(some.names, some.items, strict=True)
            ]
    return {
        weighting: PairwiseKappa(
            mean.estimate(kind, jackknife, pairs[weighting]), tuple(pairs[weighting])
        )
        for kind, weighting in enumerate(WEIGHTINGS)
    }


_NOTHING = Estimate.undefined("the two raters judged no item in common")


def _with_interval(value: float, interval: tuple[float, float] | Undefined | None) -> Estimate:
    if value != value:  # NaN
        return Estimate.undefined("both raters gave one and the same score to all common items")
    return (
        Estimate(value, reason=interval.reason)
        if isinstance(interval, Undefined)
        else Estimate(value, interval)
    )


@dataclass(frozen=True)
class _Pairs:
    """One rater with some others. ``names``, ``items``: each pair, and how many items both judged.

    Of the pairs that judged any, ``cells`` has a row for each group of dialogues in which they did:
    the number of common items, the observed disagreement under each weighting, and how often each
    rater gave each level; cells × (1 + weightings + 2 V). ``pair``, ``group``: of each cell; those
    of one pair lie together, from ``first_cell`` on.
    """

    names: list[tuple[str, str]]
    items: list[int]
    cells: FloatArray
    pair: IntArray
    group: IntArray
    first_cell: IntArray

    @property
    def tallies_of_pairs(self) -> FloatArray:
        return np.add.reduceat(self.cells, self.first_cell) if len(self.cells) else self.cells

    @property
    def tallies_without_each_cell(self) -> FloatArray:
        return np.asarray(self.tallies_of_pairs[self.pair] - self.cells)


def _pairs_of_raters(
    table: Tabulation, group_of_dialogue: IntArray, weights: FloatArray
) -> Iterator[_Pairs]:
    """All pairs of raters in the order of their rows; sparse, as most raters of a crowd share few
    dialogues."""
    group = group_of_dialogue[table.dialogue]
    by_group = np.argsort(group, kind="stable")
    group, codes = group[by_group], table.codes[:, by_group]
    columns = 1 + len(weights) + 2 * table.levels.size
    for index, first in enumerate(table.active_raters[:-1]):
        judged = np.flatnonzero(codes[first] != MISSING)
        others = table.active_raters[index + 1 :]
        at_a_time = max(1, CELLS_AT_A_TIME // (columns * len(np.unique(group[judged]))))
        for start in range(0, len(others), at_a_time):
            some = others[start : start + at_a_time]
            names = [(table.raters[first], table.raters[second]) for second in some]
            yield _pairs_with(
                names, codes[first, judged], codes[np.ix_(some, judged)], group[judged], weights
            )


def _pairs_with(
    names: list[tuple[str, str]],
    own: IntArray,
    of_others: IntArray,
    group: IntArray,
    weights: FloatArray,
) -> _Pairs:
    """``own``: int, items, in the order of ``group``. ``of_others``: int, raters × items, some
    ``MISSING``."""
    second, item = np.nonzero(of_others != MISSING)
    by_first, by_second = own[item], of_others[second, item]
    begins = np.diff(second, prepend=-1).astype(bool) | np.diff(group[item], prepend=-1).astype(
        bool
    )
    first_item, cell = np.flatnonzero(begins), np.cumsum(begins) - 1
    levels, number = weights.shape[1], len(first_item)

    def margin(codes: IntArray) -> FloatArray:
        return (
            np.bincount(cell * levels + codes, minlength=number * levels)
            .reshape(number, levels)
            .astype(np.float64)
        )

    def sums(per_item: FloatArray | None) -> FloatArray:
        return np.bincount(cell, weights=per_item, minlength=number)[:, np.newaxis].astype(
            np.float64
        )

    cells = np.concatenate(
        [
            sums(None),
            *(sums(weight[by_first, by_second]) for weight in weights),
            margin(by_first),
            margin(by_second),
        ],
        axis=1,
    )
    together, pair = np.unique(second[first_item], return_inverse=True)
    return _Pairs(
        names,
        np.bincount(second, minlength=len(names)).tolist(),
        cells,
        np.asarray(pair, dtype=np.int64),
        group[item][first_item],
        np.searchsorted(pair, np.arange(len(together))),
    )


class _MeanOfPairs:
    """The mean over pairs, and without each group of dialogues, without holding what all pairs are
    without each."""

    def __init__(self, least_items: int, groups: int) -> None:
        self.least_items = least_items
        self._sum, self._pairs = np.zeros(len(WEIGHTINGS)), np.zeros(len(WEIGHTINGS))
        self._change_of_sum = np.zeros((len(WEIGHTINGS), groups))
        self._change_of_pairs = np.zeros((len(WEIGHTINGS), groups))
        self._read = np.zeros((len(WEIGHTINGS), groups), dtype=bool)

    def add(self, some: _Pairs, values: FloatArray, left_out: FloatArray | None) -> None:
        """``values``: pairs × weightings. ``left_out``: cells × weightings, each pair without each
        of its cells."""
        has_enough = (
            np.array([items for items in some.items if items], dtype=np.int64) >= self.least_items
        )
        counts = has_enough[:, np.newaxis] & ~np.isnan(values)
        values = np.where(counts, values, 0.0)
        self._sum += values.sum(axis=0)
        self._pairs += counts.sum(axis=0)
        if left_out is None:
            return
        of_pair, groups = counts[some.pair], self._read.shape[1]
        lost = of_pair & np.isnan(left_out)
        change = np.where(of_pair, np.where(lost, 0.0, left_out) - values[some.pair], 0.0)
        for kind in range(len(WEIGHTINGS)):
            self._change_of_sum[kind] += np.bincount(some.group, change[:, kind], groups)
            self._change_of_pairs[kind] -= np.bincount(some.group, lost[:, kind], groups)
            self._read[kind, some.group[of_pair[:, kind]]] = True

    def estimate(self, kind: int, jackknife: Jackknife, pairs: list[PairKappa]) -> Estimate:
        if not self._pairs[kind]:
            with_enough = {pair.kappa.reason for pair in pairs if pair.items >= self.least_items}
            if with_enough or not any(pair.items for pair in pairs):
                reasons = sorted(with_enough or {pair.kappa.reason for pair in pairs})
                return Estimate.undefined(
                    "κ is undefined for every pair of raters: " + "; ".join(reasons)
                )
            most = max(pair.items for pair in pairs)
            return Estimate.undefined(
                f"a mean over pairs of raters takes those with {self.least_items} items in common "
                f"or more, and none has more than {most}"
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            left_out = (self._sum[kind] + self._change_of_sum[kind]) / (
                self._pairs[kind] + self._change_of_pairs[kind]
            )
        return jackknife.estimate(
            float(self._sum[kind] / self._pairs[kind]), left_out, np.flatnonzero(self._read[kind])
        )


def _kappas_of(tallies: FloatArray, weights: FloatArray) -> FloatArray:
    """κ under each weighting of each of many tallies; tallies × weightings, NaN where chance
    disagreement is 0."""
    levels = weights.shape[1]
    items = tallies[:, :1]
    observed = tallies[:, 1 : 1 + len(weights)]
    first, second = tallies[:, -2 * levels : -levels], tallies[:, -levels:]
    expected = np.stack([((first @ weight) * second).sum(axis=1) for weight in weights], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1.0 - observed * items / expected, np.nan)
