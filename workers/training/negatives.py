"""Wrong responses, drawn anew for every epoch, the same ones whenever the same seed is used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workers.training.letters import key_of
from workers.training.pairs import Pair

Indices = npt.NDArray[np.int64]
_ROUNDS = 50
"""Of drawing again what may not stand. A row that is left then has few responses to choose from."""


class NegativeSampler:
    """For every pair ``count`` other pairs whose responses are wrong answers to its context.

    Drawn uniformly among the pairs of all other dialogues whose response is another text
    (``letters.key_of``), no pair twice for the same context. So a text that many people said is
    drawn as often as it was said. DEnsity says only "randomly sampled from a dialogue corpus"
    (section 3.1); CMN asks for "references from other conversation turns".

    Raises ValueError where a pair has fewer than ``count`` such pairs.
    """

    def __init__(self, pairs: Sequence[Pair], count: int, seed: int) -> None:
        if count < 1:
            raise ValueError(f"count: {count} negatives; at least 1 is needed")
        self.count = count
        self.seed = seed
        self._dialogue = np.array([pair.dialogue for pair in pairs], dtype=np.int64)
        numbers: dict[str, int] = {}
        self._text = np.array(
            [numbers.setdefault(key_of(pair.response), len(numbers)) for pair in pairs],
            dtype=np.int64,
        )
        self._refuse_too_few()

    def for_epoch(self, epoch: int) -> Indices:
        """Places in ``pairs``, (pairs × count). Hangs on the seed and the epoch only, not on
        earlier calls."""
        rng = np.random.default_rng([self.seed, epoch])
        rows = len(self._dialogue)
        drawn = rng.integers(0, rows, (rows, self.count), dtype=np.int64)
        open_rows = np.arange(rows)
        for _ in range(_ROUNDS):
            wrong = self._wrong(open_rows, drawn[open_rows])
            bad = wrong.any(axis=1)
            open_rows, wrong = open_rows[bad], wrong[bad]
            if not len(open_rows):
                return drawn
            again = drawn[open_rows]
            again[wrong] = rng.integers(0, rows, int(wrong.sum()), dtype=np.int64)
            drawn[open_rows] = again
        for row in open_rows:
            allowed = np.flatnonzero(
                (self._dialogue != self._dialogue[row]) & (self._text != self._text[row])
            )
            drawn[row] = rng.choice(allowed, self.count, replace=False)
        return drawn

    def _wrong(self, rows: Indices, drawn: Indices) -> npt.NDArray[np.bool_]:
        """Which of the drawn places may not stand in their row: the same shape as ``drawn``."""
        of_dialogue = self._dialogue[drawn] == self._dialogue[rows][:, None]
        of_text = self._text[drawn] == self._text[rows][:, None]
        order = np.argsort(drawn, axis=1, kind="stable")
        in_order = np.take_along_axis(drawn, order, axis=1)
        repeats = np.zeros(drawn.shape, dtype=np.bool_)
        repeats[:, 1:] = in_order[:, 1:] == in_order[:, :-1]
        twice = np.empty_like(repeats)
        np.put_along_axis(twice, order, repeats, axis=1)
        wrong: npt.NDArray[np.bool_] = of_dialogue | of_text | twice
        return wrong

    def _refuse_too_few(self) -> None:
        if not len(self._dialogue):
            return
        _, dialogue, of_dialogue = np.unique(
            self._dialogue, return_inverse=True, return_counts=True
        )
        of_text = np.bincount(self._text)
        both = dialogue * len(of_text) + self._text
        _, index, of_both = np.unique(both, return_inverse=True, return_counts=True)
        allowed = len(dialogue) - of_dialogue[dialogue] - of_text[self._text] + of_both[index]
        worst = int(allowed.min())
        if worst < self.count:
            raise ValueError(
                f"{self.count} negatives a context are wanted, and a response of the data has "
                f"only {worst} responses of other dialogues with another text: take fewer "
                "negatives or more dialogues"
            )
