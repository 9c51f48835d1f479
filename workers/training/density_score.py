"""DEnsity's scores, from distances to the answers of people (Park et al., 2023, section 3.3 and
equation 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

DialogueForm = Literal["mean", "root_mean_square"]


def turn_scores(squared_distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """−√d², one for each response, 0 or less; higher is better. Equation 3 prints −d²; the paper's
    experiments take the root (section 4.3), as the released code does, so ranks are the same and
    Pearson's r is not."""
    scores: NDArray[np.float64] = -np.sqrt(squared_distances)
    return scores


def dialogue_score(squared_distances: Sequence[float], form: DialogueForm = "mean") -> float:
    """Of a dialogue's turns, all that follow another utterance (the second to the last).

    ``mean``: the average of the turns' scores, −(1/T) Σ √d² (the paper, section 5.5).
    ``root_mean_square``: −√((1/T) Σ d²) (the released code), which one bad turn moves further;
    never above the first. Raises ``ValueError`` without turns.
    """
    if not squared_distances:
        raise ValueError("a dialogue without responses has no score")
    if form == "root_mean_square":
        return -math.sqrt(math.fsum(squared_distances) / len(squared_distances))
    return -math.fsum(math.sqrt(squared) for squared in squared_distances) / len(squared_distances)
