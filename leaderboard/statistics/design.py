"""Crossed or nested: which systems have scores in which dialogues, and what follows for comparing
them.

In a crossed design all systems answer the same dialogues (batch evaluation on a fixed test set). In
a nested design every system has dialogues of its own (interactive evaluation): nothing pairs two
systems' scores, so differences are unpaired, and dialogues are resampled within each system. Partly
crossed is what lies between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

IntArray = NDArray[np.int64]
Kind = Literal["crossed", "nested", "partly crossed"]

TEXTS: dict[Kind, str] = {
    "crossed": "",
    "nested": (
        "Nested design: every system has dialogues of its own. Systems are compared unpaired, and "
        "dialogues are resampled within each system"
    ),
    "partly crossed": (
        "Partly crossed design: systems share some dialogues. Two systems are compared on those "
        "that they share where these are at least half of the smaller set, else unpaired"
    ),
}
"""For tables, pages and reports; a crossed design, the usual one, needs no words."""
LEAST_SHARED = 0.5
"""Two systems are compared on the dialogues that they share where these are at least so large a
part of those of the system that has fewer. Below, pairing would throw most scores away."""


@dataclass(frozen=True)
class Design:
    """``present``: (systems, dialogues) whether the system has a score, or a response, in the
    dialogue."""

    present: NDArray[np.bool_]

    @classmethod
    def of(
        cls, places: Iterable[tuple[ArrayLike, ArrayLike]], systems: int, dialogues: int
    ) -> Design:
        """The design of the (system, dialogue) pairs that are present.

        Args:
            places: Pairs of lists, system numbers and dialogue numbers from 0, of what is present.
            systems: Number of systems.
            dialogues: Number of dialogues.

        Returns:
            A design of (systems, dialogues).
        """
        present = np.zeros((systems, dialogues), dtype=bool)
        for system, dialogue in places:
            present[np.asarray(system, dtype=np.int64), np.asarray(dialogue, dtype=np.int64)] = True
        return cls(present)

    @cached_property
    def kind(self) -> Kind:
        """Of the systems and dialogues that anything is present of. A single system is crossed with
        its dialogues."""
        present = self.present[self.present.any(axis=1)][:, self.present.any(axis=0)]
        if present.all():
            return "crossed"
        return "nested" if (present.sum(axis=0) == 1).all() else "partly crossed"

    def shared(self, first: int, second: int) -> int:
        """How many dialogues both systems have.

        Args:
            first: System number.
            second: System number.

        Returns:
            A count, at least 0.
        """
        return int((self.present[first] & self.present[second]).sum())

    def is_paired(self, first: int, second: int) -> bool:
        """Whether two systems are compared on their shared dialogues, and not each on its own.

        Args:
            first: System number.
            second: System number.

        Returns:
            True where they share a dialogue, and share at least half of the dialogues of the system
            that has fewer (``LEAST_SHARED``).
        """
        fewer = int(min(self.present[first].sum(), self.present[second].sum()))
        shared = self.shared(first, second)
        return shared > 0 and shared >= LEAST_SHARED * fewer

    @cached_property
    def strata(self) -> IntArray:
        """The strata within which dialogues are resampled.

        Returns:
            (dialogues,) numbers from 0. Dialogues of systems that shared dialogues link are one
            stratum. Crossed: one stratum; nested: one per system. Dialogues in which nothing is
            present are in stratum 0.
        """
        if not self.present.any():
            return np.zeros(self.present.shape[1], dtype=np.int64)
        # Not needed where nothing is resampled
        from scipy.sparse.csgraph import connected_components

        there = self.present.astype(np.int64)
        of_system = connected_components(there @ there.T, directed=False)[1]
        of_dialogue = of_system[self.present.argmax(axis=0)]
        return np.asarray(np.unique(of_dialogue, return_inverse=True)[1], dtype=np.int64)
