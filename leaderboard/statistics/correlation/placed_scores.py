"""Scores with their place (system, dialogue), and the means that are made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import DIGITS_OF_PARTS, round_off

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class PlacedScores:
    """Several score lists over the same responses, each with its system and dialogue.

    Scores that are not finite become NaN, and all are rounded to 14 or 15 significant digits, so
    that scores that are equal but for how they were summed tie.

    Args:
        scores: (lists, n), NaN where there is no score; a single list may be (n,).
        system: (n,) numbers from 0, the same numbering wherever two ``PlacedScores`` meet.
        dialogue: (n,) numbers from 0, as ``system``.

    Raises:
        ValueError: ``system`` or ``dialogue`` has another length than the scores, or a negative
            number.
    """

    scores: FloatArray
    system: IntArray
    dialogue: IntArray

    def __post_init__(self) -> None:
        scores = np.atleast_2d(np.asarray(self.scores, dtype=np.float64))
        # Scores that are equal but for how they were summed are ties.
        object.__setattr__(
            self,
            "scores",
            round_off(np.where(np.isfinite(scores), scores, np.nan), DIGITS_OF_PARTS),
        )
        for name in ("system", "dialogue"):
            places = np.asarray(getattr(self, name), dtype=np.int64)
            if places.shape != (scores.shape[1],):
                raise ValueError(
                    f"{name} has shape {places.shape}, the scores have {scores.shape[1]} places"
                )
            if len(places) and places.min() < 0:
                raise ValueError(f"{name} numbers start at 0")
            object.__setattr__(self, name, places)


@dataclass(frozen=True)
class SystemSums:
    """One score list's sums and counts per system and dialogue: means of any resample are two
    matrix products."""

    total: FloatArray
    """(systems, dialogues)"""
    count: FloatArray
    """(systems, dialogues) how many responses have a score."""

    def means(self) -> FloatArray:
        """Mean score of each system.

        Returns:
            (systems,) mean over all scored responses of the system; NaN where it has none.
        """
        return round_off(_ratio(self.total.sum(axis=1), self.count.sum(axis=1)))

    def resampled_means(self, weights: FloatArray, drawn: FloatArray | None = None) -> FloatArray:
        """Mean score of each system in each resample of dialogues.

        Args:
            weights: (resamples, dialogues) how often each dialogue counts.
            drawn: ``resampled_counts(weights)``, where the caller has it from other scores of the
                same responses; None to compute it.

        Returns:
            (resamples, systems); NaN where a resample has no scored response of the system.
        """
        return round_off(
            _ratio(
                weights @ self.total.T, self.resampled_counts(weights) if drawn is None else drawn
            )
        )

    def resampled_counts(self, weights: FloatArray) -> FloatArray:
        """Number of scored responses of each system in each resample of dialogues.

        Args:
            weights: (resamples, dialogues) how often each dialogue counts.

        Returns:
            (resamples, systems)
        """
        return np.asarray(weights @ self.count.T)

    def only(self, systems: NDArray[np.bool_]) -> SystemSums:
        """The sums of some of the systems.

        Args:
            systems: (systems,) whether to include each.

        Returns:
            Sums of the selected systems, in their order, over the same dialogues.
        """
        return SystemSums(self.total[systems], self.count[systems])

    def dialogue_means(self) -> FloatArray:
        """Mean score of each system in each dialogue.

        Returns:
            (systems, dialogues) mean over the scored turns; NaN where there is none.
        """
        return round_off(_ratio(self.total, self.count))


def system_sums(
    scores: FloatArray, system: IntArray, dialogue: IntArray, systems: int, dialogues: int
) -> SystemSums:
    """Sums and counts of one score list per system and dialogue.

    Args:
        scores: (n,); NaN scores are left out of sums and counts.
        system: (n,) numbers from 0.
        dialogue: (n,) numbers from 0.
        systems: number of systems, those without scores included.
        dialogues: number of dialogues, those without scores included.

    Returns:
        Totals and counts, (systems, dialogues) each; both 0 where nothing is scored.
    """
    scored = np.isfinite(scores)
    cell = system[scored] * dialogues + dialogue[scored]
    total = np.bincount(cell, weights=scores[scored], minlength=systems * dialogues).astype(
        np.float64
    )
    count = np.bincount(cell, minlength=systems * dialogues).astype(np.float64)
    return SystemSums(total.reshape(systems, dialogues), count.reshape(systems, dialogues))


def dialogue_means(placed: PlacedScores, systems: int, dialogues: int) -> PlacedScores:
    """Average turn scores into one score per system and dialogue.

    Args:
        placed: scores of turns.
        systems: number of systems, those without scores included.
        dialogues: number of dialogues, those without scores included.

    Returns:
        (lists, systems · dialogues) means over the scored turns, NaN where a system has none in a
        dialogue. The grid is always complete, so that the entries of human and metric scores match.
    """
    rows = [
        system_sums(row, placed.system, placed.dialogue, systems, dialogues)
        .dialogue_means()
        .ravel()
        for row in placed.scores
    ]
    return PlacedScores(
        scores=np.array(rows).reshape(len(rows), systems * dialogues),
        system=np.repeat(np.arange(systems), dialogues),
        dialogue=np.tile(np.arange(dialogues), systems),
    )


def _ratio(total: FloatArray, count: FloatArray) -> FloatArray:
    means: FloatArray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means
