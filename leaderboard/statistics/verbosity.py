"""Verbosity: does a judge score longer responses higher, and higher than people do?"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from common.correlation import cluster_resamples, with_interval
from common.correlation.spearman import spearman_between, spearman_estimate, spearman_scores
from common.estimates import Estimate
from leaderboard.statistics.partial_rank import partial_spearman
from leaderboard.statistics.placed_scores import FloatArray, IntArray

NOBODY_RATED = "nobody has rated what the judge scored"


@dataclass(frozen=True, slots=True)
class RankWithCovariate:
    """How a judge's and people's scores go with a property of the item (its length, its place):
    Spearman's ρ each."""

    n: int
    """Items with a score of the judge and, where people rated any, of people."""
    judge: Estimate
    """ρ(judge's score, property)."""
    human: Estimate
    """ρ(people's mean, property)."""
    judge_given_human: Estimate
    """ρ(judge's score, property | people's mean): what is left of it where people are of one mind
    about the items. Zheng et al. (2023), "Judging LLM-as-a-Judge", call it verbosity bias where the
    property is length."""


def with_covariate(
    judge: FloatArray,
    human: FloatArray,
    value: FloatArray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> RankWithCovariate:
    """Rank correlations of judge and human scores with a property of the items, such as length.

    All three coefficients are of the same items: those with both scores, or, where nobody rated
    any, those that the judge scored.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.
        value: (n,) the property, finite, such as words of the response.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no intervals.
        seed: of the draws.

    Returns:
        Spearman's ρ in [−1, 1] with 95 % intervals over dialogues, without p. Undefined, with the
        reason, with too few items or a constant side; the human and the partial coefficient also
        where nobody rated what the judge scored.
    """
    both = np.isfinite(judge) & np.isfinite(human)
    if not both.any():
        scored = np.isfinite(judge)
        alone = _spearman(judge[scored], value[scored], dialogue[scored], resamples, seed)
        unknown = Estimate.undefined(NOBODY_RATED)
        return RankWithCovariate(int(scored.sum()), alone, unknown, unknown)
    judge, human, value, dialogue = judge[both], human[both], value[both], dialogue[both]
    return RankWithCovariate(
        n=len(judge),
        judge=_spearman(judge, value, dialogue, resamples, seed),
        human=_human_text(_spearman(human, value, dialogue, resamples, seed)),
        judge_given_human=partial_spearman(judge, value, human, dialogue, resamples, seed),
    )


def _spearman(
    scores: FloatArray, value: FloatArray, dialogue: IntArray, resamples: int, seed: int
) -> Estimate:
    point = spearman_estimate(value, scores)
    if not point.is_defined:
        return Estimate.undefined(_REASONS.get(point.reason, point.reason))
    point = Estimate(value=point.value)  # no p: items of one dialogue are not independent
    if not resamples:
        return point
    dialogues, index = np.unique(dialogue, return_inverse=True)
    weights = cluster_resamples(len(dialogues), resamples, seed).astype(np.float64)
    replicates = spearman_between(
        spearman_scores(scores, index, weights), spearman_scores(value, index, weights)
    )
    return with_interval(point, replicates, len(dialogues))


_REASONS = {
    "all human scores are equal": "all items are alike in it",
    "all metric scores are equal": "all scores of the judge are equal",
}
"""The coefficient speaks of a human and a metric side; here the first is the property."""


def _human_text(estimate: Estimate) -> Estimate:
    if estimate.reason == _REASONS["all metric scores are equal"]:
        return Estimate.undefined("all human scores are equal")
    return estimate


_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\s{_IDEOGRAPHS}]+")


def words_of(text: str) -> int:
    """Number of words of a text.

    Returns:
        Words separated by white space; of Chinese and Japanese, which have none, the characters. 0
        for an empty response.
    """
    return len(_WORD.findall(text))
