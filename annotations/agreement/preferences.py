"""Agreement of preferences between two: the share of pairs of raters that agree, with and without
ties (MT-bench's setups S1 and S2).

S1 counts all pairs of votes on a comparison, a tie being a third answer, so that chance agrees in
one third; S2 only those in which neither is a tie, where chance agrees in one half (Zheng et al.
2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, table 5). Votes are pooled over
comparisons. α and κ are in ``krippendorff`` and ``cohen``, over b < tie < a.
"""

from __future__ import annotations

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.means import ratio
from annotations.agreement.tabulation import FloatArray, IntArray
from common.estimates import Estimate

CHANCE_WITH_TIES, CHANCE_WITHOUT_TIES = 1 / 3, 1 / 2


def agreeing_votes(
    votes: FloatArray, dialogue: IntArray, jackknife: Jackknife
) -> tuple[Estimate, Estimate]:
    """The share of agreeing pairs of votes, with ties (S1) and without (S2).

    Args:
        votes: (raters, comparisons): above 0 for A, below for B, 0 for a tie, NaN for no vote.
        dialogue: (comparisons,) the dialogue of each, from 0.
        jackknife: which dialogues are left out, for the intervals.

    Returns:
        S1 and S2 with their 95 % intervals. Undefined where no comparison has two votes (of S2: two
        that are no ties).
    """
    counts = [(np.sign(votes) == sign).sum(axis=0).astype(np.float64) for sign in (1, -1, 0)]
    decisive = counts[0] + counts[1]
    with_ties = ratio(
        _pairs(counts[0]) + _pairs(counts[1]) + _pairs(counts[2]),
        _pairs(decisive + counts[2]),
        dialogue,
        jackknife,
        "no comparison has two votes",
    )
    without_ties = ratio(
        _pairs(counts[0]) + _pairs(counts[1]),
        _pairs(decisive),
        dialogue,
        jackknife,
        "no comparison has two votes that are no ties",
    )
    return with_ties, without_ties


def _pairs(count: FloatArray) -> FloatArray:
    return count * (count - 1.0) / 2.0
