"""The Fréchet distance between two sets of points, each taken as a Gaussian with its mean and
covariance; and FBD's scorer, which says besides how normal each side is.

d² = ‖μ₁ − μ₂‖² + Tr(Σ₁ + Σ₂ − 2 (Σ₁Σ₂)^½) (Dowson and Landau, 1982; equation 2 of Xiang et al.,
2021).

With fewer points than dimensions Σ₁Σ₂ is singular and its square root is badly conditioned. Its
trace needs no root: with C the centred points (n × d) and Σ = CᵀC / (n − 1), Σ₁Σ₂ has the
eigenvalues of (C₁C₂ᵀ)(C₁C₂ᵀ)ᵀ / ((n₁−1)(n₂−1)), so Tr (Σ₁Σ₂)^½ is the sum of the singular values of
C₁C₂ᵀ divided by √((n₁−1)(n₂−1)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from common.estimates import Undefined
from workers.metrics.base import OptionValue
from workers.metrics.common.normality import normality
from workers.metrics.common.pair_features import AgainstPeople, Comparison, Points

Float64Array = NDArray[np.float64]
MeanTerm = Literal["squared", "norm"]
"""Released code: ‖μ₁ − μ₂‖²; the paper as printed: ‖μ₁ − μ₂‖."""


def frechet_distance(
    first: NDArray[np.floating], second: NDArray[np.floating], mean_term: MeanTerm = "squared"
) -> float:
    """Squared Fréchet distance between two sets of points, each taken as a Gaussian.

    Computed in float64, with the unbiased covariances.

    Args:
        first: (n₁, d), at least two points.
        second: (n₂, d), at least two points.
        mean_term: ``squared`` for ‖μ₁ − μ₂‖², as in the released code; ``norm`` for ‖μ₁ − μ₂‖, as
            the paper prints it.

    Returns:
        0 or more; 0 for equal means and covariances.

    Raises:
        ValueError: a set has fewer than two points, which have no covariance, or holds anything but
            finite numbers.

    d² = ‖μ₁ − μ₂‖² + Tr(Σ₁ + Σ₂ − 2 (Σ₁Σ₂)^½) (Dowson and Landau, 1982; Xiang et al., 2021,
    equation 2).
    """
    for points in (first, second):
        if len(points) < 2:
            raise ValueError("a covariance needs two points")
        if not np.isfinite(points).all():
            raise ValueError("a point is not finite")
    one, other = first.astype(np.float64), second.astype(np.float64)
    between_means = float(np.sum((one.mean(axis=0) - other.mean(axis=0)) ** 2))
    if mean_term == "norm":
        between_means = math.sqrt(between_means)
    one, other = _scaled_deviations(one), _scaled_deviations(other)
    traces = float(np.sum(one**2) + np.sum(other**2))
    shared = float(
        np.linalg.svd(_at_most_square(one) @ _at_most_square(other).T, compute_uv=False).sum()
    )
    return max(0.0, between_means + traces - 2.0 * shared)


def _scaled_deviations(points: Float64Array) -> Float64Array:
    """C / √(n − 1): its product with itself is the unbiased covariance."""
    deviations: Float64Array = (points - points.mean(axis=0)) / math.sqrt(len(points) - 1)
    return deviations


def _at_most_square(deviations: Float64Array) -> Float64Array:
    """With C = QR, C₁C₂ᵀ and R₁R₂ᵀ have the same singular values: neither needs more rows than
    dimensions."""
    rows, columns = deviations.shape
    if rows <= columns:
        return deviations
    triangle: Float64Array = np.linalg.qr(deviations).R
    return triangle


FEWEST = 2


def frechet_scorer(options: Mapping[str, OptionValue]) -> AgainstPeople:
    """Build FBD's scorer.

    Args:
        options: ``model``, ``layer`` and ``mean_term``.

    Returns:
        A scorer whose score is 0 or more, ``Undefined`` where the system or the human references
        have fewer than two responses. Its details hold the ``normality`` of both.
    """
    mean_term = cast(MeanTerm, options["mean_term"])

    def compare(system: Points, people: Points) -> Comparison:
        tested = {"normality": {"system": _normality(system), "human": _normality(people)}}
        for which, points in (("the system has", system), ("the human references have", people)):
            if len(points) < FEWEST:
                reason = f"{which} {len(points)} response: a covariance needs {FEWEST}"
                return Comparison(Undefined(reason), tested)
        return Comparison(frechet_distance(system, people, mean_term), tested)

    return AgainstPeople(str(options["model"]), int(options["layer"]), compare)


def _normality(points: Points) -> dict[str, Any]:
    return normality(points).as_json()
