"""r, ρ and τ-b of every replicate, for score lists with few distinct values, from their cross
table.

One rater's scores have the levels of the scale, and the means of the others hardly more. The table
of how often each level met each mean is a sum over dialogues, and all three coefficients follow
from it, so that the cost no longer depends on how many dialogues or items there are.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from annotations.agreement.tabulation import FloatArray, IntArray

FEW_CELLS = 4_096
"""Above this many cells, comparing items costs less than filling the tables."""
CELLS_AT_A_TIME = 2_000_000


def has_few_cells(one: FloatArray, other: FloatArray) -> bool:
    """Whether the cross table of two score lists is small enough to pay.

    Args:
        one: (n,) scores.
        other: (n,) scores of the same items.

    Returns:
        True where the numbers of different values multiply to at most ``FEW_CELLS``.
    """
    return bool(np.unique(one).size * np.unique(other).size <= FEW_CELLS)


def correlations_of_replicates(
    one: FloatArray, other: FloatArray, dialogue: IntArray, weights: FloatArray
) -> dict[str, FloatArray]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of every replicate, from cross tables.

    Args:
        one: (items,) scores.
        other: (items,) scores of the same items.
        dialogue: (items,) the column of ``weights`` for each item.
        weights: (replicates, dialogues) how often each dialogue counts.

    Returns:
        (replicates,) for each of ``pearson``, ``spearman`` and ``kendall``, in [−1, 1]; NaN where
        one of the two lists is constant in the replicate.

    τ-b = (concordant − discordant pairs) / √(pairs untied in one list · pairs untied in the other)
    (Kendall 1945).
    """
    one_levels, one_codes = np.unique(one, return_inverse=True)
    other_levels, other_codes = np.unique(other, return_inverse=True)
    shape = (one_levels.size, other_levels.size)
    dialogues = weights.shape[1]
    tables = sparse.csr_array(
        (np.ones(one.size), (dialogue, one_codes * other_levels.size + other_codes)),
        shape=(dialogues, shape[0] * shape[1]),
    )
    step = max(1, CELLS_AT_A_TIME // (shape[0] * shape[1]))
    parts = [
        _correlations_of(
            np.asarray(weights[start : start + step] @ tables).reshape(-1, *shape),
            one_levels,
            other_levels,
        )
        for start in range(0, len(weights), step)
    ]
    return {
        name: np.concatenate([part[name] for part in parts])
        for name in ("pearson", "spearman", "kendall")
    }


def _correlations_of(
    tables: FloatArray, one_levels: FloatArray, other_levels: FloatArray
) -> dict[str, FloatArray]:
    """``tables``: tables × levels of one side × levels of the other."""
    one, other = tables.sum(axis=2), tables.sum(axis=1)
    constant = ((one > 0).sum(axis=1) < 2) | ((other > 0).sum(axis=1) < 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {
            "pearson": _product_moment(
                tables, _centred(one, one_levels), _centred(other, other_levels)
            ),
            "spearman": _product_moment(tables, _centred_midranks(one), _centred_midranks(other)),
            "kendall": _tau_b(tables, one, other),
        }
    return {name: np.where(constant, np.nan, values) for name, values in found.items()}


def _product_moment(tables: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Correlation of two sides whose values (tables × levels) have mean 0 in each table."""
    products = (np.matmul(tables, other[:, :, np.newaxis])[:, :, 0] * one).sum(axis=1)
    one_squares = (tables.sum(axis=2) * one**2).sum(axis=1)
    other_squares = (tables.sum(axis=1) * other**2).sum(axis=1)
    return np.asarray(np.clip(products / np.sqrt(one_squares) / np.sqrt(other_squares), -1.0, 1.0))


def _centred(margin: FloatArray, levels: FloatArray) -> FloatArray:
    mean = (margin @ levels) / margin.sum(axis=1)
    return np.asarray(levels - mean[:, np.newaxis])


def _centred_midranks(margin: FloatArray) -> FloatArray:
    return np.asarray(
        np.cumsum(margin, axis=1) - margin / 2.0 - margin.sum(axis=1, keepdims=True) / 2.0
    )


def _tau_b(tables: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """(concordant − discordant pairs) / √(pairs untied on one side · pairs untied on the other)
    (Kendall 1945)."""
    with_lower_one = np.cumsum(tables, axis=1) - tables
    and_at_most_other = np.cumsum(with_lower_one, axis=2)
    concordant = (tables * (and_at_most_other - with_lower_one)).sum(axis=(1, 2))
    discordant = (tables * (and_at_most_other[:, :, -1:] - and_at_most_other)).sum(axis=(1, 2))
    total = one.sum(axis=1)
    untied_one = (total**2 - (one**2).sum(axis=1)) / 2.0
    untied_other = (total**2 - (other**2).sum(axis=1)) / 2.0
    return np.asarray((concordant - discordant) / np.sqrt(untied_one) / np.sqrt(untied_other))
