"""The reliability of the mean human rating, and correlation corrected for its lack.

People's mean score is a noisy measure of what it stands for, and noise pulls every correlation with
it towards 0. Spearman (1904, The proof and measurement of association between two things) divides
by the root of the reliability: r / √reliability is the correlation with the mean of endless such
raters, were the noise of people unrelated to the metric. The metric's own noise is the metric's,
and stays.

An interval may speak of the limit of many dialogues already, as those of systems do: people's noise
is out of it, and dividing it would take the noise out twice.

The reliability is that of split halves of the raters, stepped up by the Spearman–Brown formula. The
raters of each response are split into two random halves of equally many, one of an odd number
being left out; the halves' means are correlated at the level where metrics are, the coefficient is
averaged over splits, and stepped up to all raters by Spearman and Brown's formula m r / (1 + (m −
1) r) (Spearman 1910, Correlation calculated from faulty data; Brown 1910). m is how many times the
noise variance of the mean of all ratings that of a half's is: 2 for an even number of raters, 3 for
three, and where the number varies, the mean of 1 / ratings in the half by that of 1 / ratings in
all. At turn level responses with one rating count in the latter; means of dialogues and systems are
taken over the responses that can be split.

Raters who are known as persons are split as persons: a strict one stays in one half of all
responses, and differences of severity, which cancel where everybody rates everything, do not pass
for noise. Anonymous ratings are split response by response. The formula is of product moments: ρ,
as r of ranks, takes it as an approximation; τ has none.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from annotations.agreement.cross_table import correlations_of_replicates, has_few_cells
from annotations.agreement.matrix import RatingMatrix
from common.correlation import COEFFICIENTS, THREADS, Redraws, left_out_weights
from common.correlation.jackknife import group_of_cluster
from common.correlation.pearson import pearson_between, pearson_scores
from common.correlation.scores import DIGITS_OF_PARTS, round_off, why_undefined
from common.correlation.spearman import spearman_between, spearman_scores
from common.estimates import Estimate
from leaderboard.statistics.correlation.human_ceiling import LEVELS, CeilingLevel
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, system_sums
from leaderboard.statistics.correlation.rowwise import (
    compiled_rows,
    correlate_rows,
    fixed_side,
    mean_of_defined,
)

NO_TAU = "the correction is of r and ρ: there is none for τ"


def corrected_for_unreliability(
    correlation: Estimate, reliability: Estimate, interval_is_of_the_limit: bool = False
) -> Estimate:
    """Correlation corrected for attenuation: r / √reliability.

    Args:
        correlation: r or ρ of a metric with the mean human score.
        reliability: Reliability of the mean human score at the same level (split-half, stepped up).
        interval_is_of_the_limit: Whether the interval already speaks of the limit of many
            dialogues. It is then not divided.

    Returns:
        Undefined where the correlation or the reliability is undefined, or the reliability is 0 or
        less. Above 1 where noise made the reliability look smaller than it is: never cut. The
        interval is that of the correlation, divided likewise, the reliability taken as known. No p:
        that of the correlation holds.

    Equation: Spearman (1904), The proof and measurement of association between two things.
    """
    if correlation.value is None:
        return correlation
    if reliability.value is None:
        return Estimate.undefined(
            f"the reliability of the human scores is unknown: {reliability.reason}"
        )
    if reliability.value <= 0:
        return Estimate.undefined(f"the human scores have no reliability ({reliability.value:.2f})")
    by = math.sqrt(reliability.value)
    ends = correlation.ci
    if ends is not None and not interval_is_of_the_limit:
        ends = (ends[0] / by, ends[1] / by)
    return Estimate(value=correlation.value / by, ci=ends, reason=correlation.reason)


SPLITS = 40
STEP_UP_HAS_NO_TAU = "Spearman and Brown's formula is of r and ρ: there is none for τ"
AGGREGATE = "the corpus holds mean scores, not raters"
RANKS_JUMP = "ranks of systems jump where one dialogue is left out"
OPPOSED = "the halves of the raters are so opposed that the coefficient lies below −1"
ONE_RATER = "no response has two raters: nothing can be split"


def split_half(
    matrix: RatingMatrix,
    system_of_item: ArrayLike,
    levels: tuple[CeilingLevel, ...] = LEVELS,
    splits: int = SPLITS,
    seed: int = 0,
    intervals: bool = True,
) -> dict[CeilingLevel, dict[str, Estimate]]:
    """Reliability of the mean human rating at each level, from random split halves of the raters.

    Args:
        matrix: ratings, raters × items.
        system_of_item: (items,) numbers from 0.
        levels: at which the halves are correlated: "turn" items, "dialogue" a system's means over
            its turns of a dialogue, "system" its means over all items (as in
            ``leave_one_out_agreement``).
        splits: number of random splits.
        seed: of the splits.
        intervals: whether to compute intervals.

    Returns:
        ``{level: {"pearson", "spearman", "kendall": Estimate}}``, in (−∞, 1]; a reliability of 0 or
        less says that the halves do not agree at all. Undefined for ratings that are means, where
        no response has two raters, where a half's means are constant, where the halves are so
        opposed that the formula has no value, and for τ. 95 % intervals over dialogues: each left
        out, Student's t on Fisher's scale, with the same splits; none where the value is below −1,
        or for ρ of systems.
    """
    if matrix.rater_kind == "aggregate":
        return {
            level: dict.fromkeys(COEFFICIENTS, Estimate.undefined(AGGREGATE)) for level in levels
        }
    ratings = (~np.isnan(matrix.scores)).sum(axis=0)
    judged = ratings > 1
    if not judged.any():
        return {
            level: dict.fromkeys(COEFFICIENTS, Estimate.undefined(ONE_RATER)) for level in levels
        }
    system_of_all = np.asarray(system_of_item, dtype=np.int64)
    lengthening = {
        level: _lengthening(ratings, level, system_of_all, matrix.dialogue_of_item)
        for level in levels
    }
    scores = matrix.scores[:, judged]
    system = np.unique(system_of_all[judged], return_inverse=True)[1]
    dialogue = np.unique(matrix.dialogue_of_item[judged], return_inverse=True)[1]
    dialogue = group_of_cluster(int(dialogue.max()) + 1)[dialogue]
    random = np.random.default_rng(seed)
    are_persons = matrix.rater_kind == "identified"
    halves = [_halves(scores, random, are_persons) for _ in range(splits)]
    with ThreadPoolExecutor(THREADS) as pool:
        return {
            level: _stepped_up(
                list(
                    pool.map(
                        lambda pair, level=level: _correlated(pair, level, system, dialogue), halves
                    )
                ),
                lengthening[level],
                level,
                Redraws.jackknife(int(dialogue.max()) + 1) if intervals else None,
            )
            for level in levels
        }


def stepped_up(half: FloatArray, lengthening: float = 2.0) -> FloatArray:
    """Reliability of more raters, by the Spearman–Brown formula.

    Args:
        half: (n,) correlations of the halves, in [−1, 1].
        lengthening: m, how many times as many raters.

    Returns:
        (n,), up to 1; NaN where the formula has no value, from r = −1 / (m − 1) down.

    m r / (1 + (m − 1) r) (Spearman 1910; Brown 1910).
    """
    below = 1.0 + (lengthening - 1.0) * half
    return np.asarray(
        np.divide(lengthening * half, below, out=np.full_like(half, np.nan), where=below > 0.0)
    )


def _lengthening(
    ratings: IntArray, level: CeilingLevel, system: IntArray, dialogue: IntArray
) -> float:
    """How many times the noise variance of the mean of all ratings that of a half's mean is, on
    average over the units of the level. Noise of a unit's mean, in units of a single rating's: Σ 1
    / ratings over its items, by their number squared."""
    if level != "turn":
        ratings = np.where(ratings > 1, ratings, 0)
    unit = {
        "turn": np.arange(len(ratings)),
        "dialogue": np.unique(np.stack((system, dialogue)), axis=1, return_inverse=True)[1].reshape(
            -1
        ),
        "system": np.unique(system, return_inverse=True)[1],
    }[level]

    def noise(each: IntArray) -> float:
        held = each > 0
        items = np.bincount(unit[held])
        sums = np.bincount(unit[held], 1.0 / each[held])
        return float(np.mean(sums[items > 0] / items[items > 0] ** 2))

    return noise(ratings // 2) / noise(ratings)


def _halves(
    scores: FloatArray, random: np.random.Generator, are_persons: bool
) -> tuple[FloatArray, FloatArray]:
    """(items,) twice: the means of two random halves of each item's raters."""
    drawn = (
        scores[random.permutation(len(scores))] if are_persons else random.permuted(scores, axis=0)
    )
    known = ~np.isnan(drawn)
    index = known.cumsum(axis=0)
    raters = index[-1]
    size = raters // 2
    sums = (
        np.where(known & (index <= size), drawn, 0.0),
        np.where(known & (index > raters - size), drawn, 0.0),
    )
    first, second = (round_off(one.sum(axis=0) / size, DIGITS_OF_PARTS) for one in sums)
    return first, second


