"""Davidson's model: strengths with ties as an outcome of their own.

Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments, Journal of the American Statistical Association 65. Its strengths are on another scale
than Bradley and Terry's with ties as half wins: the two do not stand in one table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from common.bradley_terry import MOST_STEPS, NEAR, shortened
from common.estimates import Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.preferences.covariates import BEYOND


@dataclass(frozen=True)
class DavidsonFit:
    """``strength``: (S,) log π, centred. ``nu``: the tendency to tie; between equals a tie has the
    chance ν/(2 + ν). ``log_likelihood``: of wins and ties."""

    strength: FloatArray
    nu: float
    log_likelihood: float


def davidson(wins: ArrayLike, ties: ArrayLike) -> DavidsonFit | Undefined:
    """Fit the model by maximum likelihood.

    Args:
        wins: (S, S) battles that the row won outright of the column.
        ties: (S, S), symmetric: battles that nobody won.

    Returns:
        The fit; Undefined, with the reason, without ties, without wins, or where no finite maximum
        exists (it may lack one where ties as half wins have one).

    Equation: with d = λi − λj, P(i) = e^(d/2)/Z, P(j) = e^(−d/2)/Z, P(tie) = ν/Z. An exponential
    family in (λ, log ν), so Newton's steps are ``bradley_terry``'s.
    """
    won, tied = np.asarray(wins, dtype=np.float64), np.asarray(ties, dtype=np.float64)
    if not tied.any() or not won.any():
        return Undefined("every battle is a tie" if tied.any() else "no battle is a tie")
    size = len(won)
    upper = np.triu(np.ones((size, size)), 1)
    games = won + won.T + tied
    strength, log_nu = np.zeros(size), 0.0
    for _ in range(MOST_STEPS):
        better, worse, tie, _ = _chances(strength, log_nu)
        ahead = better - worse
        of_strength = ((won - won.T) - games * ahead).sum(axis=1) / 2
        of_nu = ((tied - games * tie) * upper).sum()
        pairs = games * (better + worse - ahead**2) / 4
        mixed = -(games * ahead * tie).sum(axis=1) / 2
        information = np.zeros((size + 1, size + 1))
        information[:size, :size] = np.diag(pairs.sum(axis=1)) - pairs + pairs.sum() / size**2
        information[size, :size] = information[:size, size] = mixed
        information[size, size] = (games * tie * (1 - tie) * upper).sum()
        try:
            step = np.linalg.solve(information, np.append(of_strength, of_nu))
        except np.linalg.LinAlgError:
            break
        width = float(np.ptp(step[:size]) + abs(step[size]))
        if not np.ptp(strength) + abs(log_nu) + width < BEYOND:
            break
        step *= float(shortened(np.array(width)))
        strength, log_nu = strength + step[:size], log_nu + float(step[size])
        if width < NEAR:
            return DavidsonFit(
                strength - strength.mean(),
                float(np.exp(log_nu)),
                _log_likelihood(won, tied * upper, strength, log_nu),
            )
    return Undefined("its likelihood has no finite maximum: some system only wins, loses or ties")


def _chances(
    strength: FloatArray, log_nu: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(the row wins, the column wins, a tie), and the logarithm of their common divisor."""
    half = (strength[:, np.newaxis] - strength[np.newaxis, :]) / 2
    divisor = np.logaddexp(np.logaddexp(half, -half), log_nu)
    return (
        np.exp(half - divisor),
        np.exp(-half - divisor),
        np.exp(log_nu - divisor),
        divisor,
    )


def _log_likelihood(
    won: FloatArray, tied_once: FloatArray, strength: FloatArray, log_nu: float
) -> float:
    half = (strength[:, np.newaxis] - strength[np.newaxis, :]) / 2
    divisor = _chances(strength, log_nu)[3]
    return float((won * (half - divisor)).sum() + (tied_once * (log_nu - divisor)).sum())
