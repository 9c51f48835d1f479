"""Bands of metrics: a new band starts with a metric that is told apart from all of the band above.

Metrics are taken from the highest coefficient down. A metric opens a new band where it is significantly below *every*
metric of the band that is open; else it joins that band. So every band's first metric is told from all of the band
above, and within a band there is for each metric one at least that it cannot be told from. WMT's clusters of metrics
are made the same way, but start a new one already where *any* metric of the open one is told apart (Freitag et al.
2023, Results of WMT23 Metrics Shared Task); with the coarser rule a band never splits two metrics because of a third.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.05


def metric_bands(coefficients: Sequence[float | None], adjusted_p: ArrayLike, level: float = LEVEL) -> list[int | None]:
    """The band of every metric, from 1; None for a metric without a coefficient.

    ``coefficients``: (m,), higher is better. ``adjusted_p``: (m, m), symmetric, of the difference of two metrics, two
    sided, adjusted for the number of pairs; NaN where a pair could not be tested, which tells nothing apart.
    """
    p = np.asarray(adjusted_p, dtype=np.float64)
    if p.shape != (len(coefficients), len(coefficients)):
        raise ValueError(f"need a p-value for every pair of {len(coefficients)} metrics, got shape {p.shape}")
    values = [(value, place) for place, value in enumerate(coefficients) if value is not None and not np.isnan(value)]
    bands: list[int | None] = [None] * len(coefficients)
    band, members = 0, list[tuple[float, int]]()
    for value, place in sorted(values, key=lambda one: (-one[0], one[1])):
        if all(value < above and p[place, other] < level for above, other in members):
            band, members = band + 1, []
        members.append((value, place))
        bands[place] = band
    return bands
