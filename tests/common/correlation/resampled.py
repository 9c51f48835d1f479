"""The slow way to bootstrap: write the resample down item by item and ask scipy."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def drawn_items(cluster: NDArray[np.int64], multiplicity: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(
        [np.flatnonzero(cluster == d).repeat(times) for d, times in enumerate(multiplicity)]
    )


def scipy_replicates(
    name: str,
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    cluster: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> NDArray[np.float64]:
    replicates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for multiplicity in weights:
            items = drawn_items(cluster, multiplicity)
            replicates.append(SCIPY[name](human[items], metric[items])[0])
    return np.array(replicates, dtype=np.float64)