def _correlated(
    halves: tuple[FloatArray, FloatArray], level: CeilingLevel, system: IntArray, dialogue: IntArray
) -> dict[str, FloatArray | str]:
    """Each coefficient of the data, then without each dialogue; or the reason why there is none."""
    dialogues = int(dialogue.max()) + 1
    weights = np.vstack((np.ones((1, dialogues)), left_out_weights(dialogues)))
    one, other = halves
    if level == "turn":
        return _of_items(one, other, dialogue, weights)
    sums = [
        system_sums(half, system, dialogue, int(system.max()) + 1, dialogues) for half in halves
    ]
    if level == "dialogue":
        held = sums[0].count > 0
        one, other = (half.dialogue_means()[held] for half in sums)
        return _of_items(one, other, np.nonzero(held)[1], weights)
    one, other = (half.means() for half in sums)
    if reason := why_undefined(one, other):
        return dict.fromkeys(("pearson", "spearman"), reason)
    redrawn = [half.resampled_means(weights) for half in sums]
    found = correlate_rows(fixed_side(redrawn[0]), compiled_rows(redrawn[1]))
    return {"pearson": found["pearson"], "spearman": found["spearman"]}


def _of_items(
    one: FloatArray, other: FloatArray, dialogue: IntArray, weights: FloatArray
) -> dict[str, FloatArray | str]:
    if reason := why_undefined(one, other):
        return dict.fromkeys(("pearson", "spearman"), reason)
    if has_few_cells(one, other):
        return {**correlations_of_replicates(one, other, dialogue, weights)}
    indices = dialogue, weights
    return {
        "pearson": pearson_between(pearson_scores(one, *indices), pearson_scores(other, *indices)),
        "spearman": spearman_between(
            spearman_scores(one, *indices), spearman_scores(other, *indices)
        ),
    }


