"""A Gaussian laid over features, and how far features lie from it (DEnsity, Park et al., 2023,
equations 2, 3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from scipy.linalg import pinvh

Float64Array = NDArray[np.float64]
Features = NDArray[np.floating]
"""Pairs × dimensions."""

FEWEST = 2
ROWS_AT_ONCE = 8_192
"""Taken to float64 at a time, so that a corpus's features are not held twice."""
ARRAYS = ("mean", "covariance", "precision", "points")


class UnusableFit(ValueError):
    """What was read holds no Gaussian fit."""


@dataclass(frozen=True, slots=True, eq=False)
class GaussianFit:
    """All in float64. The released code keeps the precision in float32: its distances differ in the
    sixth digit."""

    mean: Float64Array
    """μ = (1/N) Σ hᵢ; d."""
    covariance: Float64Array
    """Σ = (1/N) Σ (hᵢ − μ)(hᵢ − μ)ᵀ; d × d. Divided by N, as the paper prints it and scikit-learn
    computes it."""
    precision: Float64Array
    """The pseudo-inverse of Σ. Where Σ has no full rank (fewer than d + 1 points), a direction in
    which the points do not differ adds nothing to any distance."""
    points: int
    """N."""

    @classmethod
    def of(cls, features: Features) -> GaussianFit:
        """Raises ``ValueError`` for fewer than two points and for anything but finite numbers.

        Features that come out of a layer norm lie in a plane: across it nothing but float32's
        rounding is left, and its inverse would be most of every distance. So of float32 features
        variances below d · ε² of the largest count as 0 (ε ≈ 1.2e-7); of float64 ones it is
        ``pinvh``'s own limit, d · 2.2e-16, as in scikit-learn.
        """
        if features.ndim != 2 or len(features) < FEWEST:
            raise ValueError("a covariance needs two points")
        if not all(np.isfinite(block).all() for block in _blocks(features)):
            raise ValueError("a feature is not finite")
        mean: Float64Array = features.mean(axis=0, dtype=np.float64)
        covariance = np.zeros((len(mean), len(mean)))
        for block in _blocks(features):
            deviations = block.astype(np.float64) - mean
            covariance += deviations.T @ deviations
        covariance /= len(features)
        rounding = len(mean) * float(np.finfo(features.dtype).eps) ** (
            2 if features.dtype == np.float32 else 1
        )
        precision: Float64Array = pinvh(covariance, atol=0.0, rtol=rounding)
        return cls(mean, covariance, precision, len(features))

    @property
    def dimensions(self) -> int:
        return len(self.mean)

    @property
    def rank(self) -> int:
        """Directions in which the points differ; below ``dimensions`` distances are blind to the
        others."""
        return int(np.linalg.matrix_rank(self.precision, hermitian=True))

    def squared_mahalanobis(self, features: Features) -> Float64Array:
        """(h − μ) Σ⁻¹ (h − μ)ᵀ, one for each row, 0 or more."""
        deviations = self._deviations(features)
        squared: Float64Array = np.einsum("ij,ij->i", deviations @ self.precision, deviations)
        return np.maximum(squared, 0.0)

    def squared_euclidean(self, features: Features) -> Float64Array:
        """‖h − μ‖², one for each row: the paper's "Euclidean" (Table 2), its square for the same
        scores to be made of it as of Mahalanobis's."""
        deviations = self._deviations(features)
        squared: Float64Array = np.einsum("ij,ij->i", deviations, deviations)
        return squared

    def _deviations(self, features: Features) -> Float64Array:
        if features.ndim != 2 or features.shape[1] != self.dimensions:
            raise ValueError(
                f"features of {self.dimensions} dimensions are needed, not of shape "
                f"{features.shape}"
            )
        deviations: Float64Array = features.astype(np.float64) - self.mean
        return deviations

    def to_bytes(self) -> bytes:
        """As a safetensors file; the same fit gives the same bytes."""
        arrays = {
            "mean": self.mean,
            "covariance": self.covariance,
            "precision": self.precision,
            "points": np.array([self.points], dtype=np.int64),
        }
        return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})

    @classmethod
    def from_bytes(cls, content: bytes) -> GaussianFit:
        """Raises ``UnusableFit``."""
        try:
            arrays = load(content)
        except (SafetensorError, ValueError, KeyError) as error:
            raise UnusableFit(f"not a safetensors file: {error}") from error
        if missing := [name for name in ARRAYS if name not in arrays]:
            raise UnusableFit(f"no {missing[0]} in it")
        mean, covariance, precision, points = (arrays[name] for name in ARRAYS)
        shapes_fit = mean.ndim == 1 and covariance.shape == precision.shape == (
            len(mean),
            len(mean),
        )
        if not shapes_fit or points.shape != (1,):
            raise UnusableFit("its mean, covariance and precision are not of one size")
        if any(
            array.dtype != np.float64 or not np.isfinite(array).all()
            for array in (mean, covariance, precision)
        ):
            raise UnusableFit("it holds other things than finite float64 numbers")
        return cls(mean, covariance, precision, int(points[0]))

    def save(self, path: Path) -> None:
        path.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> GaussianFit:
        """Raises ``UnusableFit`` and ``OSError``."""
        return cls.from_bytes(path.read_bytes())


def _blocks(features: Features) -> list[Features]:
    return [
        features[start : start + ROWS_AT_ONCE] for start in range(0, len(features), ROWS_AT_ONCE)
    ]
