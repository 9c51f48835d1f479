"""Pearson's r of many metrics with people over items, under many swaps of two metrics, from sums
over cells.

A cell holds what a system said in a dialogue, and is swapped whole. After a swap a metric's Σm, Σm²
and Σhm are its own, less those of the swapped cells, plus the other metric's of these. So what the
swapped cells hold is summed once a metric and permutation, and every pair of metrics costs a few
additions. A cell is swapped where the coins of its system and its dialogue differ; s ≠ d is s + d −
2sd, so the sums over swapped cells are matrix products.
"""

from __future__ import annotations

import numpy as np

from leaderboard.statistics.permutation import Coins
from leaderboard.statistics.placed_scores import FloatArray, IntArray

LEAST_VARIANCE = 1e-12
"""Of metrics with a variance of 1: what is below is a constant, summed."""


class SwappedItems:
    """Sums over cells (a system in a dialogue), from which swaps of any two metrics are computed.

    Args:
        human: (n,) scores, finite.
        metrics: (m, n) scores, standardised, finite.
        system: (n,) numbers from 0.
        dialogue: (n,) numbers from 0.
    """

    def __init__(
        self, human: FloatArray, metrics: FloatArray, system: IntArray, dialogue: IntArray
    ) -> None:
        people = (human - human.mean()) / (human.std() or 1.0)
        self.systems, self.dialogues = int(system.max()) + 1, int(dialogue.max()) + 1
        self.items = len(people)
        cell = system * self.dialogues + dialogue
        cells = self.systems * self.dialogues
        sums = [
            np.bincount(cell, weights=row, minlength=cells)
            for row in (*metrics, *metrics**2, *(metrics * people))
        ]
        self._of_cell = np.array(sums).reshape(len(sums), self.systems, self.dialogues)
        self._total = self._of_cell.sum(axis=(1, 2))

    def differences(self, coins: Coins, first: IntArray, second: IntArray) -> FloatArray:
        """Differences of two metrics' Pearson correlations with human scores after each swap.

        Args:
            coins: which systems and dialogues are swapped in each permutation.
            first: (pairs,) number of each pair's first metric.
            second: (pairs,) number of its second metric.

        Returns:
            (permutations, pairs): r(first) − r(second); NaN where a swap leaves a constant.
        """
        moved = self._moved(coins)
        one = self._r(first, second, moved)
        return one - self._r(second, first, moved)

    def _moved(self, coins: Coins) -> FloatArray:
        """(3m, permutations): the sums over the swapped cells."""
        by_system, by_dialogue = self._of_cell.sum(axis=2), self._of_cell.sum(axis=1)
        moved: FloatArray = by_system @ coins.systems.T + by_dialogue @ coins.dialogues.T
        for row, cells in enumerate(self._of_cell):
            # (permutations, dialogues): what the swapped systems hold in each dialogue
            held = coins.systems @ cells
            moved[row] -= 2.0 * np.einsum("pd,pd->p", held, coins.dialogues)
        return moved

    def _r(self, retained: IntArray, taken: IntArray, moved: FloatArray) -> FloatArray:
        """(permutations, pairs): r of the metric ``retained`` with the swapped cells of
        ``taken``."""
        metrics = len(self._total) // 3

        def after(offset: int) -> FloatArray:
            own: FloatArray = self._total[offset + retained, None] - moved[offset + retained]
            own += moved[offset + taken]
            return own

        total, squares, products = (after(offset) for offset in (0, metrics, 2 * metrics))
        variance = squares / self.items - (total / self.items) ** 2
        variance[variance < LEAST_VARIANCE] = np.nan
        return np.asarray((products / self.items / np.sqrt(variance)).T)
