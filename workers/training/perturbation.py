"""Answers made ungrammatical: the syntactic negatives of MAUDE (Sinha et al., 2020), made here by
rules.

- ``order``: the words in another order;
- ``drop``: each word left out with a chance of one in four, one at least, but not all;
- ``repeat``: each word said twice with a chance of one in four, one at least.

The paper names the three and not how often; its released code reads them from files made before
training. A word is what stands between blanks.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

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
