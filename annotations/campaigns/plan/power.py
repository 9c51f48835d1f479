"""Power analysis of a campaign before it begins: the smallest difference of two systems that it
finds. Pure: no Django here.

A rating has the variance σ². Raters of one response have half of it in common, so that k of them
leave v(σ²) = σ² (½ + ½ / k). Nothing else is taken to make a comparison surer: neither that two
systems answer one dialogue, nor that a dialogue has several turns. What a two-sided test at 5 %
finds with 80 % power in n dialogues:

* two means: Δ = δ √(2 v(σ²) / n), δ the noncentrality at which Student's t of n − 1 degrees of
  freedom has that power (Cohen 1988, Statistical Power Analysis, chapter 2);
* two shares: Δ = z √(2 v(¼) / n), z = z.975 + z.80, the variance being largest at ½ (chapter 6);
* a win rate, from one half: Δ = z √(v(¼) / n), ties as half a win;
* two mean ranks of S systems: Δ = z √(v(S (S + 1) / 6) / n), the variance where nothing tells them
  apart (Friedman 1937); where the best and the worst alone are named, v(S − 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import nctdtrinc, ndtri, stdtrit

from annotations.questions.schema import CONSEQUENCES, Comparison, Question

POWER, LEVEL = 0.80, 0.05
SHARED_BY_RATERS = 0.5
"""Of a rating's variance, what raters of one response have in common (ICC). Below .5 agreement is
poor (Koo and Li 2016), and a further rater brings more than is said here."""
SCALE_IN_DEVIATIONS = 4
"""The range rule of thumb (Hozo, Djulbegovic and Hozo 2005): a scale is four standard deviations
wide."""
VARIANCE_AT_ONE_HALF = 0.25
UNITS = {
    "means": "dialogues a system",
    "shares": "dialogues a system",
    "win rates": "dialogues a pair of systems",
    "mean ranks": "dialogues",
}


@dataclass(frozen=True, slots=True)
class Design:
    """``dialogues``: of each system, of every two systems, or of lists of all systems."""

    dialogues: int
    raters: int
    systems: int


@dataclass(frozen=True, slots=True)
class Detectable:
    """``difference``: of means in points, of shares from 0 to 1, of mean ranks, of a win rate from
    one half; None with a reason. Where means are compared, ``scale`` has the lowest and the highest
    score, ``deviation`` the standard deviation of single ratings."""

    comparison: Comparison
    difference: float | None
    reason: str = ""
    scale: tuple[float, float] | None = None
    deviation: float | None = None


def detectable_difference(
    question: Question, design: Design, deviation: float | None = None
) -> Detectable:
    """The smallest difference of two systems that is significant with 80 % power.

    Args:
        question: what raters are asked; its level of measurement decides what is compared.
        design: what the campaign collects.
        deviation: standard deviation of single ratings of one system, above 0; None: a quarter of
            the scale.

    Returns:
        Without a difference, and with a reason, for free text, for scores without a lowest or with
        one value alone, for orders of anything but systems, for fewer than two systems or
        dialogues, and where not even the largest possible difference is found.
    """
    comparison = CONSEQUENCES[question.measurement].comparison
    scale = scale_of(question) if comparison == "means" else None
    width = scale[1] - scale[0] if scale else 0.0
    if scale and deviation is None:
        deviation = width / SCALE_IN_DEVIATIONS
    if reason := _why_not(question, comparison, design, scale):
        return Detectable(comparison, None, reason, scale, deviation)
    dialogues, systems = design.dialogues, design.systems
    noncentrality = ndtri(1 - LEVEL / 2) + ndtri(POWER)
    match comparison:
        case "means":
            largest, variance = width, 2 * (deviation or 0.0) ** 2
            bound = stdtrit(dialogues - 1, 1 - LEVEL / 2)
            noncentrality = nctdtrinc(dialogues - 1, 1 - POWER, bound)
        case "shares":
            largest, variance = 1.0, 2 * VARIANCE_AT_ONE_HALF
        case "win rates":
            largest, variance = 0.5, VARIANCE_AT_ONE_HALF
        case _:
            largest = systems - 1.0
            variance = largest if question.type == "best_worst" else systems * (systems + 1) / 6
    variance *= SHARED_BY_RATERS + (1 - SHARED_BY_RATERS) / design.raters
    difference = float(noncentrality) * math.sqrt(variance / dialogues)
    if difference > largest:
        reason = f"{dialogues} {UNITS[comparison]} are too few to find any difference"
        return Detectable(comparison, None, reason, scale, deviation)
    return Detectable(comparison, difference, "", scale, deviation)


def scale_of(question: Question) -> tuple[float, float]:
    """The lowest and the highest score of a question whose answers are averaged.

    Args:
        question: a scale, a slider, or options with values.

    Returns:
        (lowest, highest); of multiple choice, shares of the sum of all positive values.
    """
    if question.type in ("scale", "slider"):
        return float(question.minimum), float(question.maximum)
    values = [float(option.value or 0) for option in question.options]
    if question.type == "choices":
        return sum(min(0.0, one) for one in values) / sum(max(0.0, one) for one in values), 1.0
    return min(values), max(values)


def _why_not(
    question: Question,
    comparison: Comparison,
    design: Design,
    scale: tuple[float, float] | None,
) -> str:
    if comparison == "none":
        return "free text is not averaged"
    if question.type == "span" and question.scores:
        return "a sum of penalties has no lowest score"
    if comparison == "mean ranks" and question.options:
        return "it orders its own options, not systems"
    if scale and scale[0] == scale[1]:
        return "all its answers have one value"
    if design.systems < 2:
        return "two systems are needed"
    if design.dialogues < 2:
        return f"at least 2 {UNITS[comparison]} are needed"
    return ""
