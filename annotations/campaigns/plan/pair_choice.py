"""Which two systems the next comparison is of, and how sure their ranking is. Pure: no Django here.

By Bradley–Terry strengths (``common.bradley_terry``). The reasons for what is chosen stand in
docs/statistics_preferences.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from annotations.campaigns.plan.allocation import FLOOR, Target
from annotations.campaigns.plan.evidence import (
    FEWEST_DIALOGUES,
    FEWEST_RATINGS,
    POCOCK_20,
    Numbers,
    Standing,
)
from common.bradley_terry import ELO_MEAN, ELO_SCALE, fitted_strengths

Integers = NDArray[np.int64]

PRIOR = 1.0
"""Precision of the normal prior of strengths by which pairs are chosen: a standard deviation of 1,
174 points. With it strengths are finite while a system has lost or won everything."""


@dataclass(frozen=True, slots=True)
class Votes:
    """Comparisons of two of ``systems`` systems, one entry each.

    Args:
        systems: how many there are, S.
        first: (n,) number of one of the two, from 0.
        second: (n,) number of the other one.
        won: (n,) the share that ``first`` won: 1, 0, or 0.5 for a tie.
        dialogue: (n,) number of the dialogue.
    """

    systems: int
    first: Integers
    second: Integers
    won: Numbers
    dialogue: Integers

    def wins(self) -> Numbers:
        """(S, S) wins of the row over the column."""
        table = np.zeros((self.systems, self.systems))
        np.add.at(table, (self.first, self.second), self.won)
        np.add.at(table, (self.second, self.first), 1.0 - self.won)
        return table


def information(games: Numbers, strength: Numbers, prior: float = 0.0) -> Numbers:
    """What comparisons say of strengths: Σ n p (1 − p) (ei − ej)(ei − ej)ᵀ + prior · I.

    Args:
        games: (S, S) how often two were compared, symmetric.
        strength: (S,) on the log scale.
        prior: precision of the normal prior of strengths around 0.

    Returns:
        (S, S), symmetric.
    """
    chance = expit(strength[:, None] - strength[None, :])
    weight = games * chance * (1.0 - chance)
    found: Numbers = np.diag(weight.sum(axis=1) + prior) - weight
    return found


def _inverse(of: Numbers) -> Numbers:
    """With the mean of strengths held at 0, of which comparisons say nothing."""
    held = max(float(np.trace(of)), 1.0) / len(of) ** 2
    return np.asarray(np.linalg.inv(of + held)) - 1.0 / (held * len(of) ** 2)


def standing_of_votes(votes: Votes) -> Standing:
    """Ratings of the systems and their covariance, for the stop rule.

    Errors are taken over dialogues: with A the information and g(d) the sum of a dialogue's scores
    (won − p)(ei − ej), Cov = G/(G−1) A⁻¹ Σd g(d) g(d)ᵀ A⁻¹, G dialogues. No variance is below that
    of independent comparisons, A⁻¹: of few dialogues the sum may be small by chance.

    Args:
        votes: those that count.

    Returns:
        On the scale of ratings. Known are all or none: where "beat or tied" is strongly connected,
        and each system has at least 5 comparisons, in at least 3 dialogues.
    """
    size, wins = votes.systems, votes.wins()
    games = wins + wins.T
    met = np.zeros((size, int(votes.dialogue.max(initial=-1)) + 1), dtype=bool)
    met[votes.first, votes.dialogue] = met[votes.second, votes.dialogue] = True
    count, dialogues = games.sum(axis=1), met.sum(axis=1).astype(np.float64)
    enough = ((count >= FEWEST_RATINGS) & (dialogues >= FEWEST_DIALOGUES)).all()
    groups = connected_components(wins > 0, directed=True, connection="strong")[0]
    nothing = np.full(size, np.nan)
    if not enough or groups != 1:
        unknown = np.full((size, size), np.nan)
        return Standing(np.zeros(size, dtype=bool), count, nothing, unknown, dialogues, nothing)
    strength = fitted_strengths(wins[np.newaxis])[0]
    inverse = _inverse(information(games, strength))
    residual = votes.won - expit(strength[votes.first] - strength[votes.second])
    scores = np.zeros((met.shape[1], size))
    np.add.at(scores, (votes.dialogue, votes.first), residual)
    np.add.at(scores, (votes.dialogue, votes.second), -residual)
    clusters = int(met.any(axis=0).sum())
    covariance = inverse @ (scores.T @ scores) @ inverse * clusters / (clusters - 1)
    covariance += np.diag(np.maximum(np.diag(inverse) - np.diag(covariance), 0.0))
    return Standing(
        known=np.ones(size, dtype=bool),
        count=count,
        mean=ELO_MEAN + ELO_SCALE * strength,
        covariance=covariance * ELO_SCALE**2,
        dialogues=dialogues,
        unit=nothing,
    )


def pair_chances(
    votes: Votes,
    pairs: Sequence[tuple[int, int]],
    target: Target = "none",
    value: float | None = None,
    floor: float = FLOOR,
) -> Numbers:
    """The probability with which each pair of systems is compared next: (1 − floor) × its part +
    floor / pairs.

    One more comparison of i and j adds w c cᵀ to the information, w = p (1 − p) and c = ei − ej. By
    Sherman and Morrison it lowers the variance of s − t by w ((es − et)ᵀ Σ c)² / (1 + w cᵀ Σ c), Σ
    the covariance of strengths under the prior. The part of a pair is in proportion to the sum of
    this over all s, t, each weighted by

    * 1 where the target is a width: the variance of all differences;
    * φ(z) z / (2 v), z² = 1 + (λs − λt)² / v, v the variance of s − t, for the order (no target, or
      all pairs): by this Φ(−z), the chance that the two are misordered, falls with v;
    * φ(z − c) z / (2 v), z = abs(λs − λt) / √v, for a share of the pairs, c the critical value of a
      look: the pairs that are nearly told apart.

    Args:
        votes: all that count so far; none is allowed.
        pairs: those that can be compared.
        target: of the campaign.
        value: of a share of the pairs, in percent.
        floor: the share of draws that is spread evenly over pairs, above 0.

    Returns:
        (pairs,), each at least floor / pairs; their sum is 1.
    """
    wins = votes.wins()
    games = wins + wins.T
    strength = fitted_strengths(wins[np.newaxis], prior=PRIOR)[0]
    covariance = np.linalg.inv(information(games, strength, PRIOR))
    difference = np.abs(strength[:, None] - strength[None, :])
    own = np.diag(covariance)
    variance = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(variance, 1.0)
    if target == "width":
        urgency = np.ones_like(variance)
    elif target == "pairs" and value is not None and value < 100:
        z = difference / np.sqrt(variance)
        urgency = _normal_density(z - POCOCK_20) * z / (2 * variance)
    else:
        z = np.sqrt(1 + difference**2 / variance)
        urgency = _normal_density(z) * z / (2 * variance)
    np.fill_diagonal(urgency, 0.0)
    laplacian = np.diag(urgency.sum(axis=1)) - urgency
    learned = covariance @ laplacian @ covariance
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    chance = expit(strength[first] - strength[second])
    weight = chance * (1.0 - chance)
    gain = learned[first, first] + learned[second, second] - 2 * learned[first, second]
    gain = np.maximum(weight * gain / (1 + weight * variance[first, second]), 0.0)
    even = np.full(len(gain), 1 / max(len(gain), 1))
    part = gain / gain.sum() if gain.sum() > 0 else even
    chances: Numbers = (1 - floor) * part + floor * even
    return chances


def _normal_density(z: Numbers) -> Numbers:
    density: Numbers = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return density
