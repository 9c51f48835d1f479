"""Wrong responses, drawn anew for every epoch, the same ones whenever the same seed is used: random
numbers depend on a seed and on what they are for, not on what was drawn before.

Answers made ungrammatical are the syntactic negatives of MAUDE (Sinha et al., 2020), made here by
rules.

- ``order``: the words in another order;
- ``drop``: each word left out with a chance of one in four, one at least, but not all;
- ``repeat``: each word said twice with a chance of one in four, one at least.

The paper names the three and not how often; its released code reads them from files made before
training. A word is what stands between blanks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from workers.training.core.conversations import Pair, key_of

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


Kind = Literal["order", "drop", "repeat"]
KINDS: tuple[Kind, ...] = ("order", "drop", "repeat")

CHANCE = 0.25
TRIES = 10
"""Orders drawn before words that are all alike, or nearly, are repeated instead."""


def perturbed(response: str, count: int, random: np.random.Generator) -> list[str]:
    """``count`` texts, the kinds in turn. What a kind cannot change, one word or words that are all
    alike, is repeated. Every text differs from the response but for its blanks. Raises
    ``ValueError`` for a response without words."""
    words = response.split()
    if not words:
        raise ValueError("a response without words has no words to change")
    return [
        " ".join(_changed(words, KINDS[number % len(KINDS)], random)) for number in range(count)
    ]


def _changed(words: list[str], kind: Kind, random: np.random.Generator) -> list[str]:
    if kind == "order" and len(set(words)) > 1:
        for _ in range(TRIES):
            if (moved := [words[index] for index in random.permutation(len(words))]) != words:
                return moved
    if kind == "drop" and len(words) > 1:
        dropped = _some(len(words), random)
        if all(dropped):
            dropped[int(random.integers(len(words)))] = False
        return [word for word, is_out in zip(words, dropped, strict=True) if not is_out]
    again = _some(len(words), random)
    return [
        repeated
        for word, is_twice in zip(words, again, strict=True)
        for repeated in (word,) * (1 + is_twice)
    ]


def _some(words: int, random: np.random.Generator) -> list[bool]:
    """Each with a chance of ``CHANCE``, one at least."""
    chosen: list[bool] = (random.random(words) < CHANCE).tolist()
    if not any(chosen):
        chosen[int(random.integers(words))] = True
    return chosen


def stream(seed: int, *names: str) -> np.random.Generator:
    """The same seed and names give the same numbers in every process, whatever else is computed and
    in which order."""
    document = json.dumps([seed, *names]).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(document).digest()))
