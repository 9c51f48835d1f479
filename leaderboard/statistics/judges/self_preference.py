"""Self-preference: does a judge score systems of its own model family above what people make of
them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from common.estimates import Estimate, Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.judges.standardised_gaps import (
    difference_of_means,
    mean_gap,
    standardised_gaps,
)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How far a judge scores systems of its own family and others above human scores."""

    own: Estimate
    """Mean of z(judge) − z(people) over responses of systems of the judge's family, in standard
    deviations."""
    others: Estimate
    """The same over systems of other families; systems whose family is not known are in neither."""
    difference: Estimate
    """own − others; above 0 where the judge favours its family. 95 % interval over dialogues.

    With people's scores taken off, a family that is better is not one that is preferred
    (Panickssery et al. 2024, "LLM Evaluators Recognize and Favor Their Own Generations", hold
    against human judgements for that reason)."""
    own_systems: int
    other_systems: int
    unknown_systems: int


def self_preference(
    judge: FloatArray,
    human: FloatArray,
    system: IntArray,
    dialogue: IntArray,
    judge_family: str,
    families: Sequence[str],
    resamples: int = 1000,
    seed: int = 0,
) -> SelfPreference:
    """Whether a judge scores systems of its own model family above what human raters give them.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.
        system: (n,) numbers from 0.
        dialogue: (n,) numbers.
        judge_family: model family of the judge; "" where it is not known.
        families: that of each system, in the order of their numbers; "" where it is not known.
        resamples: bootstrap draws of dialogues; 0: no intervals.
        seed: of the draws.

    Returns:
        Mean gaps between the judge's and the human z-scores, in standard deviations. All three are
        undefined, with the reason, where the judge's family is not known, no system is known to be
        of it or of another, fewer than 2 items have both scores, or either side's scores are
        constant; one alone where its group has no item with both scores.
    """
    own = np.array(
        [bool(judge_family) and family == judge_family for family in families], dtype=bool
    )
    known = np.array([bool(family) for family in families], dtype=bool)
    others = known & ~own
    counts = (int(own.sum()), int(others.sum()), int((~known).sum()))
    reason = _why_not(judge_family, *counts)
    gaps = standardised_gaps(judge, human)
    if isinstance(gaps, Undefined):
        reason = reason or gaps.reason
    if reason or isinstance(gaps, Undefined):
        unknown = Estimate.undefined(reason)
        return SelfPreference(unknown, unknown, unknown, *counts)
    ours, theirs = own[system], others[system]
    return SelfPreference(
        mean_gap(gaps, ours, dialogue, resamples, seed),
        mean_gap(gaps, theirs, dialogue, resamples, seed),
        difference_of_means(gaps, ours, theirs, dialogue, resamples, seed),
        *counts,
    )


def _why_not(judge_family: str, own: int, others: int, unknown: int) -> str:
    if not judge_family:
        return "the judge's name says no model family"
    if not own and not others:
        return "no system's name says a model family" if unknown else "there are no systems"
    if not own:
        return f"no system is known to be of the judge's family, {judge_family}"
    if not others:
        return f"no system is known to be of another family than the judge's, {judge_family}"
    return ""
