"""Whether a finite Bradley–Terry strength exists: the graph of who beat or tied whom.

Ford (1957), Solution of a ranking problem from binary comparisons, American Mathematical Monthly
64: the likelihood has one finite maximum exactly where every system can be reached from every other
one by steps "beat or tied". Else some group never lost to the rest, and the likelihood grows
without end as its strengths do; or two groups never met.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from leaderboard.statistics.correlation.placed_scores import FloatArray

NAMED = 4
"""Larger groups are counted, not listed."""


def is_strongly_connected(wins: FloatArray) -> NDArray[np.bool_]:
    """Whether each table of wins has finite strengths.

    Args:
        wins: (B, S, S) wins of the row over the column, ties as half wins.

    Returns:
        (B,).
    """
    beat = wins > 0
    size = wins.shape[-1]
    found = np.asarray((beat | np.eye(size, dtype=bool)).all(axis=(1, 2)))
    if not (others := np.flatnonzero(~found)).size:
        return found
    reach = (beat[others] | np.eye(size, dtype=bool)).astype(np.float32)
    for _ in range(ceil(log2(max(size, 2)))):  # paths of twice the length each time
        reach = (reach @ reach > 0).astype(np.float32)
    found[others] = reach.all(axis=(1, 2))
    return found


def components(wins: ArrayLike, connection: str = "strong") -> list[list[int]]:
    """Groups of systems within which strengths compare.

    Args:
        wins: (S, S) wins of the row over the column, ties as half wins.
        connection: "strong": each can be reached from each by "beat or tied"; "weak": linked by
            battles, whoever won.

    Returns:
        Lists of system numbers, rising; the largest group first, equal ones by their first system.
    """
    labels = connected_components(np.asarray(wins) > 0, directed=True, connection=connection)[1]
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return sorted(groups, key=lambda group: (-len(group), group))


def why_undefined(wins: ArrayLike, names: Sequence[str]) -> str:
    """Why there are no strengths, with the groups by name.

    Args:
        wins: (S, S) wins of the row over the column, ties as half wins.
        names: (S,) of the systems.

    Returns:
        A sentence without its full stop; "" where there are strengths.
    """
    if len(names) < 2:
        return "there is one system only"
    apart = components(wins, "weak")
    if len(apart) > 1:
        return (
            "the systems fall into groups that never met, whose strengths do not compare: "
            + _listed(apart, names)
        )
    groups = components(wins)
    if len(groups) == 1:
        return ""
    won = np.asarray(wins, dtype=np.float64)
    for group in sorted(groups, key=len):
        rest = [number for number in range(len(names)) if number not in group]
        out, back = won[np.ix_(group, rest)].sum(), won[np.ix_(rest, group)].sum()
        if out == 0 or back == 0:
            verb = "won" if back == 0 else "lost"
            return (
                f"{_named(group, names)} {verb} every battle against the others, so no finite "
                "strength fits best (Ford 1957). Groups within which strengths would compare: "
                + _listed(groups, names)
            )
    raise AssertionError("an acyclic graph of groups has an end")


def _listed(groups: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    shown = "; ".join(f"{{{_named(group, names)}}}" for group in groups[:NAMED])
    more = len(groups) - NAMED
    return f"{shown}; and {more} more" if more > 0 else shown


def _named(group: Sequence[int], names: Sequence[str]) -> str:
    listed = ", ".join(names[number] for number in group[:NAMED])
    return f"{listed} and {len(group) - NAMED} more" if len(group) > NAMED else listed
