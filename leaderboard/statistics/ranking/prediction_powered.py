"""A mean human score from few ratings and a metric on every response: prediction-powered inference.

Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), "Prediction-powered inference", Science 382;
power tuning: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient prediction-powered inference",
arXiv:2311.01453.

    θ(λ) = mean of the ratings + λ · (mean of the metric where nobody rated − mean of the metric
    where people rated)

The metric need not be right, it need only go with people: its errors on the rated responses are
taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from common.correlation.identical import ROUNDING, why_no_spread
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

LEAST_DIALOGUES = 10
"""Rated dialogues of a system from which the metric is used: with 8, intervals covered less than 93
% in simulation."""
ONE_DIALOGUE = "an interval over dialogues needs at least 2 rated dialogues"


@dataclass(frozen=True, slots=True)
class RatedPart:
    """Sums per dialogue of responses: arrays (dialogues,) of one system, or (systems, …,
    dialogues), where the axes between are computed side by side.

    ``rated``: responses with a human and a metric score; ``human``, ``metric``: the sums of both
    over these. ``unrated``: responses with a metric score alone; ``metric_unrated``: the sum over
    these.
    """

    rated: FloatArray
    human: FloatArray
    metric: FloatArray
    unrated: FloatArray
    metric_unrated: FloatArray


@dataclass(frozen=True, slots=True)
class PoweredMeans:
    """Arrays (…): ``nan`` where undefined. Widths are of whole 95 % intervals (or of ``level``), in
    rating points."""

    alone: FloatArray
    """Mean of the ratings alone."""
    width_alone: FloatArray
    powered: FloatArray
    width: FloatArray
    tuning: FloatArray
    """λ from 0 (the metric is not used) to 1, in the unit in which the metric's dialogues spread as
    people's do."""

    @property
    def gain(self) -> FloatArray:
        """(width alone / width)²: how many times as many ratings the interval is worth. Never below
        1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.width > 0, (self.width_alone / self.width) ** 2, np.nan)


def part_of_dialogues(
    human: ArrayLike,
    metric: ArrayLike,
    dialogue: ArrayLike,
    dialogues: int,
    *,
    higher_is_better: bool = True,
) -> RatedPart:
    """One system's sums per dialogue, from its responses.

    The sums of the metric are of its scores less their mean, since a shift changes nothing and
    costs digits. Where low scores are good the metric is negated, so that it can correlate
    positively with human scores.

    Args:
        human: (n,) mean ratings, NaN where nobody rated.
        metric: (n,) scores, NaN where there is none; such a response is left out.
        dialogue: (n,) numbers from 0.
        dialogues: number of dialogues, those without responses included.

    Returns:
        Arrays of (dialogues,).
    """
    people = np.asarray(human, dtype=np.float64)
    scores = np.asarray(metric, dtype=np.float64) * (1.0 if higher_is_better else -1.0)
    indices: IntArray = np.asarray(dialogue, dtype=np.int64)
    scored = np.isfinite(scores)
    both, alone = scored & np.isfinite(people), scored & ~np.isfinite(people)

    def total(which: np.ndarray, values: FloatArray | None = None) -> FloatArray:
        weights = None if values is None else values[which]
        return np.bincount(indices[which], weights=weights, minlength=dialogues).astype(np.float64)

    # A shift changes nothing and costs digits
    centre = float(scores[scored].mean()) if scored.any() else 0.0
    scores = scores - centre
    return RatedPart(
        total(both), total(both, people), total(both, scores), total(alone), total(alone, scores)
    )


def powered_means(part: RatedPart, level: float = 0.95) -> PoweredMeans:
    """Mean human scores of systems with intervals, from the ratings alone and with the metric.

    Intervals are robust to dependence within dialogues.

    Args:
        part: sums per dialogue; systems are the first axis. A single system may be (dialogues,).
        level: confidence level, in (0, 1).

    Returns:
        Arrays (systems, …), or scalars for a single system; means and widths in rating points. A
        mean is NaN without ratings; its width is NaN with fewer than 2 rated dialogues, and where
        the rated dialogues agree to the digit. The metric is used (λ > 0) from 10 rated dialogues
        and 2 dialogues with unrated responses on, where it varies over the rated ones, and only if
        that interval is the narrower one, so it is never wider than the ratings' own.

    Each dialogue adds to θ(λ)'s error a_d − λ b_d, where a_d is its share of the mean rating's
    error and b_d of the metric's difference; the variance is Σ (a_d − λ b_d)², each part times G /
    (G − 1) for its G dialogues. λ, one for all systems, is what makes the sum of their variances
    least, clipped to [0, 1] (PPI++, section 6: the trace over coordinates, with clusters in the
    place of responses).

    Intervals are Student's t: for the ratings alone with G − 1 degrees of freedom; with the metric
    λ costs each of the S systems 1/S of one, so ν = G − 1 − 1/S, the variance of the rated part
    times (G − 1) / ν, and Welch's degrees of freedom for the sum of the rated and the unrated part.
    """
    if part.rated.ndim == 1:
        found = powered_means(together([part]), level)
        return PoweredMeans(*(getattr(found, field.name)[0] for field in fields(PoweredMeans)))
    clusters = (part.rated > 0).sum(axis=-1)
    others = (part.unrated > 0).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone, error = _mean_and_errors(part.human, part.rated, clusters)
        seen, error_seen = _mean_and_errors(part.metric, part.rated, clusters)
        unseen, error_unseen = _mean_and_errors(part.metric_unrated, part.unrated, others)
        variance = (error**2).sum(axis=-1)
        usable = (clusters >= LEAST_DIALOGUES) & (others >= 2) & (np.ptp(error_seen, axis=-1) > 0)
        used = usable[..., np.newaxis]
        error_seen, error_unseen = (
            np.where(used, error_seen, 0.0),
            np.where(used, error_unseen, 0.0),
        )
        as_people = _ratio(
            np.where(usable, variance, 0.0).sum(axis=0), (error_seen**2).sum(axis=(0, -1))
        )
        error_seen, error_unseen = (
            one * as_people[..., np.newaxis] for one in (error_seen, error_unseen)
        )
        tuning = _tuned(np.where(used, error, 0.0), error_seen - error_unseen)
        freedom = clusters - 1 - 1 / np.maximum(usable.sum(axis=0), 1)
        paid = np.sqrt((clusters - 1) / freedom)[..., np.newaxis]
        of_rated, of_unrated = (
            (error - tuning[..., np.newaxis] * error_seen) * paid,
            tuning[..., np.newaxis] * error_unseen,
        )
        tuned_variance = ((of_rated + of_unrated) ** 2).sum(axis=-1)
        degrees = _welch(
            (of_rated**2).sum(axis=-1), freedom, (of_unrated**2).sum(axis=-1), others - 1
        )
        varies = np.sqrt(variance) > ROUNDING * np.abs(alone)
        width_alone = np.where(
            (clusters > 1) & varies, 2.0 * _t(level, clusters - 1) * np.sqrt(variance), np.nan
        )
        width = 2.0 * _t(level, degrees) * np.sqrt(tuned_variance)
        helps = usable & (width < width_alone)
        tuning = np.where(helps, tuning, 0.0)
        return PoweredMeans(
            alone=alone,
            width_alone=width_alone,
            powered=np.where(helps, alone + tuning * as_people * (unseen - seen), alone),
            width=np.where(helps, width, width_alone),
            tuning=tuning,
        )


def _ratio(people: FloatArray, metric: FloatArray) -> FloatArray:
    """By which the metric's unit is multiplied: one for all systems, so that its dialogues spread
    as people's do."""
    return np.sqrt(np.where(metric > 0, people / np.where(metric > 0, metric, 1.0), 0.0))


