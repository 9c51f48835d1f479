"""Correlation corrected for the unreliability of the human scores.

People's mean score is a noisy measure of what it stands for, and noise pulls every correlation with
it towards 0. Spearman (1904, The proof and measurement of association between two things) divides
by the root of the reliability: r / √reliability is the correlation with the mean of endless such
raters, were the noise of people unrelated to the metric. The metric's own noise is the metric's,
and stays.

An interval may speak of the limit of many dialogues already, as those of systems do: people's noise
is out of it, and dividing it would take the noise out twice.
"""

from __future__ import annotations

import math

from common.estimates import Estimate

NO_TAU = "the correction is of r and ρ: there is none for τ"


def corrected_for_unreliability(
    correlation: Estimate, reliability: Estimate, interval_is_of_the_limit: bool = False
) -> Estimate:
    """Correlation corrected for attenuation: r / √reliability.

    Args:
        correlation: r or ρ of a metric with the mean human score.
        reliability: Reliability of the mean human score at the same level (split-half, stepped up).
        interval_is_of_the_limit: Whether the interval already speaks of the limit of many
            dialogues. It is then not divided.

    Returns:
        Undefined where the correlation or the reliability is undefined, or the reliability is 0 or
        less. Above 1 where noise made the reliability look smaller than it is: never cut. The
        interval is that of the correlation, divided likewise, the reliability taken as known. No p:
        that of the correlation holds.

    Equation: Spearman (1904), The proof and measurement of association between two things.
    """
    if correlation.value is None:
        return correlation
    if reliability.value is None:
        return Estimate.undefined(
            f"the reliability of the human scores is unknown: {reliability.reason}"
        )
    if reliability.value <= 0:
        return Estimate.undefined(f"the human scores have no reliability ({reliability.value:.2f})")
    by = math.sqrt(reliability.value)
    ends = correlation.ci
    if ends is not None and not interval_is_of_the_limit:
        ends = (ends[0] / by, ends[1] / by)
    return Estimate(value=correlation.value / by, ci=ends, reason=correlation.reason)
