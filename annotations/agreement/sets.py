"""Agreement on sets of labels (multiple choice): Krippendorff's α with the MASI distance.

MASI (Passonneau 2006, Measuring Agreement on Set-valued Items, LREC) is 1 − J · M of two sets, with
Jaccard's J = |A ∩ B| / |A ∪ B| and M = 1 where they are equal, 2/3 where one holds the other, 1/3
where they overlap otherwise, and 0 where they share nothing. Two empty sets are equal.
"""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import alpha_with_distance, coincidences_by_dialogue
from annotations.agreement.tabulation import FloatArray, Tabulation
from common.estimates import Estimate


def masi_distance(one: Set[str], other: Set[str]) -> float:
    """How far two sets are apart, from 0 (equal) to 1 (nothing in common).

    Args:
        one: a set of labels.
        other: another.

    Returns:
        1 − J · M.
    """
    if one == other:
        return 0.0
    shared = len(one & other)
    monotonicity = 2 / 3 if one <= other or other <= one else 1 / 3
    return 1.0 - shared / len(one | other) * monotonicity


def masi_alpha(
    table: Tabulation, sets: tuple[frozenset[str], ...], jackknife: Jackknife
) -> Estimate:
    """Krippendorff's α of sets under the MASI distance.

    Args:
        table: which set each rater gave to each item; a level is the index of a set.
        sets: the different sets.
        jackknife: which dialogues are left out, for the interval.

    Returns:
        α in (−∞, 1] with its 95 % interval. Undefined where no item has two ratings, where there
        are more than ``MOST_LEVELS`` different sets, and where all sets are equal.
    """
    if table.why_not_counted:
        return Estimate.undefined(table.why_not_counted)
    if not (table.ratings_of_item >= 2).any():
        return Estimate.undefined("no item was judged by two raters")
    occurring = [sets[int(level)] for level in table.levels]
    distances: FloatArray = np.array(
        [[masi_distance(one, other) for other in occurring] for one in occurring]
    )
    return alpha_with_distance(
        coincidences_by_dialogue(table),
        distances,
        jackknife,
        jackknife.group[table.dialogue[table.ratings_of_item >= 2]],
        "all raters chose the same for all items with two or more ratings",
    )
