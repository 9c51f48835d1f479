"""Systems ordered by people: means with intervals, ranks that admit doubt, and bands that cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotations.correlation import cluster_resamples, jackknife_interval, percentile_interval
from annotations.correlation.alike import ALIKE_BY_CHANCE, alike_by_chance
from annotations.estimates import Estimate, Undefined
from leaderboard.statistics.placed_scores import FloatArray, PlacedScores, SystemSums, system_sums
from leaderboard.statistics.redraws import Method


@dataclass(frozen=True, slots=True)
class SystemRank:
    """One system's place. Rank, range and band are None where the mean has no interval: never ranked by luck."""

    system: int
    mean: Estimate
    items: int
    """Rated items behind the mean."""
    dialogues: int
    """Dialogues that these items come from."""
    rank: int | None
    """1 + the number of systems whose lower bound exceeds this one's upper bound: the best place it may have."""
    worst_rank: int | None
    """The number of ranked systems minus those whose upper bound lies below this one's lower bound."""
    band: int | None
    """From 1. Every interval of a band lies above every interval of the next."""


def rank_systems(
    human: PlacedScores,
    systems: int,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "jackknife",
) -> list[SystemRank]:
    """One ``SystemRank`` per system number 0..systems − 1, in that order.

    ``human``: one list of item scores; the mean is over all rated items of the system. Intervals speak of the mean over
    other dialogues: each dialogue is left out in turn, with Student's t of the system's dialogues less one degrees of
    freedom; or, with ``method`` "percentile", ``resamples`` bootstrap draws of dialogues. A system rated in fewer than
    2 dialogues, or alike in all of fewer than 10, has no interval and so no rank.
    """
    dialogues, dialogue = np.unique(human.dialogue, return_inverse=True)
    sums = system_sums(human.scores[0], human.system, dialogue, systems, max(len(dialogues), 1))
    items = sums.count.sum(axis=1).astype(int)
    dialogues_rated = (sums.count > 0).sum(axis=1)
    if method == "jackknife":
        estimates = _by_jackknife(sums, level)
    else:
        weights = cluster_resamples(max(len(dialogues), 1), resamples, seed).astype(np.float64)
        estimates = _by_percentiles(sums, weights, level)
    places = _places(estimates)
    bands = _bands(estimates)
    return [
        SystemRank(
            system=number,
            mean=estimates[number],
            items=int(items[number]),
            dialogues=int(dialogues_rated[number]),
            rank=places[number][0],
            worst_rank=places[number][1],
            band=bands.get(number),
        )
        for number in range(systems)
    ]


def _by_jackknife(sums: SystemSums, level: float) -> list[Estimate]:
    """The mean Σ totals / Σ counts without each of its dialogues is a division: all systems at once."""
    held = sums.count > 0
    rest = sums.count.sum(axis=1, keepdims=True) - sums.count
    left_out = np.divide(
        sums.total.sum(axis=1, keepdims=True) - sums.total,
        rest,
        out=np.full(sums.total.shape, np.nan),
        where=held & (rest > 0),
    )
    found = []
    for mean, own, row in zip(sums.means(), held, left_out, strict=True):
        interval = jackknife_interval(float(mean), row[own], level=level)
        found.append(_estimate(float(mean), int(own.sum()), interval))
    return found


def _by_percentiles(sums: SystemSums, weights: FloatArray, level: float) -> list[Estimate]:
    redrawn = sums.resampled_means(weights)
    return [
        _estimate(float(mean), int(of_system.sum()), _percentiles(column, int(of_system.sum()), level))
        for mean, of_system, column in zip(sums.means(), sums.count > 0, redrawn.T, strict=True)
    ]


def _percentiles(redrawn: FloatArray, dialogues_rated: int, level: float) -> tuple[float, float] | Undefined:
    if alike_by_chance(redrawn[np.isfinite(redrawn)], dialogues_rated):
        return Undefined(ALIKE_BY_CHANCE)
    return percentile_interval(redrawn, level)


def _estimate(mean: float, dialogues_rated: int, interval: tuple[float, float] | Undefined) -> Estimate:
    if dialogues_rated == 0:
        return Estimate.undefined("the system has no human ratings")
    if dialogues_rated < 2:
        return Estimate(value=mean, reason="an interval over dialogues needs at least 2 rated dialogues")
    if isinstance(interval, Undefined):
        return Estimate(value=mean, reason=interval.reason)
    return Estimate(value=mean, ci=interval)


def _places(estimates: list[Estimate]) -> list[tuple[int | None, int | None]]:
    intervals = [estimate.ci for estimate in estimates if estimate.ci is not None]
    low, high = np.array([ci[0] for ci in intervals]), np.array([ci[1] for ci in intervals])
    return [
        (None, None)
        if estimate.ci is None
        else (1 + int((low > estimate.ci[1]).sum()), len(intervals) - int((high < estimate.ci[0]).sum()))
        for estimate in estimates
    ]


def _bands(estimates: list[Estimate]) -> dict[int, int]:
    """System number → band. A band ends where everything above lies clear of everything below."""
    ranked = [(estimate.ci[0], estimate.ci[1], number) for number, estimate in enumerate(estimates) if estimate.ci]
    bands: dict[int, int] = {}
    band, floor = 0, np.inf
    for low, high, number in sorted(ranked, key=lambda place: place[1], reverse=True):
        if high < floor:
            band += 1
        floor = min(floor, low)
        bands[number] = band
    return bands
