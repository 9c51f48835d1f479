"""Mini-batch k-means (Sculley, 2010) from the points' inner products, with the draws of
scikit-learn's.

PRD's released code clusters with scikit-learn's ``MiniBatchKMeans``, ten times a system, and the
seed decides the score. This makes the same random draws and the same steps for sets that fit into
one mini-batch, so that a seed gives scikit-learn's labels, but works on the inner products of the
points, which all runs share: a centre is a weighted mean of points, kept as its products with all
points, and no step touches a point's dimensions. Where two centres are at one place, which happens
with few points to a cluster, rounding decides between them: scikit-learn's own labels then differ
between float32 and float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
IntArray = NDArray[np.intp]

MOST_POINTS = 1024
"""scikit-learn's ``batch_size``: with no more points, a mini-batch has as many as there are
points."""
_MOST_ROUNDS = 100
_ROUNDS_WITHOUT_IMPROVEMENT = 10
_REASSIGNMENT_RATIO = 0.01


@dataclass(frozen=True)
class Products:
    """What k-means needs to know of points."""

    inner: Float64Array
    """Points × points: inner products."""
    squares: Float64Array
    """Squared length of each point."""
    distances: Float64Array
    """Points × points: squared distances."""
    first_equal: IntArray
    """For each point the first that is equal to it, itself where it is the first."""

    @classmethod
    def of(cls, points: NDArray[np.floating]) -> Products:
        """Inner products and distances of points.

        Taken from the points' mean, which moves no distance and loses fewer digits. The last bit of
        a product depends on where in a processor's tile it is computed, so equal points would
        differ by their position: all take the products of the first.

        Args:
            points: (n, d).

        Returns:
            (n, n) inner products and squared distances, (n,) squared lengths, all in float64; and
            (n,) indices of first equal points.
        """
        moved = points.astype(np.float64)
        moved -= moved.mean(axis=0)
        _, first, which = np.unique(moved, axis=0, return_index=True, return_inverse=True)
        first_equal = first[which]
        inner = (moved @ moved.T)[np.ix_(first_equal, first_equal)]
        squares = np.diagonal(inner).copy()
        distances = np.maximum(squares[:, None] + squares[None, :] - 2.0 * inner, 0.0)
        np.fill_diagonal(distances, 0.0)
        return cls(inner, squares, distances, first_equal)


def mini_batch_k_means(
    products: Products, clusters: int, starts: int, draws: RandomState
) -> IntArray:
    """Cluster points by mini-batch k-means, with the random draws of scikit-learn's.

    Args:
        products: of n points.
        clusters: k, at most n.
        starts: number of k-means++ starts, of which the best goes on.
        draws: the random generator; its state advances.

    Returns:
        (n,) the cluster of each point, 0 to k − 1.

    Raises:
        ValueError: fewer points than clusters, or more than ``MOST_POINTS``.

    Sculley (2010), started by greedy k-means++ (Arthur and Vassilvitskii, 2007).
    """
    count = len(products.squares)
    if not clusters <= count <= MOST_POINTS:
        raise ValueError(f"{count} points: {clusters} clusters want {clusters} to {MOST_POINTS}")
    centres = _Centres(products, _best_start(products, clusters, starts, draws))
    patience = _Patience(count)
    since_reassigned = 0
    for _ in range(_MOST_ROUNDS):
        batch = _drawn(draws, count, count)
        # scikit-learn asks before it counts the batch: in the first round no cluster has a member
        since_reassigned += count
        reassigns = bool((centres.members == 0).any()) or since_reassigned >= 10 * clusters
        if reassigns:
            since_reassigned = 0
        inertia = centres.learn_from(batch)
        if reassigns:
            centres.reassign_small(batch, draws)
        if patience.ends_after(inertia):
            break
    return centres.nearest()


def _best_start(products: Products, clusters: int, starts: int, draws: RandomState) -> IntArray:
    """Of several k-means++ starts (each a row of points that are centres) the one nearest to a
    drawn sample."""
    count = len(products.squares)
    sample = draws.randint(0, count, count)
    chosen = _k_means_plus_plus(products.distances, clusters, starts, draws)
    to_nearest = np.take(products.distances, chosen, axis=0).min(axis=1)
    best: IntArray = chosen[int(np.argmin(to_nearest[:, sample].sum(axis=1)))]
    return best


def _k_means_plus_plus(
    distances: Float64Array, clusters: int, starts: int, draws: RandomState
) -> IntArray:
    """Greedy k-means++ (Arthur and Vassilvitskii, 2007), all starts side by side: starts ×
    clusters, points' places.

    What is drawn does not depend on the points, so each start's draws come one after another, as if
    it ran alone.
    """
    count = len(distances)
    trials = 2 + int(math.log(clusters))
    chosen = np.empty((starts, clusters), dtype=np.intp)
    shares = np.empty((starts, clusters - 1, trials))
    for start in range(starts):
        chosen[start, :1] = _drawn(draws, count, 1)
        shares[start] = draws.uniform(size=(clusters - 1, trials))
    closest = distances[chosen[:, 0]]
    rows = np.arange(starts)
    for index in range(1, clusters):
        candidates = _in_proportion(closest, shares[:, index - 1])
        with_candidate = np.minimum(closest[:, None, :], distances[candidates])
        best = np.argmin(with_candidate.sum(axis=2), axis=1)
        chosen[:, index] = candidates[rows, best]
        closest = with_candidate[rows, best]
    return chosen


def _in_proportion(weights: Float64Array, shares: Float64Array) -> IntArray:
    """For each row of weights the places at which its running sum reaches some shares of its total.

    One running sum goes through all rows, so that one search finds all places.
    """
    rows, count = weights.shape
    so_far = np.cumsum(weights)
    ends = so_far[count - 1 :: count]
    before = np.concatenate([[0.0], ends[:-1]])
    wanted = before[:, None] + shares * (ends - before)[:, None]
    indices = np.searchsorted(so_far, wanted) - (np.arange(rows) * count)[:, None]
    found: IntArray = np.clip(indices, 0, count - 1)
    return found


def _drawn(draws: RandomState, count: int, size: int) -> IntArray:
    """Places with equal chances, as ``draws.choice(count, size, p=…)`` draws them, which would
    check p each time."""
    indices: IntArray = _up_to_each(count).searchsorted(draws.random_sample(size), side="right")
    return indices


@lru_cache(maxsize=8)
def _up_to_each(count: int) -> Float64Array:
    chances: Float64Array = np.cumsum(np.full(count, 1 / count))
    chances /= chances[-1]
    return chances


class _Centres:
    """Each the mean of all points that it ever met, so the more it has met the less it moves.

    A centre that has met none yet is a point. What is kept of the others are sums, to be divided by
    ``members``.
    """

    def __init__(self, products: Products, at_points: IntArray) -> None:
        clusters, count = len(at_points), len(products.squares)
        self._products = products
        self._places = np.arange(count)
        self._inner = products.inner[at_points]
        """Centres × points: inner products."""
        self._squares = products.squares[at_points]
        self._met = np.zeros((clusters, count))
        """Centres × points: how often each met which."""
        self._met_inner = np.zeros((clusters, count))
        """Centres × points: the inner products of the sums over what each met."""
        self.members = np.zeros(clusters)

    def learn_from(self, batch: IntArray) -> float:
        """Moves the centres towards the points that they are nearest to; the squared distances
        before, summed."""
        times = np.bincount(batch, minlength=len(self._places))
        distances = self._distances()
        nearest = self._nearest_of(distances)
        inertia = float(times @ (distances[nearest, self._places] + self._products.squares))
        new = np.zeros_like(self._met)
        new[nearest, self._places] = times
        self._met += new
        self._met_inner += new @ self._products.inner
        self.members += new.sum(axis=1)
        some: slice | IntArray = slice(None) if self.members.all() else np.flatnonzero(self.members)
        of = self.members[some]
        self._inner[some] = self._met_inner[some] / of[:, None]
        self._squares[some] = np.einsum("cp,cp->c", self._met[some], self._met_inner[some]) / of**2
        return inertia

    def reassign_small(self, batch: IntArray, draws: RandomState) -> None:
        """Moves the centres that met next to nothing to points of the batch."""
        small = self.members < _REASSIGNMENT_RATIO * self.members.max()
        if small.sum() > 0.5 * len(batch):
            small[np.argsort(self.members)[int(0.5 * len(batch)) :]] = False
        if not small.any():
            return
        at = batch[draws.choice(len(batch), replace=False, size=int(small.sum()))]
        members = self.members[~small].min()
        self.members[small] = members
        self._met[small] = 0.0
        self._met[np.flatnonzero(small), at] = members
        self._met_inner[small] = members * self._products.inner[at]
        self._inner[small], self._squares[small] = (
            self._products.inner[at],
            self._products.squares[at],
        )

    def nearest(self) -> IntArray:
        """Each point's nearest centre."""
        return self._nearest_of(self._distances())

    def _nearest_of(self, distances: Float64Array) -> IntArray:
        """Equal points go together, whatever the last bits of their distances say."""
        nearest: IntArray = distances.argmin(axis=0)[self._products.first_equal]
        return nearest

    def _distances(self) -> Float64Array:
        """Centres × points: squared distances, less the points' squared lengths, which are the same
        for all centres."""
        distances = self._inner * -2.0
        distances += self._squares[:, None]
        return distances


class _Patience:
    """Ends the rounds when the smoothed inertia has not improved for a while."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._share = min(1.0, 2.0 * count / (count + 1))
        self._rounds = 0
        self._smoothed: float | None = None
        self._best: float | None = None
        self._waited = 0

    def ends_after(self, inertia: float) -> bool:
        self._rounds += 1
        if self._rounds == 1:
            return False
        per_point = inertia / self._count
        if self._smoothed is None:
            self._smoothed = per_point
        else:
            self._smoothed = self._smoothed * (1 - self._share) + per_point * self._share
        if self._best is None or self._smoothed < self._best:
            self._best, self._waited = self._smoothed, 0
        else:
            self._waited += 1
        return self._waited >= _ROUNDS_WITHOUT_IMPROVEMENT
