"""Compact letter display: two metrics share a letter exactly where no test tells them apart.

Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons, Journal
of Computational and Graphical Statistics 13: begin with one group of all; for each significant
pair, replace each group that holds both by the group without the one and the group without the
other; drop groups that lie within another. Groups may overlap and have gaps, for so do the tests:
"not significantly different" is not transitive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.05


def compact_letters(
    values: Sequence[float | None], adjusted_p: ArrayLike, level: float = LEVEL
) -> list[list[int]]:
    """Compact letter display: the groups ("letters") of every metric.

    Args:
        values: (m,) coefficients, which order the groups: 0, the letter "a", holds the highest.
            None or NaN for a metric without a coefficient.
        adjusted_p: (m, m), symmetric; p of each pair, adjusted for the number of pairs. NaN where a
            pair could not be tested: it counts as not significantly different.
        level: Two metrics differ significantly where p is below it.

    Returns:
        (m,) lists of group numbers, such as [0, 1], which is "ab"; empty without a coefficient.

    Raises:
        ValueError: ``adjusted_p`` is not (m, m).

    Algorithm: Piepho (2004).
    """
    p = np.asarray(adjusted_p, dtype=np.float64)
    if p.shape != (len(values), len(values)):
        raise ValueError(f"need a p for every pair of {len(values)} metrics, got shape {p.shape}")
    defined = [row for row, value in enumerate(values) if value is not None and not np.isnan(value)]
    order = sorted(defined, key=lambda row: (-float(values[row] or 0.0), row))
    groups = [frozenset(range(len(order)))] if order else []  # of ranks in the order
    for first in range(len(order)):
        for second in range(first + 1, len(order)):
            if p[order[first], order[second]] < level:
                groups = _split(groups, first, second)
    groups.sort(key=sorted)
    found: list[list[int]] = [[] for _ in values]
    for rank, row in enumerate(order):
        found[row] = [number for number, group in enumerate(groups) if rank in group]
    return found


def _split(groups: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    remaining = [group for group in groups if not {first, second} <= group]
    for group in groups:
        if {first, second} <= group:
            for part in (group - {first}, group - {second}):
                if not any(part <= other for other in remaining):
                    remaining = [other for other in remaining if not other <= part] + [part]
    return remaining
