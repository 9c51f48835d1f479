"""Strict and lenient raters: system means with the raters' severity taken out.

The model is linear and crossed, with the score of rater r for item i, one response of system s in
dialogue d:

    y = μ_s + dialogue_d + item_i + severity_r + error   (system fixed; the others random, normal)

Its variance components are those of restricted maximum likelihood (Patterson & Thompson 1971);
given these, Henderson's mixed-model equations (Henderson 1975) give the best linear unbiased
estimates of μ and predictions of severity, which draw raters with few ratings towards the mean
rater. The criterion and its parameters (relative standard deviations) are those of Bates, Mächler,
Bolker & Walker (2015), "Fitting linear mixed-effects models using lme4", section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from common.correlation.identical import agree_to_the_digit, why_no_spread
from common.estimates import Estimate, Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.ranking.crossed_ratings import (
    CrossedRatings,
    NormalEquations,
    of_groups,
)

GROUPS = 60
"""Dialogues are left out one by one, or, of more than this, in so many groups of near equal
size."""
MOST_EFFECTS = 4000
"""Systems, dialogues and raters together: the equations of the means are solved as one dense
matrix."""


@dataclass(frozen=True, slots=True)
class SeverityCorrected:
    """Arrays are in the order of the systems and raters of the ratings that were given."""

    systems: tuple[Estimate, ...]
    """Means as the average rater of the panel would give them, 95 % interval over dialogues."""
    severity: tuple[Estimate, ...]
    """Rating points by which a rater's scores lie *below* the panel's mean, all else equal;
    negative where lenient. Shrunk; the 95 % interval is of the prediction given the variance
    components (1.96 standard errors)."""
    deviation: dict[str, float]
    """Standard deviations of ``rater``, ``item``, ``dialogue`` and ``error``, in rating points."""
    ratings: int
    groups: int
    """How many groups of dialogues were left out in turn for the intervals of the systems."""


def correct_severity(ratings: CrossedRatings) -> SeverityCorrected | Undefined:
    """System means corrected for the severity of raters, and the severities.

    Args:
        ratings: one entry per rating, in rating points.

    Returns:
        Means, severities and standard deviations, all in rating points. A system without ratings
        has no mean; its mean has no interval with fewer than 2 rated dialogues, where leaving out a
        group of dialogues leaves a system without ratings, and where its dialogues agree to the
        digit. Severities are 0, without an interval, where the variance of raters is estimated as
        0. Undefined, with the reason, where raters are not identified, there are fewer than 2, all
        scores are equal, raters and systems fall into groups that share no rating, there are more
        than 4000 systems, dialogues and raters together, or fewer ratings than rated systems plus
        3.

    The interval of a system: its estimate is recomputed without each dialogue, or each of 60 groups
    of dialogues (variance components kept), and the jackknife variance (Efron & Stein 1981) is
    taken over the dialogues in which it was rated, and over the others, which matter to it by its
    raters alone. To these is added what the raters' luck still is, σ²_rater · Σ_r (c_sr − 1/R)²,
    c_sr being rater r's weight in the mean of system s: zero where all raters rated alike.
    Student's t with one degree of freedom less than the system has dialogues of its own (or groups
    of them): a system that was rated in two tells as little about its variance as if no other had
    been rated.
    """
    if reason := _why_not(ratings):
        return Undefined(reason)
    equations = NormalEquations.of(ratings)
    relative = _relative_deviations(equations, ratings)
    fit = equations.solve(relative)
    residual = float(np.sqrt(fit.variance))
    systems, raters = ratings.systems, ratings.raters
    without = [
        part.solve(relative).effects[:systems] if part.number else None
        for part in (equations.without(group) for group in of_groups(ratings, GROUPS))
    ]
    luck = (fit.rater_weights(systems, raters) - 1.0 / raters) ** 2
    leftover = fit.variance * relative[2] ** 2 * luck.sum(axis=1)
    severity = -fit.effects[-raters:]
    prediction_error = fit.panel_deviation(raters)
    return SeverityCorrected(
        systems=tuple(
            _with_interval(
                ratings, number, float(fit.effects[number]), without, float(leftover[number])
            )
            for number in range(systems)
        ),
        severity=tuple(
            _severity_of(float(value), float(error) * residual, relative[2])
            for value, error in zip(severity, prediction_error, strict=True)
        ),
        deviation={
            "dialogue": residual * relative[1],
            "error": residual,
            "item": residual * relative[0],
            "rater": residual * relative[2],
        },
        ratings=len(ratings.scores),
        groups=len(without),
    )


def _why_not(ratings: CrossedRatings) -> str:
    if ratings.rater_kind == "aggregate":
        return "the corpus holds mean scores, not raters"
    if ratings.rater_kind == "anonymous":
        return (
            "raters are anonymous, and a place in the list is not a person whose severity could "
            "be known"
        )
    used = np.unique(ratings.rater)
    if len(used) < 2:
        return f"severity is relative to other raters: needs at least 2, there are {len(used)}"
    if np.ptp(ratings.scores) == 0:
        return "all scores are equal"
    if parts := _parts(ratings):
        return parts
    effects = ratings.systems + ratings.dialogues + ratings.raters
    if effects > MOST_EFFECTS:
        return (
            f"{effects:,} systems, dialogues and raters are more than the {MOST_EFFECTS:,} that "
            "are solved at once"
        )
    if len(ratings.scores) < len(np.unique(ratings.system)) + 3:
        return "there are too few ratings for the systems and raters"
    return ""


def _parts(ratings: CrossedRatings) -> str:
    """Raters and systems form a graph, a rating being an edge: what is not connected is not
    comparable."""
    nodes = ratings.raters + ratings.systems
    edges = coo_array(
        (np.ones(len(ratings.scores)), (ratings.rater, ratings.raters + ratings.system)),
        shape=(nodes, nodes),
    )
    labels = connected_components(edges, directed=False)[1]
    used = np.unique(np.concatenate((ratings.rater, ratings.raters + ratings.system)))
    parts = len(np.unique(labels[used]))
    if parts == 1:
        return ""
    return (
        f"raters and systems fall into {parts} groups that share no rating: whether a group has "
        "better systems or milder raters cannot be told"
    )


def _relative_deviations(equations: NormalEquations, ratings: CrossedRatings) -> FloatArray:
    """Standard deviations of item, dialogue and rater effects as multiples of the error's, by
    REML."""
    from scipy.optimize import minimize  # takes a while to load, and only this needs it

    # With one rating an item, its effect and the error are one
    items_repeat = (np.bincount(ratings.item) > 1).any()
    free = np.array([items_repeat, len(np.unique(ratings.dialogue)) > 1, True])

    def relative(given: FloatArray) -> FloatArray:
        full = np.zeros(3)
        full[free] = given
        return full

    found = minimize(
        lambda given: equations.solve(relative(given)).criterion,
        np.full(int(free.sum()), 0.5),
        method="L-BFGS-B",
        bounds=[(0.0, 50.0)] * int(free.sum()),
        options={"ftol": 1e-10, "gtol": 1e-6, "maxiter": 100},
    )
    return relative(np.asarray(found.x))


def _with_interval(
    ratings: CrossedRatings,
    number: int,
    value: float,
    without: list[FloatArray | None],
    leftover: float,
) -> Estimate:
    mine = ratings.system == number
    if not mine.any():
        return Estimate.undefined("the system has no human ratings")
    if len(np.unique(ratings.dialogue[mine])) < 2:
        return Estimate(
            value=value, reason="an interval over dialogues needs at least 2 rated dialogues"
        )
    again = np.array(
        [one[number] for one in without if one is not None and np.isfinite(one[number])]
    )
    if len(again) < 2 or len(again) < len(without):
        return Estimate(
            value=value, reason="leaving out one group of dialogues leaves a system without ratings"
        )
    # The groups of ``of_groups`` that hold its ratings
    own = np.unique(ratings.dialogue[mine] % len(without))
    squares = (again - again.mean()) ** 2
    of_own, of_others = float(squares[own].sum()), float(np.delete(squares, own).sum())
    variance = _jackknifed(of_own, len(own)) + _jackknifed(of_others, len(again)) + leftover
    if agree_to_the_digit(again[own]):
        return Estimate(value=value, reason=why_no_spread(len(own)))
    half = float(stdtrit(len(own) - 1, 0.975)) * float(np.sqrt(variance))
    return Estimate(value=value, ci=(value - half, value + half))


def _jackknifed(squares: float, groups: int) -> float:
    return (groups - 1) / groups * squares


def _severity_of(value: float, error: float, relative: float) -> Estimate:
    if relative == 0.0:
        return Estimate(
            value=0.0, reason="raters differ no more than chance would have them differ"
        )
    return Estimate(value=value, ci=(value - 1.96 * error, value + 1.96 * error))
