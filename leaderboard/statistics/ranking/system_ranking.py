"""Systems ordered by people: means with intervals, rank ranges, and systems that are not
significantly different."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from common.correlation import cluster_resamples, jackknife_interval, percentile_interval
from common.correlation.identical import (
    IDENTICAL_DIALOGUES,
    agree_to_the_digit,
    identical_dialogues,
    rows_agree,
)
from common.estimates import Estimate, Undefined
from leaderboard.statistics.bounded import (
    UNBOUNDED,
    Bounds,
    interval_of_identical,
    interval_within,
)
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    PlacedScores,
    SystemSums,
    system_sums,
)
from leaderboard.statistics.correlation.resampling import Method
from leaderboard.statistics.design import Design


@dataclass(frozen=True, slots=True)
class SystemRank:
    """One system's place. A mean without an interval of its own is ranked with the spread that the
    other systems' dialogues have; where theirs do not vary either, rank, range and band are
    None."""

    system: int
    mean: Estimate
    items: int
    """Rated items behind the mean."""
    dialogues: int
    """Dialogues that these items come from."""
    rank: int | None
    """1 + the number of systems whose lower bound exceeds this one's upper bound: the best place it
    may have."""
    worst_rank: int | None
    """The number of ranked systems minus those whose upper bound lies below this one's lower
    bound."""
    band: int | None
    """From 1. Every interval of a band lies above every interval of the next."""


def rank_systems(
    human: PlacedScores,
    systems: int,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "jackknife",
    bounds: Bounds = UNBOUNDED,
) -> list[SystemRank]:
    """Rank systems by their mean human scores, with intervals, rank ranges and bands.

    Args:
        human: one list of item scores; the mean is over all rated items of the system.
        systems: number of systems.
        resamples: bootstrap draws of dialogues, for ``method`` "percentile".
        seed: of the draws.
        level: confidence level, in (0, 1).
        method: "jackknife" leaves each dialogue out in turn; "percentile" is the percentile
            bootstrap over dialogues.
        bounds: lowest and highest possible score, None for an open end.

    Returns:
        One entry per system number 0..systems − 1, in that order. The mean is undefined where the
        system has no ratings. It has no interval where the system was rated in fewer than 2
        dialogues, or identically in all of fewer than 10; ten identical dialogues or more have that
        of ``interval_of_identical``, which needs both bounds.

    Raises:
        ValueError: ``method`` is "percentile" and ``resamples`` is below 1.

    Intervals are of the mean over other dialogues. The jackknife's are Student's t with the
    system's dialogues less one degrees of freedom, or, where that would leave the ``bounds`` of the
    scores, Wilson's interval. A system without an interval, if left out of the ranks, would let a
    worse system come first; so it is ranked by mean ± t·s/√n, s² pooled over the systems whose
    dialogues vary (``_ranges``).
    """
    dialogues, dialogue = np.unique(human.dialogue, return_inverse=True)
    sums = system_sums(human.scores[0], human.system, dialogue, systems, max(len(dialogues), 1))
    items = sums.count.sum(axis=1).astype(int)
    dialogues_rated = (sums.count > 0).sum(axis=1)
    if method == "jackknife":
        estimates = _by_jackknife(sums, level, bounds)
    else:
        strata = Design(sums.count > 0).strata
        weights = cluster_resamples(max(len(dialogues), 1), resamples, seed, strata).astype(
            np.float64
        )
        estimates = _by_percentiles(sums, weights, level, bounds)
    ranges = _ranges(estimates, sums.dialogue_means(), level)
    indices = _places(ranges)
    bands = _bands(ranges)
    return [
        SystemRank(
            system=number,
            mean=estimates[number],
            items=int(items[number]),
            dialogues=int(dialogues_rated[number]),
            rank=indices[number][0],
            worst_rank=indices[number][1],
            band=bands.get(number),
        )
        for number in range(systems)
    ]


def _by_jackknife(sums: SystemSums, level: float, bounds: Bounds) -> list[Estimate]:
    """The mean Σ totals / Σ counts without each of its dialogues is a division: all systems at
    once."""
    held = sums.count > 0
    rest = sums.count.sum(axis=1, keepdims=True) - sums.count
    left_out = np.divide(
        sums.total.sum(axis=1, keepdims=True) - sums.total,
        rest,
        out=np.full(sums.total.shape, np.nan),
        where=held & (rest > 0),
    )
    found = []
    rows = zip(sums.means(), held, left_out, rows_agree(left_out), strict=True)
    for mean, own, row, agrees in rows:
        interval = jackknife_interval(float(mean), row[own], level=level)
        if not isinstance(interval, Undefined):
            interval = (
                interval_of_identical(float(mean), len(row[own]), bounds, level)
                if agrees
                else interval_within(float(mean), interval, bounds, len(row[own]) - 1, level)
            )
        found.append(_estimate(float(mean), int(own.sum()), interval))
    return found


def _by_percentiles(
    sums: SystemSums, weights: FloatArray, level: float, bounds: Bounds
) -> list[Estimate]:
    redrawn = sums.resampled_means(weights)
    return [
        _estimate(float(mean), count, _percentiles(float(mean), column, count, level, bounds))
        for mean, count, column in zip(
            sums.means(), (sums.count > 0).sum(axis=1).tolist(), redrawn.T, strict=True
        )
    ]


def _percentiles(
    mean: float, redrawn: FloatArray, dialogues_rated: int, level: float, bounds: Bounds
) -> tuple[float, float] | Undefined:
    defined = redrawn[np.isfinite(redrawn)]
    if identical_dialogues(defined, dialogues_rated):
        return Undefined(IDENTICAL_DIALOGUES)
    if agree_to_the_digit(defined):
        return interval_of_identical(mean, dialogues_rated, bounds, level)
    return percentile_interval(redrawn, level)


def _estimate(
    mean: float, dialogues_rated: int, interval: tuple[float, float] | Undefined
) -> Estimate:
    if dialogues_rated == 0:
        return Estimate.undefined("the system has no human ratings")
    if dialogues_rated < 2:
        return Estimate(
            value=mean, reason="an interval over dialogues needs at least 2 rated dialogues"
        )
    if isinstance(interval, Undefined):
        return Estimate(value=mean, reason=interval.reason)
    return Estimate(value=mean, ci=interval)


def _ranges(
    estimates: list[Estimate], dialogue_means: FloatArray, level: float
) -> list[tuple[float, float] | None]:
    """What each mean is ranked by: its interval, or one with the other systems' spread; None where
    there is neither."""
    count = np.isfinite(dialogue_means).sum(axis=1)
    has_interval = np.array([one.ci is not None for one in estimates], dtype=bool)
    varies = has_interval & (count > 1) & ~rows_agree(dialogue_means)
    freedom = int((count[varies] - 1).sum())
    if not freedom:
        return [one.ci for one in estimates]
    variance = float((np.nanvar(dialogue_means[varies], axis=1) * count[varies]).sum()) / freedom
    reach = float(stdtrit(freedom, 0.5 + level / 2)) * np.sqrt(variance / np.maximum(count, 1))
    return [
        (one.value - float(reach[row]), one.value + float(reach[row]))
        if one.ci is None and one.value is not None
        else one.ci
        for row, one in enumerate(estimates)
    ]


def _places(ranges: list[tuple[float, float] | None]) -> list[tuple[int | None, int | None]]:
    known = [one for one in ranges if one is not None]
    low, high = np.array([one[0] for one in known]), np.array([one[1] for one in known])
    return [
        (None, None)
        if one is None
        else (1 + int((low > one[1]).sum()), len(known) - int((high < one[0]).sum()))
        for one in ranges
    ]


def _bands(ranges: list[tuple[float, float] | None]) -> dict[int, int]:
    """System number → band. A band ends where everything above lies clear of everything below."""
    ranked = [(*one, number) for number, one in enumerate(ranges) if one is not None]
    bands: dict[int, int] = {}
    band, floor = 0, np.inf
    for low, high, number in sorted(ranked, key=lambda index: index[1], reverse=True):
        if high < floor:
            band += 1
        floor = min(floor, low)
        bands[number] = band
    return bands
