"""Bradley–Terry strengths beside covariates of a battle: the slot, length, Markdown, emoji; and how
the style of a response is counted.

log odds of A = λa − λb + Σk βk fk. The coefficients are not penalised: a penalty of any size leaves
a part of what the covariate explains in the strengths. Where a covariate is held constant,
strengths say who wins among responses alike in it ("style control", Chiang et al. 2024, Chatbot
Arena).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import ArrayLike
from scipy.special import expit

from common.bradley_terry import MOST_STEPS, NEAR, shortened
from common.estimates import Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.preferences.battles import Battles
from leaderboard.statistics.preferences.bradley_terry import strengths

NO_MAXIMUM = "the covariates separate winners from losers, so that no finite strengths fit best"
SAME_EVERYWHERE = 1e-12
BEYOND = 30.0
"""Log odds of 10¹³: no table of votes has them but on the way to infinity."""


@dataclass(frozen=True)
class CovariateFit:
    """``strength``: (S,) centred, on the log scale. ``coefficients``: (K,) in units of the
    features."""

    strength: FloatArray
    coefficients: FloatArray


def fit_with_covariates(battles: Battles, features: ArrayLike) -> CovariateFit | Undefined:
    """Strengths and the covariates' coefficients, by maximum likelihood.

    Args:
        battles: n votes.
        features: (n, K) of each battle, A against B: 1 for the advantage of slot A itself,
            ``relative_difference`` for what responses have more or less of.

    Returns:
        The fit. Undefined where the systems alone have no strengths, or with the covariates no
        finite maximum exists, or a covariate says the same as the systems do.

    Equation: maximises Σ y log p + (1 − y) log(1 − p), p = σ(λa − λb + f·β), by Newton's method
    with the shortened steps of ``bradley_terry``.
    """
    known = np.asarray(features, dtype=np.float64).reshape(len(battles), -1)
    start = strengths(battles.wins())
    if not np.isfinite(start).all():
        return Undefined("without covariates there are no finite strengths either")
    size = battles.systems
    found = np.concatenate((start, np.zeros(known.shape[1])))
    first = _information(battles, known, expit(_margins(battles, known, found)))
    spread = np.sqrt(np.diag(first))
    if not spread.all() or np.linalg.matrix_rank(first / np.outer(spread, spread)) < len(first):
        return Undefined("a covariate says nothing that the systems do not")
    for _ in range(MOST_STEPS):
        margin = _margins(battles, known, found)
        if np.abs(margin).max(initial=0.0) > BEYOND:
            break
        chance = expit(margin)
        gradient = _sums(battles, known, battles.won - chance)
        try:
            step = np.asarray(
                np.linalg.solve(_information(battles, known, chance), gradient), dtype=np.float64
            )
        except np.linalg.LinAlgError:
            break
        width = np.abs(_margins(battles, known, step)).max(initial=0.0)
        found = found + step * float(shortened(np.array(width)))
        if width < NEAR:
            strength = found[:size]
            return CovariateFit(strength - strength.mean(), found[size:])
    return Undefined(NO_MAXIMUM)


def relative_difference(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """How much more of something the response in slot A has.

    Args:
        a: (n,) counts of slot A, such as its words, at least 0.
        b: (n,) counts of slot B.

    Returns:
        (n,) (a − b)/(a + b + 1), between −1 and 1.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.asarray((first - second) / (first + second + 1.0))


def scaled(feature: ArrayLike) -> FloatArray | None:
    """A feature in units of its standard deviation (ddof 0). It is not centred: what is taken off
    its mean would be an advantage of slot A.

    Args:
        feature: (n,).

    Returns:
        (n,); None for a feature that is the same everywhere.
    """
    values = np.asarray(feature, dtype=np.float64)
    spread = float(values.std()) if len(values) else 0.0
    return values / spread if spread > SAME_EVERYWHERE else None


def scores_and_inverse(
    battles: Battles, fit: CovariateFit, features: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What sandwich covariances are made of.

    Args:
        battles: n votes.
        fit: of these.
        features: (n, K) as they were fitted.

    Returns:
        (n,) residuals y − p, and (S + K, S + K) the inverse information of centred strengths and
        coefficients.
    """
    values = np.concatenate((fit.strength, fit.coefficients))
    chance = expit(_margins(battles, features, values))
    information = _information(battles, features, chance)
    size = battles.systems
    inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    # The information was held at mean 0 by a matrix of ones, which the inverse holds still
    inverse[:size, :size] -= 1.0 / (size**2 * _hold(information, size))
    return battles.won - chance, inverse


def _hold(information: FloatArray, size: int) -> float:
    """The constant that ``_information`` added to strengths: rows of the rest sum to 0."""
    return float(information[:size, :size].sum()) / size**2


def _margins(battles: Battles, features: FloatArray, values: FloatArray) -> FloatArray:
    size = battles.systems
    return np.asarray(values[battles.a] - values[battles.b] + features @ values[size:])


def _sums(battles: Battles, features: FloatArray, of_battle: FloatArray) -> FloatArray:
    size = battles.systems
    of_systems = np.bincount(battles.a, of_battle, size) - np.bincount(battles.b, of_battle, size)
    return np.concatenate((of_systems, of_battle @ features))


def _information(battles: Battles, features: FloatArray, chance: FloatArray) -> FloatArray:
    size, count = battles.systems, features.shape[1]
    weight = chance * (1.0 - chance)
    pairs = np.bincount(battles.a * size + battles.b, weight, size * size).reshape(size, size)
    pairs = pairs + pairs.T
    found = np.zeros((size + count, size + count))
    found[:size, :size] = np.diag(pairs.sum(axis=1)) - pairs + pairs.sum() / size**2
    weighted = features * weight[:, np.newaxis]
    for column in range(count):
        of_systems = _sums(battles, features[:, :0], weighted[:, column])
        found[:size, size + column] = found[size + column, :size] = of_systems
    found[size:, size:] = features.T @ weighted
    return found


_MARKDOWN = regex.compile(
    r"^ {0,3}#{1,6} |^ {0,3}(?:```|~~~)|^\s*(?:[-*+]|\d{1,3}[.)]) |(\*\*|__)(?=\S).{1,500}?\1",
    regex.MULTILINE,
)
_EMOJI = regex.compile(r"\p{Emoji_Presentation}|\p{Emoji}\uFE0F")
FEATURES = ("length", "Markdown", "emoji")


@dataclass(frozen=True)
class Style:
    """``words``: whitespace tokens. ``markdown``: headings, list items, fences of code and bold
    passages. ``emoji``: characters that are one."""

    words: int
    markdown: int
    emoji: int

    def __add__(self, other: Style) -> Style:
        return Style(
            self.words + other.words, self.markdown + other.markdown, self.emoji + other.emoji
        )


def style_of(text: str) -> Style:
    """Count words, Markdown and emoji.

    Args:
        text: a response.

    Returns:
        The counts.
    """
    return Style(
        len(text.split()),
        sum(1 for _ in _MARKDOWN.finditer(text)),
        sum(1 for _ in _EMOJI.finditer(text)),
    )
