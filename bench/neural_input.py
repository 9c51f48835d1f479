"""What ``bench.neural`` scores: dialogues of ComperDial's shape, answered by 99 systems, made with
a seed.

Words are drawn by rank (Zipf) from the encoder's own vocabulary, so that a word is about a token,
as in English. Lengths are those of chat: 4 to 30 words, 12 on average. Systems are dull in their
own ways: some answers are one of a few stock phrases that all of them use, and now and then a
system repeats itself or says what another said.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from annotations.formats.records import Utterance
from workers.metrics.base import Example

DIALOGUES, TURNS, SYSTEMS = 15, 7, 99
STOCK = 20
STOCK_SHARE, REPEATED_SHARE, COPIED_SHARE = 0.03, 0.02, 0.02


def made_systems(
    words: Sequence[str], systems: int = SYSTEMS, seed: int = 0
) -> list[list[Example]]:
    """``systems`` lists of 105 examples: the same places, the same references, other responses."""
    source = random.Random(seed)
    weights = [1 / (rank + 2) for rank in range(len(words))]

    def sentence() -> str:
        length = min(30, 4 + int(source.expovariate(1 / 8)))
        drawn = source.choices(words, weights, k=length)
        return " ".join(drawn).capitalize() + source.choice((".", ".", "?", "!"))

    places = [place for dialogue in range(DIALOGUES) for place in _places(dialogue, sentence)]
    stock = [sentence() for _ in range(STOCK)]
    answered: list[list[str]] = []
    for _ in range(systems):
        said: list[str] = []
        for turn in range(len(places)):
            said.append(_response(source, sentence, stock, said, answered, turn))
        answered.append(said)
    return [
        [
            Example(str(dialogue), turn, persona, (), context, (reference,), response)
            for (dialogue, turn, persona, context, reference), response in zip(
                places, responses, strict=True
            )
        ]
        for responses in answered
    ]


def _places(dialogue, sentence):
    persona = tuple(sentence() for _ in range(5))
    spoken: tuple[Utterance, ...] = ()
    for turn in range(TURNS):
        spoken = (*spoken, Utterance("A", sentence()))
        reference = sentence()
        yield dialogue, turn, persona, spoken, reference
        spoken = (*spoken, Utterance("B", reference))


def _response(source, sentence, stock, own, others, turn) -> str:
    drawn = source.random()
    if drawn < STOCK_SHARE:
        return source.choice(stock)
    if own and drawn < STOCK_SHARE + REPEATED_SHARE:
        return source.choice(own)
    if others and drawn < STOCK_SHARE + REPEATED_SHARE + COPIED_SHARE:
        return source.choice(others)[turn]
    return sentence()


def vocabulary(folder: str) -> list[str]:
    """Whole words of letters among the encoder's word pieces, in its own order, the frequent ones
    first."""
    from pathlib import Path

    lines = (Path(folder) / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return [
        word
        for word in lines
        if word.isascii() and word.isalpha() and word.islower() and len(word) > 1
    ][:8000]
