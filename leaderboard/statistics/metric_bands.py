"""Bands of metrics: a new band starts with a metric that is told apart from one of the band above.

Metrics are taken from the highest coefficient down. A metric opens a new band where it is significantly below *any*
metric of the band that is open; else it joins that band. So no two metrics of a band can be told apart, and every
band's first metric is below one at least of the band above, though not always below all of it. These are the clusters
of WMT's metrics tasks (Freitag et al. 2022, Results of WMT22 Metrics Shared Task). To wait for a metric below *all* of
the open band would put dozens of metrics into one band, of which the first and the last differ clearly.
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
        if not members or any(value < above and p[place, other] < level for above, other in members):
            band, members = band + 1, []
        members.append((value, place))
        bands[place] = band
    return bands
