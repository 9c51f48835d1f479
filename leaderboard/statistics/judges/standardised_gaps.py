"""z(judge) − z(people): how far a judge stands above people on an item, in standard deviations, and
means of it.

A judge may use other parts of the scale than people, or another scale: standardised, both have mean
0 and standard deviation 1 over the items that both judged, and only what one says beside the other
is left.

Position: do a judge's scores move along a dialogue in another way than people's?

A judge of single responses is shown one answer, not two: there is no order of alternatives to
prefer (Wang et al. 2023, "Large Language Models are not Fair Evaluators"). What position can do
here is the place of the turn: later turns come with a longer history, and so with a longer prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.correlation import cluster_resamples, with_interval
from common.estimates import Estimate, Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.significance.driving_items import z_scores


@dataclass(frozen=True)
class Gaps:
    """``value``: (n,) z(judge) − z(people), NaN where one of them has no score; ``n`` items have
    both."""

    value: FloatArray
    n: int


def standardised_gaps(judge: FloatArray, human: FloatArray) -> Gaps | Undefined:
    """Gap between a judge's and the human score of each item, in standard deviations.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.

    Returns:
        z(judge) − z(human), standardised over the items with both scores. Undefined with fewer than
        2 such items, and where either side's scores are constant.
    """
    both = np.isfinite(judge) & np.isfinite(human)
    if both.sum() < 2:
        return Undefined("fewer than two items have both a human score and a score of the judge")
    of_people, of_judge = z_scores(human[both]), z_scores(judge[both])
    if of_people is None:
        return Undefined("all human scores are equal")
    if of_judge is None:
        return Undefined("all scores of the judge are equal")
    value = np.full(len(judge), np.nan)
    value[both] = of_judge - of_people
    return Gaps(value, int(both.sum()))


def mean_gap(
    gaps: Gaps, members: np.ndarray, dialogue: IntArray, resamples: int = 1000, seed: int = 0
) -> Estimate:
    """Mean gap of some items, with its interval over dialogues.

    The standardisation is that of the data and the same in every resample.

    Args:
        gaps: of n items.
        members: (n,) bool, the items to average.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no interval.
        seed: of the draws.

    Returns:
        In standard deviations, with the percentile bootstrap's 95 % interval; undefined where no
        member has both scores.
    """
    chosen = members & np.isfinite(gaps.value)
    if not chosen.any():
        return Estimate.undefined("no item of it has both scores")
    return _with_interval(
        Estimate(value=float(gaps.value[chosen].mean())),
        [(gaps, chosen)],
        dialogue,
        resamples,
        seed,
    )


def difference_of_means(
    gaps: Gaps,
    ours: np.ndarray,
    others: np.ndarray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Difference of the mean gaps of two groups of items, with its interval over dialogues.

    Args:
        gaps: of n items.
        ours: (n,) bool, the first group.
        others: (n,) bool, the second group.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no interval.
        seed: of the draws.

    Returns:
        Mean gap of ``ours`` minus mean gap of ``others``, in standard deviations, with the
        percentile bootstrap's 95 % interval; undefined where a group has no item with both scores.
    """
    ours, others = ours & np.isfinite(gaps.value), others & np.isfinite(gaps.value)
    if not ours.any() or not others.any():
        return Estimate.undefined("one of the two groups has no item with both scores")
    point = Estimate(value=float(gaps.value[ours].mean() - gaps.value[others].mean()))
    return _with_interval(point, [(gaps, ours), (gaps, others)], dialogue, resamples, seed)


def _with_interval(
    point: Estimate,
    groups: list[tuple[Gaps, np.ndarray]],
    dialogue: IntArray,
    resamples: int,
    seed: int,
) -> Estimate:
    """Replicates of the first group's mean, less the second's where there is one."""
    if not resamples:
        return point
    used = np.logical_or.reduce([members for _, members in groups])
    dialogues, index = np.unique(dialogue[used], return_inverse=True)
    weights = cluster_resamples(len(dialogues), resamples, seed).astype(np.float64)
    means = [
        _resampled_means(gaps.value[used], members[used], index, weights)
        for gaps, members in groups
    ]
    replicates = means[0] if len(means) == 1 else means[0] - means[1]
    return with_interval(point, replicates, len(dialogues))


def _resampled_means(
    value: FloatArray, members: np.ndarray, index: IntArray, weights: FloatArray
) -> FloatArray:
    """(resamples,); NaN where a resample holds no member."""
    dialogues = weights.shape[1]
    total = weights @ np.bincount(index[members], weights=value[members], minlength=dialogues)
    count = weights @ np.bincount(index[members], minlength=dialogues)
    means: FloatArray = np.divide(total, count, out=np.full(len(weights), np.nan), where=count > 0)
    return means


@dataclass(frozen=True, slots=True)
class AtTurn:
    """A judge's and the human scores at one turn number."""

    number: int
    n: int
    """Responses at turns of this number with both scores."""
    judge: float
    human: float
    """Means over these, each on its own scale."""
    gap: Estimate
    """Mean of z(judge) − z(people), in standard deviations, 95 % interval over dialogues. 0: as
    people do."""


def by_turn_number(
    judge: FloatArray,
    human: FloatArray,
    number: IntArray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> list[AtTurn] | Undefined:
    """How a judge's scores differ from human scores at each turn number.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.
        number: (n,) turn numbers.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no intervals.
        seed: of the draws.

    Returns:
        One entry per turn number at which a response has both scores, ascending. Undefined with
        fewer than 2 responses with both scores, and where the human scores or the judge's are
        constant.
    """
    gaps = standardised_gaps(judge, human)
    if isinstance(gaps, Undefined):
        return gaps
    both = np.isfinite(gaps.value)
    found = []
    for turn in np.unique(number[both]):
        here = both & (number == turn)
        found.append(
            AtTurn(
                number=int(turn),
                n=int(here.sum()),
                judge=float(judge[here].mean()),
                human=float(human[here].mean()),
                gap=mean_gap(gaps, here, dialogue, resamples, seed),
            )
        )
    return found
