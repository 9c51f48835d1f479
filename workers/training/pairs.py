"""What a response-selection model learns from: a context and the response that people gave to
it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.formats.records import Utterance
from workers.training.dialogues import TrainingDialogue


@dataclass(frozen=True, slots=True)
class Pair:
    """One place in a dialogue where somebody answers."""

    dialogue: int
    """The dialogue's place in the sequence that ``pairs_of`` was given."""
    turn: int
    """The response's place among the dialogue's utterances: 1 or more, and so the number of
    utterances before it."""
    context: tuple[Utterance, ...]
    """All utterances before the response, oldest first."""
    response: str
    persona: tuple[str, ...]
    """Of the speaker who responds."""


def pairs_of(dialogues: Sequence[TrainingDialogue]) -> tuple[Pair, ...]:
    """Every utterance but the first of its dialogue, by either speaker, as the answer to all that
    stands before it.

    In the order of dialogues, then of turns. A dialogue of n utterances makes n - 1 pairs.
    """
    return tuple(
        Pair(
            index,
            turn,
            dialogue.utterances[:turn],
            dialogue.utterances[turn].text,
            dialogue.persona_of(dialogue.utterances[turn].speaker),
        )
        for index, dialogue in enumerate(dialogues)
        for turn in range(1, len(dialogue.utterances))
    )


def indices_in_epoch(pairs: int, an_epoch: int, epoch: int, seed: int) -> NDArray[np.int64]:
    """Which of so many pairs an epoch goes over, ``an_epoch`` of them (0: all): a place in an
    endless row of permutations, so that none comes twice before all have come."""
    wanted = min(an_epoch or pairs, pairs)
    first, last = epoch * wanted, (epoch + 1) * wanted
    rounds = range(first // pairs, (last - 1) // pairs + 1)
    orders = [np.random.default_rng((seed, number)).permutation(pairs) for number in rounds]
    start = first - rounds[0] * pairs
    return np.concatenate(orders)[start : start + wanted]