def _stepped_up(
    of_splits: list[dict[str, FloatArray | str]],
    lengthening: float,
    level: CeilingLevel,
    redraws: Redraws | None,
) -> dict[str, Estimate]:
    found = {}
    for name in ("pearson", "spearman"):
        defined = [one for split in of_splits if not isinstance(one := split[name], str)]
        if not defined:
            found[name] = Estimate.undefined(
                _in_terms_of_halves(next(str(split[name]) for split in of_splits))
            )
            continue
        values = stepped_up(mean_of_defined(np.array(defined)), lengthening)
        if np.isnan(values[0]):
            found[name] = Estimate.undefined(
                "the halves of the raters are opposed: nothing can be stepped up"
            )
            continue
        point = Estimate(value=float(values[0]))
        used = np.ones(len(values) - 1, dtype=bool)
        if redraws is None:
            found[name] = point
        elif values[0] < -1.0:
            found[name] = Estimate(point.value, reason=OPPOSED)
        elif level == "system" and name == "spearman":
            found[name] = Estimate(point.value, reason=RANKS_JUMP)
        else:
            found[name] = redraws.with_interval(point, values[1:], used)
    return {**found, "kendall": Estimate.undefined(STEP_UP_HAS_NO_TAU)}


def _in_terms_of_halves(reason: str) -> str:
    return {
        "all human scores are equal": "one half's mean scores are all equal",
        "all metric scores are equal": "one half's mean scores are all equal",
    }.get(reason, reason)
