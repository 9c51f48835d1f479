"""Bands of metrics: a new band starts with a metric that is told apart from one of the band above.

Metrics are taken from the highest coefficient down. A metric opens a new band where it is significantly below *any*
metric of the band that is open; else it joins that band. So no metric is significantly below one above it in its band,
and every band's first metric is below one at least of the band above, though not always below all of it. These are the
clusters of WMT's metrics tasks (Freitag et al. 2022, Results of WMT22 Metrics Shared Task). To wait for a metric below
*all* of the open band would put dozens of metrics into one band, of which the first and the last differ clearly.

Each coefficient is of all that a metric scored, a difference of what both scored. Where these point in opposite
directions, a difference says nothing of who is below: then the two share a band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.05


def metric_bands(
    coefficients: Sequence[float | None], differences: ArrayLike, adjusted_p: ArrayLike, level: float = LEVEL
) -> list[int | None]:
    """The band of every metric, from 1; None for a metric without a coefficient.

    ``coefficients``: (m,), higher is better. ``differences``: (m, m), the row's coefficient less the column's on what
    both scored. ``adjusted_p``: (m, m), symmetric, of that difference, two sided, adjusted for the number of pairs.
    Both NaN where a pair could not be tested, which tells nothing apart.
    """
    ahead, p = np.asarray(differences, dtype=np.float64), np.asarray(adjusted_p, dtype=np.float64)
    square = (len(coefficients), len(coefficients))
    if p.shape != square or ahead.shape != square:
        raise ValueError(
            f"need a difference and a p-value for every pair of {len(coefficients)} metrics, "
            f"got shapes {ahead.shape} and {p.shape}"
        )
    values = [(value, place) for place, value in enumerate(coefficients) if value is not None and not np.isnan(value)]
    bands: list[int | None] = [None] * len(coefficients)
    band, members = 0, list[int]()
    for _, place in sorted(values, key=lambda one: (-one[0], one[1])):
        if not members or any(ahead[above, place] > 0 and p[above, place] < level for above in members):
            band, members = band + 1, []
        members.append(place)
        bands[place] = band
    return bands
