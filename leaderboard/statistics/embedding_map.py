"""Vectors of many dimensions on a plane: principal components, and t-SNE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.correlation.placed_scores import FloatArray

MIN_POINTS = 4
PERPLEXITY = 30.0
"""As in van der Maaten & Hinton's examples (2008); of few points, a third of them."""


@dataclass(frozen=True, slots=True)
class PlaneMap:
    """``pca``, ``tsne``: (n, 2), in the vectors' order. ``explained``: the share of the variance
    that each of the two components holds. ``perplexity`` is t-SNE's."""

    pca: FloatArray
    tsne: FloatArray
    explained: tuple[float, float]
    perplexity: float


def plane_map(vectors: FloatArray, seed: int = 0) -> PlaneMap | str:
    """PCA and t-SNE maps of vectors, or the reason why there are none.

    PCA is exact and keeps distances as far as two dimensions can; t-SNE (initialised with the
    principal components, so that the whole keeps its shape) keeps neighbours together and says
    little about what is far apart.

    Args:
        vectors: (n, dimensions).
        seed: The same vectors and seed give the same maps.

    Returns:
        Two maps of (n, 2) points; the reason as text with fewer than 4 different vectors, or where
        a value is not finite.

    Source: van der Maaten & Hinton (2008), t-SNE.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    points = np.asarray(vectors, dtype=np.float64)
    if len(points) < MIN_POINTS:
        return f"a map needs at least {MIN_POINTS} texts, there are {len(points)}"
    if not np.isfinite(points).all():
        return "the vectors hold values that are not finite"
    distinct = len(np.unique(points, axis=0))
    if distinct < MIN_POINTS:
        return f"a map needs at least {MIN_POINTS} different texts, there are {distinct}"
    components = PCA(n_components=2, svd_solver="full").fit(points)
    pca = components.transform(points)
    perplexity = min(PERPLEXITY, (len(points) - 1) / 3)
    tsne = TSNE(
        n_components=2,
        perplexity=perplexity,
        init="pca",
        learning_rate="auto",
        random_state=seed,
        n_jobs=1,
    )
    first, second = components.explained_variance_ratio_
    return PlaneMap(
        pca,
        np.asarray(tsne.fit_transform(points), dtype=np.float64),
        (float(first), float(second)),
        perplexity,
    )


def cosines_to_references(vectors: FloatArray, references: FloatArray) -> FloatArray:
    """Cosine similarity of each vector with its reference's vector.

    Args:
        vectors: (n, dimensions).
        references: (n, dimensions), row by row.

    Returns:
        (n,) in [-1, 1]; NaN where one of the two vectors has length 0.
    """
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(references, axis=1)
    products = (vectors * references).sum(axis=1)
    cosine: FloatArray = np.divide(
        products, lengths, out=np.full(len(products), np.nan), where=lengths > 0
    )
    return cosine
