"""Signs of careless rating (Meade and Craig 2012): too fast, one score throughout, no agreement
with the others, attention items missed. A flag is a question to the organiser and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotations.campaigns.rater_statistics.own_ratings import ChecksPassed, Pace
from common.estimates import Estimate

FlagKind = Literal["fast", "straight-lining", "alpha", "attention"]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LEAST_ITEMS = 10
"""A median, a share or α of fewer items is mostly chance (``agreement.tabulation``)."""
LEAST_CHECKS = 2
STRAIGHT_LINING_SHARE = 0.8
STRAIGHT_LINING_EXCESS = 0.25
ATTENTION_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class QualityFlag:
    """``value`` is what was measured on ``items`` items, ``limit`` what the rule compares it with:

    * fast: median seconds per item, below ``limit``.
    * straight-lining: share of the most frequent ``score``, at least ``limit`` and at least
      ``STRAIGHT_LINING_EXCESS`` above ``others``, the share of that score in the others' ratings
      of the same items.
    * alpha: Krippendorff's α of all pairs that the rater is part of, below ``limit``.
    * attention: share of attention items outside their range, at least ``limit``.
    """

    kind: FlagKind
    value: float
    limit: float
    items: int
    score: int | None = None
    others: float | None = None
    ci: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class MostFrequentScore:
    """The score that a rater gave most often (the lower of a tie), on the ``items`` that others
    judged, too; ``share`` of it there, and ``others``, its share in the others' ratings of each of
    these items, averaged over items."""

    score: int
    items: int
    share: float
    others: float


def most_frequent_score(
    scores: FloatArray, counts: BoolArray, row: int
) -> MostFrequentScore | None:
    """Straight-lining against what the others gave to the same items.

    Args:
        scores: (raters, items), NaN where not judged.
        counts: (raters, items), which ratings are part of the others' share.
        row: the rater.

    Returns:
        None where nobody else judged the rater's items.
    """
    others = counts & ~np.isnan(scores)
    others[row] = False
    number = others.sum(axis=0)
    shared = ~np.isnan(scores[row]) & (number > 0)
    if not shared.any():
        return None
    levels, times = np.unique(scores[row, shared], return_counts=True)
    score = levels[times.argmax()]
    same = ((scores == score) & others).sum(axis=0)[shared] / number[shared]
    items = int(shared.sum())
    return MostFrequentScore(int(score), items, float(times.max() / items), float(same.mean()))


def quality_flags(
    *,
    pace: Pace,
    frequent: MostFrequentScore | None,
    alpha: Estimate,
    alpha_items: int,
    attention: ChecksPassed,
    fast_seconds: float,
) -> tuple[QualityFlag, ...]:
    """The rules that a rater breaks, in the order of ``FlagKind``.

    Args:
        pace: median active seconds per item; undefined breaks no rule.
        frequent: the most frequent score beside the others' (``most_frequent_score``).
        alpha: Krippendorff's ordinal α with the others; undefined breaks no rule.
        alpha_items: how many items it stands on.
        attention: attention items within their range, of those judged.
        fast_seconds: a smaller median is flagged.

    Returns:
        The flags; none of fewer than ``LEAST_ITEMS`` items, of attention items ``LEAST_CHECKS``.
    """
    flags = []
    if pace.seconds is not None and pace.timed >= LEAST_ITEMS and pace.seconds < fast_seconds:
        flags.append(QualityFlag("fast", pace.seconds, fast_seconds, pace.timed))
    if (
        frequent is not None
        and frequent.items >= LEAST_ITEMS
        and frequent.share >= STRAIGHT_LINING_SHARE
        and frequent.share - frequent.others >= STRAIGHT_LINING_EXCESS
    ):
        flags.append(
            QualityFlag(
                "straight-lining",
                frequent.share,
                STRAIGHT_LINING_SHARE,
                frequent.items,
                score=frequent.score,
                others=frequent.others,
            )
        )
    if alpha.value is not None and alpha_items >= LEAST_ITEMS and alpha.value < 0:
        flags.append(QualityFlag("alpha", alpha.value, 0.0, alpha_items, ci=alpha.ci))
    missed = attention.judged - attention.passed
    if attention.judged >= LEAST_CHECKS and missed / attention.judged >= ATTENTION_SHARE:
        flags.append(
            QualityFlag("attention", missed / attention.judged, ATTENTION_SHARE, attention.judged)
        )
    return tuple(flags)
