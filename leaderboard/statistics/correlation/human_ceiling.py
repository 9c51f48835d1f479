"""The highest correlation with the mean human score that a perfect metric could reach:
√reliability.

A metric that knew the true score, the mean of endless such raters, would still be held against the
mean of a few, and correlate with it at the square root of that mean's reliability (attenuation,
Spearman 1904). Agreement of one rater with the others, and of halves of the raters, lies below
that: both sides are noisy there, and of fewer raters.
"""

from __future__ import annotations

import math
from typing import Literal

from common.estimates import Estimate
from common.tables.numerals import written

CeilingLevel = Literal["turn", "dialogue", "system"]
LEVELS: tuple[CeilingLevel, ...] = ("turn", "dialogue", "system")


def correlation_ceiling(reliability: Estimate) -> Estimate:
    """√reliability: the highest correlation with the mean human score that a metric could reach.

    Args:
        reliability: Reliability of the mean human score that metrics are correlated with
            (``split_half``).

    Returns:
        √reliability with the interval of √reliability, in [0, 1]. Undefined where the reliability
        is undefined, or 0 or less. An end of the interval below 0 becomes 0.

    Equation: Spearman (1904), attenuation.
    """
    if reliability.value is None:
        return reliability
    if reliability.value <= 0:
        return Estimate.undefined(
            "the raters do not agree with each other (reliability "
            f"{written(reliability.value, 2)}), so there is no highest possible correlation"
        )
    ends = reliability.ci
    ci = None if ends is None else (math.sqrt(max(ends[0], 0.0)), math.sqrt(ends[1]))
    return Estimate(math.sqrt(reliability.value), ci=ci, reason=reliability.reason)
