"""How well scores find the answer among negatives: R@1 and MRR (DEnsity, table 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The answer's place among its candidates, 1 for the first; ``scores``: contexts × candidates,
    the answer's in the first column. A negative with the answer's score stands before it: a model
    that says the same of all finds none."""
    found: NDArray[np.int64] = 1 + (scores[:, 1:] >= scores[:, :1]).sum(axis=1)
    return found


def ranking_figures(scores: NDArray[np.float64]) -> dict[str, float]:
    """R@1, the share of answers that come first, and MRR, the mean of 1 / rank; both in [0, 1]."""
    indices = ranks(scores)
    return {"R@1": float((indices == 1).mean()), "MRR": float((1.0 / indices).mean())}
