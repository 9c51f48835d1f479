"""Battles of two systems, and what is counted of them: wins, win rates, cyclic triples.

A tie, and "both are bad", is half a win for each system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

WON: dict[str, float] = {"a": 1.0, "b": 0.0, "tie": 0.5, "both_bad": 0.5}
"""The share of a battle that slot A wins, by verdict."""


@dataclass(frozen=True)
class Battles:
    """One entry for each vote.

    Args:
        systems: number of systems, S.
        a: (n,) number of the system in slot A, from 0.
        b: (n,) number of the system in slot B; never that of ``a``.
        won: (n,) the share that A won: 1, 0, or 0.5 for a tie.
        conversation: (n,) number of the conversation that was judged.
        rater: (n,) number of who judged.

    Raises:
        ValueError: the lists differ in length, or a system meets itself.
    """

    systems: int
    a: IntArray
    b: IntArray
    won: FloatArray
    conversation: IntArray
    rater: IntArray

    def __post_init__(self) -> None:
        lengths = {len(one) for one in (self.a, self.b, self.won, self.conversation, self.rater)}
        if len(lengths) > 1:
            raise ValueError(f"lists of one length are needed, not of {sorted(lengths)}")
        if (self.a == self.b).any():
            raise ValueError("a system cannot meet itself")

    def __len__(self) -> int:
        return len(self.won)

    @property
    def conversations(self) -> int:
        return len(np.unique(self.conversation))

    @property
    def raters(self) -> int:
        return len(np.unique(self.rater))

    def wins(self) -> FloatArray:
        """Wins of the row over the column, ties as half a win each way.

        Returns:
            (S, S); the diagonal is 0.
        """
        size = self.systems
        of_a = np.bincount(self.a * size + self.b, self.won, size * size)
        of_b = np.bincount(self.b * size + self.a, 1.0 - self.won, size * size)
        return np.asarray(of_a + of_b, dtype=np.float64).reshape(size, size)

    def ties(self) -> FloatArray:
        """Battles of the row and the column that nobody won.

        Returns:
            (S, S), symmetric; the diagonal is 0.
        """
        size, tied = self.systems, self.won == 0.5
        found = np.bincount(self.a[tied] * size + self.b[tied], minlength=size * size)
        found = found.reshape(size, size)
        return np.asarray(found + found.T, dtype=np.float64)


def battles_of_names(
    a: Sequence[str], b: Sequence[str], verdicts: Sequence[str]
) -> tuple[list[str], Battles]:
    """Battles from lists of names, each a conversation and a rater of its own.

    Args:
        a: (n,) names of the systems in slot A.
        b: (n,) names of the systems in slot B.
        verdicts: (n,) one of ``WON`` each.

    Returns:
        The names in alphabetical order, and the battles with systems numbered so.

    Raises:
        KeyError: an unknown verdict.
        ValueError: as ``Battles``.
    """
    names = sorted({*a, *b})
    number = {name: place for place, name in enumerate(names)}
    each = np.arange(len(a))
    return names, Battles(
        len(names),
        np.fromiter(map(number.__getitem__, a), np.int64, len(a)),
        np.fromiter(map(number.__getitem__, b), np.int64, len(b)),
        np.fromiter(map(WON.__getitem__, verdicts), np.float64, len(verdicts)),
        each,
        each,
    )


def win_rates(wins: ArrayLike) -> FloatArray:
    """The share of their battles that the row won of the column.

    Args:
        wins: (S, S) of ``Battles.wins``.

    Returns:
        (S, S) from 0 to 1; NaN for two systems that never met, and on the diagonal.
    """
    won = np.asarray(wins, dtype=np.float64)
    games = won + won.T
    rates: FloatArray = np.divide(won, games, out=np.full(won.shape, np.nan), where=games > 0)
    return rates


def average_win_rates(wins: ArrayLike) -> FloatArray:
    """Each system's mean win rate over the opponents that it met, however often.

    Args:
        wins: (S, S) of ``Battles.wins``.

    Returns:
        (S,) from 0 to 1; NaN for a system that met nobody.
    """
    rates = win_rates(wins)
    met = np.isfinite(rates)
    total = np.where(met, rates, 0.0).sum(axis=1)
    count = met.sum(axis=1)
    means: FloatArray = np.divide(total, count, out=np.full(len(rates), np.nan), where=count > 0)
    return means


@dataclass(frozen=True)
class Transitivity:
    """``triples``: of systems of which each pair has a winner; of these ``cyclic`` ones are a
    circle (the first beats the second, the second the third, the third the first). ``examples``:
    system numbers, the most one-sided circles first."""

    triples: int
    cyclic: int
    examples: tuple[tuple[int, int, int], ...]


def transitivity(wins: ArrayLike, examples: int = 3) -> Transitivity:
    """Count circles among three systems: Bradley and Terry's model has no room for them.

    Args:
        wins: (S, S) of ``Battles.wins``. A beats B where it won more than half of their battles.
        examples: how many circles are named at most.

    Returns:
        The counts. Some circles are expected by chance where systems are about equally good.

    Method: Kendall & Babington Smith (1940), On the method of paired comparisons, Biometrika 31.
    """
    rates = win_rates(wins)
    beats = np.nan_to_num(rates, nan=0.0) > 0.5
    decided = (beats | beats.T).astype(np.float64)
    forward = beats.astype(np.float64)
    triples = round(float(np.trace(decided @ decided @ decided)) / 6)
    cyclic = round(float(np.trace(forward @ forward @ forward)) / 3)
    circles: list[tuple[float, tuple[int, int, int]]] = []
    for one, two, three in combinations(range(len(rates)), 3) if cyclic else ():
        for first, second, third in ((one, two, three), (one, three, two)):
            if beats[first, second] and beats[second, third] and beats[third, first]:
                least = min(rates[first, second], rates[second, third], rates[third, first])
                circles.append((-float(least), (first, second, third)))
    return Transitivity(triples, cyclic, tuple(circle for _, circle in sorted(circles)[:examples]))
