"""Several metrics as one: a linear regression of human scores on the metrics' scores, as USR puts
its parts together (Mehri and Eskenazi 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class TooFewScoresError(ValueError):
    """There is not enough to fit a regression to."""


def fit(features: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ordinary least squares with an intercept.

    Args:
        features: responses × metrics.
        targets: human score of each response.

    Returns:
        The intercept, then one coefficient per metric. Where metrics say the same of every
        response, the coefficients of least norm.

    Raises:
        TooFewScoresError: there are not more responses than numbers to fit.

    β = argmin Σ (h − β₀ − Σ βₘ xₘ)²
    """
    rows, columns = features.shape
    if rows <= columns + 1:
        raise TooFewScoresError(
            f"{rows} responses have all scores: too few to fit {columns + 1} numbers to"
        )
    found, *_ = np.linalg.lstsq(_with_ones(features), targets, rcond=None)
    return np.asarray(found, dtype=np.float64)


def predict(
    features: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a regression says of responses.

    Args:
        features: responses × metrics.
        coefficients: from ``fit``.

    Returns:
        One number per response, on the scale of the human scores; it may pass its ends.
    """
    predicted: NDArray[np.float64] = _with_ones(features) @ coefficients
    return predicted


def predict_held_out(
    features: NDArray[np.float64],
    targets: NDArray[np.float64],
    dialogues: Sequence[str],
    folds: int,
) -> NDArray[np.float64]:
    """Predict each response by a regression that saw no response of its dialogue.

    Args:
        features: responses × metrics.
        targets: human score of each response; NaN where nobody rated it.
        dialogues: of each response.
        folds: the dialogues are dealt out into so many parts, in the order of their first
            response; each is predicted from the others. At least 2.

    Returns:
        One number per response.

    Raises:
        TooFewScoresError: there are fewer dialogues than folds, or a part leaves too few responses.
    """
    order = {dialogue: index for index, dialogue in enumerate(dict.fromkeys(dialogues))}
    if len(order) < folds:
        raise TooFewScoresError(f"{len(order)} dialogues are too few for {folds} folds")
    fold = np.array([order[dialogue] % folds for dialogue in dialogues])
    rated = ~np.isnan(targets)
    predicted = np.empty(len(targets))
    for one in range(folds):
        held_out = fold == one
        seen = rated & ~held_out
        predicted[held_out] = predict(features[held_out], fit(features[seen], targets[seen]))
    return predicted


def _with_ones(features: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([np.ones(len(features)), features])
