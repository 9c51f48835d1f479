"""How far the mean score of these raters would agree with that of as many others: split halves, stepped up.

The raters of each response are split into two random halves, the halves' means are correlated at the level where
metrics are, the coefficient is averaged over splits, and stepped up to all raters by Spearman and Brown's formula
2r / (1 + r) (Spearman 1910, Correlation calculated from faulty data; Brown 1910). A split is made response by response,
so that raters need not be persons who rate throughout, as leave-one-out asks. The formula is of product moments: ρ, as
r of ranks, takes it too; τ has none.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from annotations.agreement.matrix import RatingMatrix
from annotations.correlation import COEFFICIENTS, THREADS, Redraws, left_out_weights
from annotations.correlation.jackknife import group_of_cluster
from annotations.correlation.pearson import pearson_between, pearson_side
from annotations.correlation.scores import why_undefined
from annotations.correlation.settled import DIGITS_OF_PARTS, settled
from annotations.correlation.spearman import spearman_between, spearman_side
from annotations.estimates import Estimate
from leaderboard.statistics.human_ceiling import LEVELS, CeilingLevel
from leaderboard.statistics.placed_scores import FloatArray, IntArray, system_sums
from leaderboard.statistics.rowwise import correlate_rows, fixed_side, prepared_rows

SPLITS = 40
NO_TAU = "Spearman and Brown's formula is of r and ρ: there is none for τ"
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
    """``{level: {"pearson", "spearman", "kendall": Estimate}}``; levels as ``human_ceiling`` has them.

    Responses with one rater are left out; of an odd number one half has one rater more, which is chosen at random.
    Values lie in (−∞, 1]; a reliability of 0 or less says that the halves do not agree at all. 95 % intervals over
    dialogues: each left out, Student's t on Fisher's scale, splits held; none where it is below −1.
    """
    if matrix.rater_kind == "aggregate":
        return {level: dict.fromkeys(COEFFICIENTS, Estimate.undefined(AGGREGATE)) for level in levels}
    judged = (~np.isnan(matrix.scores)).sum(axis=0) > 1
    if not judged.any():
        return {level: dict.fromkeys(COEFFICIENTS, Estimate.undefined(ONE_RATER)) for level in levels}
    scores = matrix.scores[:, judged]
    system = np.unique(np.asarray(system_of_item, dtype=np.int64)[judged], return_inverse=True)[1]
    dialogue = np.unique(matrix.dialogue_of_item[judged], return_inverse=True)[1]
    dialogue = group_of_cluster(int(dialogue.max()) + 1)[dialogue]
    random = np.random.default_rng(seed)
    halves = [_halves(scores, random) for _ in range(splits)]
    with ThreadPoolExecutor(THREADS) as pool:
        return {
            level: _stepped_up(
                list(pool.map(lambda pair, level=level: _correlated(pair, level, system, dialogue), halves)),
                level,
                Redraws.jackknife(int(dialogue.max()) + 1) if intervals else None,
            )
            for level in levels
        }


def stepped_up(half: FloatArray) -> FloatArray:
    """Spearman and Brown: the reliability of twice as many raters, 2r / (1 + r); NaN at r = −1."""
    return np.asarray(np.divide(2.0 * half, 1.0 + half, out=np.full_like(half, np.nan), where=half > -1.0))


def _halves(scores: FloatArray, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """(items,) twice: the means of two random halves of each item's raters."""
    keys = np.where(np.isnan(scores), 2.0, random.random(scores.shape))
    place = np.argsort(np.argsort(keys, axis=0), axis=0)
    raters = (~np.isnan(scores)).sum(axis=0)
    smaller = raters // 2 + np.where(raters % 2 == 1, random.integers(0, 2, len(raters)), 0)
    first = place < smaller
    known = np.where(np.isnan(scores), 0.0, scores)
    of_first, of_second = (np.where(half, known, 0.0).sum(axis=0) for half in (first, ~first))
    return settled(of_first / smaller, DIGITS_OF_PARTS), settled(of_second / (raters - smaller), DIGITS_OF_PARTS)


def _correlated(
    halves: tuple[FloatArray, FloatArray], level: CeilingLevel, system: IntArray, dialogue: IntArray
) -> dict[str, FloatArray | str]:
    """Each coefficient of the data, then without each dialogue; or the reason why there is none."""
    dialogues = int(dialogue.max()) + 1
    weights = np.vstack((np.ones((1, dialogues)), left_out_weights(dialogues)))
    one, other = halves
    if level == "turn":
        return _of_items(one, other, dialogue, weights)
    sums = [system_sums(half, system, dialogue, int(system.max()) + 1, dialogues) for half in halves]
    if level == "dialogue":
        held = sums[0].count > 0
        one, other = (half.dialogue_means()[held] for half in sums)
        return _of_items(one, other, np.nonzero(held)[1], weights)
    one, other = (half.means() for half in sums)
    if reason := why_undefined(one, other):
        return dict.fromkeys(("pearson", "spearman"), reason)
    redrawn = [half.resampled_means(weights) for half in sums]
    found = correlate_rows(fixed_side(redrawn[0]), prepared_rows(redrawn[1]))
    return {"pearson": found["pearson"], "spearman": found["spearman"]}


def _of_items(
    one: FloatArray, other: FloatArray, dialogue: IntArray, weights: FloatArray
) -> dict[str, FloatArray | str]:
    if reason := why_undefined(one, other):
        return dict.fromkeys(("pearson", "spearman"), reason)
    places = dialogue, weights
    return {
        "pearson": pearson_between(pearson_side(one, *places), pearson_side(other, *places)),
        "spearman": spearman_between(spearman_side(one, *places), spearman_side(other, *places)),
    }


def _stepped_up(
    of_splits: list[dict[str, FloatArray | str]], level: CeilingLevel, redraws: Redraws | None
) -> dict[str, Estimate]:
    found = {}
    for name in ("pearson", "spearman"):
        defined = [one for split in of_splits if not isinstance(one := split[name], str)]
        if not defined:
            found[name] = Estimate.undefined(_in_terms_of_halves(next(str(split[name]) for split in of_splits)))
            continue
        values = stepped_up(_means(np.array(defined)))
        if np.isnan(values[0]):
            found[name] = Estimate.undefined("the halves of the raters are opposed: nothing can be stepped up")
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
    return {**found, "kendall": Estimate.undefined(NO_TAU)}


def _means(of_splits: FloatArray) -> FloatArray:
    """(splits, replicates) → (replicates,) over the splits in which it is defined; NaN where it is in none."""
    defined = ~np.isnan(of_splits)
    total = np.where(defined, of_splits, 0.0).sum(axis=0)
    count = defined.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _in_terms_of_halves(reason: str) -> str:
    return {
        "all human scores are equal": "one half's mean scores are all equal",
        "all metric scores are equal": "one half's mean scores are all equal",
    }.get(reason, reason)
