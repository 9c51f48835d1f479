"""r, ρ and τ-b of many metrics' system means with people's, under many swaps of two metrics.

After a swap a system's mean is what stayed of the first metric plus what came of the second: row b
of the one and row t of the other, each made once a metric. r of b + t needs the lengths of b and t
and their product with people and with each other; for ρ and τ-b the sums are ranked anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from common.correlation import THREADS
from leaderboard.statistics.permutation import DECIMALS, Coins
from leaderboard.statistics.placed_scores import FloatArray, IntArray
from leaderboard.statistics.ranked_rows import human_order, spearman_and_kendall

Kind = Literal["pearson", "ranks"]
LEAST_VARIANCE = 1e-18
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
            variance[variance < LEAST_VARIANCE] = np.nan
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
