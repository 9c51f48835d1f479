"""Where the true means of systems may lie, given means over few dialogues: for coefficients that look at ranks alone.

Ranks of systems jump: a small change of the means turns some pairs over and others not, so that neither leaving one
dialogue out nor drawing dialogues anew measures how ρ and τ spread around their values in the limit of many dialogues,
and noise in both means pulls them towards 0. A normal model does: the true (human, metric) means of systems are spread
with covariance Σ, the means seen lie around them with the errors C that leaving out one dialogue at a time measures,
pooled over systems. Given what is seen, a system's true means are normal around the means shrunk by Σ(Σ + C)⁻¹, with
covariance Σ − Σ(Σ + C)⁻¹Σ (Morris 1983, Parametric Empirical Bayes Inference, JASA 78; Laird & Louis 1987, who draw
from it). Coefficients of such draws are in the limit of many dialogues. Each draw is scaled as Student's t with G − 1
degrees of freedom is, since the errors are measured in G dialogues.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annotations.estimates import Undefined
from leaderboard.statistics.placed_scores import FloatArray, IntArray

ALL_NOISE = "no interval: what dialogues change may be all by which the systems seem to differ"


def plausible_means(
    human: FloatArray,
    metric: FloatArray,
    human_left_out: FloatArray,
    metric_left_out: FloatArray,
    dialogues: IntArray,
    draws: int,
    seed: int,
) -> tuple[FloatArray, FloatArray] | Undefined:
    """(draws, systems) of true human means, and of true metric means. Undefined where the errors are measured as large
    as all that is seen, in any direction: the plausible means would lie on one line, and agree or disagree for sure.

    ``human``, ``metric``: (systems,) finite means, neither constant. ``human_left_out``, ``metric_left_out``: (G,
    systems) means without each dialogue, finite; a metric without scores of dialogues has one row, its scores, and no
    error. ``dialogues``: (systems,) in how many people rated each system. Units are the scores' own.
    """
    seen = np.stack((human, metric))
    scale = seen.std(axis=1, ddof=1)
    centre = seen.mean(axis=1)
    standard = (seen - centre[:, None]) / scale[:, None]
    errors = _errors(human_left_out / scale[0], metric_left_out / scale[1])
    spread = np.cov(standard) - errors
    if float(np.linalg.eigvalsh(spread)[0]) <= 0.0:
        return Undefined(ALL_NOISE)
    share = (1 / dialogues) / np.mean(1 / dialogues)  # a system rated in few dialogues has larger errors
    of_system = errors * share[:, None, None]
    shrink = spread @ np.linalg.pinv(spread + of_system, hermitian=True)
    middle = np.einsum("sij,js->is", shrink, standard)
    root = _root(spread - shrink @ spread)
    first, second = _standard_draws(len(human), draws, len(human_left_out), seed)
    drawn = []
    for side in (0, 1):
        values = first * (root[:, side, 0] * scale[side])
        values += second * (root[:, side, 1] * scale[side])
        values += middle[side] * scale[side] + centre[side]
        drawn.append(values)
    return drawn[0], drawn[1]


@lru_cache(maxsize=2)
def _standard_draws(systems: int, draws: int, groups: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """(draws, systems) for each side: normal, and each draw as wide as Student's t with ``groups`` − 1 degrees of
    freedom makes it. All metrics of a corpus share them."""
    random = np.random.default_rng(seed)
    normal = random.standard_normal((2, draws, systems))
    normal *= np.sqrt((groups - 1) / random.chisquare(groups - 1, draws))[:, None]
    normal.flags.writeable = False
    return normal[0], normal[1]


def _errors(human_left_out: FloatArray, metric_left_out: FloatArray) -> FloatArray:
    """(2, 2): the jackknife's covariance of a system's two means, pooled over systems. What all systems share in a
    dialogue moves no rank, and is taken out."""
    groups, systems = human_left_out.shape
    both = np.stack((human_left_out, np.broadcast_to(metric_left_out, human_left_out.shape)))
    both = both - both.mean(axis=2, keepdims=True)
    both = both - both.mean(axis=1, keepdims=True)
    pooled = np.einsum("igs,jgs->ij", both, both) * (groups - 1) / groups / (systems - 1)
    return np.asarray(pooled)


def _root(matrices: FloatArray) -> FloatArray:
    """(systems, 2, 2): R with R Rᵀ the matrix."""
    values, vectors = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
