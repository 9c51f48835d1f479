"""Correlations of many metrics with people, under many swaps of two metrics: Pearson's r over items
from sums over cells, and r, ρ and τ-b of systems' means.

A cell holds what a system said in a dialogue, and is swapped whole. After a swap a metric's Σm, Σm²
and Σhm are its own, less those of the swapped cells, plus the other metric's of these. So what the
swapped cells hold is summed once a metric and permutation, and every pair of metrics costs a few
additions. A cell is swapped where the coins of its system and its dialogue differ; s ≠ d is s + d −
2sd, so the sums over swapped cells are matrix products.

After a swap a system's mean is what stayed of the first metric plus what came of the second: row b
of the one and row t of the other, each made once a metric. r of b + t needs the lengths of b and t
and their product with people and with each other; for ρ and τ-b the sums are ranked anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from common.correlation import THREADS
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.correlation.rowwise import human_order, spearman_and_kendall
from leaderboard.statistics.significance.permutation import DECIMALS, Coins

LEAST_VARIANCE_OF_ITEMS = 1e-12
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
        variance[variance < LEAST_VARIANCE_OF_ITEMS] = np.nan
        return np.asarray((products / self.items / np.sqrt(variance)).T)


Kind = Literal["pearson", "ranks"]
LEAST_VARIANCE_OF_SYSTEMS = 1e-18
ROWS_AT_ONCE = 8000
"""Rows of system means that are ranked together: 100 systems of eight bits each fill a core's own
memory."""


class SwappedSystems:
    """Parts of system means, from which swaps of any two metrics are computed.

    Args:
        human: (systems,) mean scores, finite.
        total: (m, systems, dialogues) sums of standardised scores, finite.
        size: (systems,) how many scores a system has, above 0.
    """

    def __init__(self, human: FloatArray, total: FloatArray, size: FloatArray) -> None:
        people = human - human.mean()
        self._human = people / (np.sqrt(people @ people) or 1.0)
        self._order = human_order(human)
        self._part = total / size[None, :, None]
        self.systems, self.dialogues = total.shape[1:]

    def pearson(self, coins: Coins, first: IntArray, second: IntArray) -> FloatArray:
        """Differences of two metrics' Pearson correlations over systems after each swap.

        Args:
            coins: which systems and dialogues are swapped in each permutation.
            first: (pairs,) number of each pair's first metric.
            second: (pairs,) number of its second metric.

        Returns:
            (permutations, pairs): r(first) − r(second); NaN where a swap leaves a constant.
        """
        retained, moved = self._retained_and_moved(coins)
        retained -= retained.mean(axis=2, keepdims=True)
        moved -= moved.mean(axis=2, keepdims=True)
        # (permutations, m, m): the products of what one metric keeps with what another gives.
        crossed = np.matmul(retained.transpose(1, 0, 2), moved.transpose(1, 2, 0))
        lengths = [np.einsum("mps,mps->pm", one, one) for one in (retained, moved)]
        with_people = [(one @ self._human).T for one in (retained, moved)]

        def r(keeps: IntArray, gives: IntArray) -> FloatArray:
            variance = lengths[0][:, keeps] + lengths[1][:, gives] + 2.0 * crossed[:, keeps, gives]
            variance[variance < LEAST_VARIANCE_OF_SYSTEMS] = np.nan
            return np.asarray(
                (with_people[0][:, keeps] + with_people[1][:, gives]) / np.sqrt(variance)
            )

        return r(first, second) - r(second, first)

    def ranks(
        self, coins: Coins, first: IntArray, second: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Differences of two metrics' rank correlations over systems after each swap.

        Args:
            coins: which systems and dialogues are swapped in each permutation.
            first: (pairs,) number of each pair's first metric.
            second: (pairs,) number of its second metric.

        Returns:
            (permutations, pairs) of ρ, and of τ-b: first − second; NaN where a swap leaves a
            constant.

        Raises:
            ValueError: there are more than 4096 systems.
        """
        retained, moved = self._retained_and_moved(coins)
        permutations = retained.shape[1]
        spearman, kendall = (
            np.empty((permutations, len(first))),
            np.empty((permutations, len(first))),
        )
        at_once = max(1, ROWS_AT_ONCE // max(permutations, 1))

        def fill(start: int) -> None:
            part = slice(start, start + at_once)
            one, other = first[part], second[part]
            rows = np.concatenate((retained[one] + moved[other], retained[other] + moved[one]))
            found = spearman_and_kendall(
                self._order, np.round(rows.reshape(-1, self.systems), DECIMALS)
            )
            for into, values in zip((spearman, kendall), found, strict=True):
                firsts, seconds = values.reshape(2, len(one), permutations)
                into[:, part] = (firsts - seconds).T

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(fill, range(0, len(first), at_once)))
        return spearman, kendall

    def _retained_and_moved(self, coins: Coins) -> tuple[FloatArray, FloatArray]:
        """(m, permutations, systems) twice: each mean's part that stays and the part that goes to
        the other metric."""
        whole = self._part.sum(axis=2)
        of_dialogues = np.matmul(coins.dialogues, self._part.transpose(0, 2, 1))
        moved = coins.systems * whole[:, None, :] + (1.0 - 2.0 * coins.systems) * of_dialogues
        return whole[:, None, :] - moved, moved