def _tuned(error: FloatArray, difference: FloatArray) -> FloatArray:
    """λ (…) for all systems (the first axis); 0 where the metric says nothing."""
    along, own = (error * difference).sum(axis=-1), (difference**2).sum(axis=-1)
    total = own.sum(axis=0)
    tuning = np.where(total > 0, along.sum(axis=0) / np.where(total > 0, total, 1.0), 0.0)
    return np.broadcast_to(np.clip(tuning, 0.0, 1.0), own.shape)


def _welch(
    rated: FloatArray, freedom: FloatArray, unrated: FloatArray, others: FloatArray
) -> FloatArray:
    """Degrees of freedom of a sum of two variances (Welch 1947)."""
    total: FloatArray = rated**2 / freedom + unrated**2 / np.maximum(others, 1)
    return np.where(total > 0, (rated + unrated) ** 2 / np.where(total > 0, total, 1.0), freedom)


def _mean_and_errors(
    total: FloatArray, count: FloatArray, clusters: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    """The mean over responses, and what each dialogue adds to its error, scaled for few
    dialogues."""
    responses = count.sum(axis=-1)
    mean = total.sum(axis=-1) / responses
    few = np.sqrt(clusters / (clusters - 1))
    return mean, (total - mean[..., np.newaxis] * count) * (few / responses)[..., np.newaxis]


def _t(level: float, freedom: np.ndarray) -> FloatArray:
    quantile = stdtrit(np.maximum(freedom, 1), 0.5 + level / 2.0)
    return np.where(freedom >= 1, quantile, np.nan)


def together(parts: Sequence[RatedPart]) -> RatedPart:
    """Stack the parts of several systems into one.

    Args:
        parts: one per system, all of the same shape.

    Returns:
        Arrays (systems, …); systems are the first axis.
    """
    return RatedPart(
        *(np.array([getattr(part, field.name) for part in parts]) for field in fields(RatedPart))
    )


def why_no_gain(part: RatedPart) -> str:
    """Why the metric cannot narrow the interval of one system.

    Args:
        part: sums of one system, (dialogues,) each.

    Returns:
        The reason; "" where the metric might narrow it.
    """
    clusters, others = int((part.rated > 0).sum()), int((part.unrated > 0).sum())
    if clusters == 0:
        return "no response has both a rating and a score of the metric"
    if others == 0:
        return "every response is rated: there is nothing to gain"
    if clusters < LEAST_DIALOGUES:
        return f"needs ratings in at least {LEAST_DIALOGUES} dialogues, there are {clusters}"
    if others < 2:
        return "needs responses without ratings in at least 2 dialogues, there is 1"
    means = part.metric[part.rated > 0] / part.rated[part.rated > 0]
    if np.ptp(means) <= 1e-12 * max(1.0, float(np.abs(means).max())):
        return "the metric gives all rated dialogues the same score"
    return ""


def why_no_interval(part: RatedPart) -> str:
    """Why the mean of one system's ratings alone has no interval.

    Args:
        part: sums of one system whose width is undefined, (dialogues,) each.

    Returns:
        The reason: fewer than 2 rated dialogues, or dialogues that agree to the digit.
    """
    dialogues = int((part.rated > 0).sum())
    return ONE_DIALOGUE if dialogues < 2 else why_no_spread(dialogues)


def interval_around(mean: float, width: float, reason: str = "") -> Estimate:
    """A mean with the interval of a width, centred on it.

    Args:
        mean: in rating points; NaN where the system has no ratings.
        width: of the whole interval, in rating points; NaN where it has none.
        reason: why there is no interval; "" says that there are fewer than 2 rated dialogues.

    Returns:
        Undefined where the mean is; without an interval, with the reason, where the width is
        undefined.
    """
    if not np.isfinite(mean):
        return Estimate.undefined("the system has no human ratings")
    if not np.isfinite(width):
        return Estimate(value=mean, reason=reason or ONE_DIALOGUE)
    return Estimate(value=mean, ci=(mean - width / 2.0, mean + width / 2.0))


def powered_mean_of_independent(
    human: ArrayLike, metric: ArrayLike, metric_unrated: ArrayLike, level: float = 0.95
) -> tuple[Estimate, float]:
    """PPI++ estimate of a mean from independent responses, as ``ppi-python`` computes it.

    The metric is taken as it is, so it must be on the scale of the ratings. The site does not use
    this: turns of a dialogue depend on each other.

    Args:
        human: (n,) ratings, finite.
        metric: (n,) scores of the same responses, finite.
        metric_unrated: (N,) scores of the responses without ratings, finite.
        level: confidence level, in (0, 1).

    Returns:
        (mean with its normal interval, λ in [0, 1]). The mean is undefined, and λ 0, without rated
        or without unrated responses.

    Raises:
        ValueError: ``human`` and ``metric`` differ in length.

    λ = cov(human, metric) / ((1 + n/N) · var(metric of all)), clipped to [0, 1] (Angelopoulos,
    Duchi & Zrnic 2023, PPI++).
    """
    people, seen, unseen = (
        np.asarray(one, dtype=np.float64) for one in (human, metric, metric_unrated)
    )
    if len(people) != len(seen):
        raise ValueError(
            f"{len(people)} human scores and {len(seen)} metric scores of the same responses"
        )
    if not len(people) or not len(unseen):
        return Estimate.undefined("needs rated and unrated responses"), 0.0
    spread = np.var(np.concatenate((seen, unseen)), ddof=1) if len(seen) + len(unseen) > 1 else 0.0
    covariance = np.mean((people - people.mean()) * (seen - seen.mean()))
    tuning = (
        float(np.clip(covariance / ((1 + len(people) / len(unseen)) * spread), 0.0, 1.0))
        if spread > 0
        else 0.0
    )
    mean = float(people.mean() + tuning * (unseen.mean() - seen.mean()))
    variance = np.var(people - tuning * seen) / len(people) + tuning**2 * np.var(unseen) / len(
        unseen
    )
    return interval_around(mean, float(2.0 * ndtri(0.5 + level / 2.0) * np.sqrt(variance))), tuning
