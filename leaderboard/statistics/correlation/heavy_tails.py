"""Where the interval of Pearson's r is not to be trusted: scores with heavy tails.

A few extreme scores decide r, and a corpus that holds none of them cannot show how much they would:
every interval that is made of the corpus, by jackknife or bootstrap, is then too narrow (Bishara &
Hittner 2017, Confidence intervals for correlations when data are not normal, Behavior Research
Methods 49). Ranks have no tails: Spearman's ρ keeps its level. ``python -m bench.heavy_tails``
measures both by the excess kurtosis that is seen.
"""

from __future__ import annotations

import numpy as np

from common.tables.numerals import written
from leaderboard.statistics.correlation.placed_scores import FloatArray

MOST_KURTOSIS = 4.0
"""Excess kurtosis, 0 of a normal distribution and 3 of a Laplace distribution."""


def excess_kurtosis(scores: FloatArray) -> float:
    """Excess kurtosis, m₄ / m₂² − 3.

    Args:
        scores: (n,) finite scores.

    Returns:
        At least −2; 0 for a normal distribution, and where all scores are equal or there are none.
    """
    squares = np.square(scores - scores.mean()) if len(scores) else np.zeros(1)
    variance = float(squares.mean())
    return float(np.square(squares).mean()) / variance**2 - 3.0 if variance > 0 else 0.0


def heavy_tail_remark(human: FloatArray, metric: FloatArray) -> str:
    """Warning beside the interval of Pearson's r, where a side has heavy tails.

    Args:
        human: (n,) human scores, finite.
        metric: (n,) metric scores of the same items, finite.

    Returns:
        The warning, about the side with the higher excess kurtosis; "" where neither exceeds
        ``MOST_KURTOSIS``.
    """
    found = [("human", excess_kurtosis(human)), ("metric", excess_kurtosis(metric))]
    side, kurtosis = max(found, key=lambda one: one[1])
    if not kurtosis > MOST_KURTOSIS:
        return ""
    return (
        f"the {side} scores have heavy tails (excess kurtosis {written(kurtosis, 1)}): the "
        "interval of Pearson's r may be too narrow; that of Spearman's ρ holds"
    )
