"""Whether a response repeats what stands before it. Pure.

A model finds a repeated text very likely and an unrepeated one not, so a difference of the two
rewards an echo.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workers.metrics.normalisation import normalised_tokens

RUN = 4
"""Words in a row that count as copied; a shorter response counts where it stands in one text as a
whole."""
MIN_WORDS = 3
"""A shorter response ("yes i am" has three) repeats by chance."""
COPIED_SHARE = 0.5
"""From this share of its words on a response is said to copy."""


def copied_share(response: str, texts: Iterable[str]) -> float:
    """Share of the response's words that repeat what stands before it.

    Words are compared in lower case, without punctuation and articles.

    Args:
        texts: context, persona or both. A run may not go from one text into the next.

    Returns:
        In [0, 1]: the words that stand in runs of ``RUN`` (4) words of one of ``texts``. A response
        of three words counts where all three stand in one text in a row; 0 for a response of fewer
        words.
    """
    words = normalised_tokens(response)
    if len(words) < MIN_WORDS:
        return 0.0
    run = min(RUN, len(words))
    there = {gram for text in texts for gram in _runs(normalised_tokens(text), run)}
    copied: set[int] = set()
    for index, gram in enumerate(_runs(words, run)):
        if gram in there:
            copied.update(range(index, index + run))
    return len(copied) / len(words)


def copies(response: str, texts: Iterable[str]) -> bool:
    """Whether at least half of the response's words repeat ``texts`` (``copied_share``)."""
    return copied_share(response, texts) >= COPIED_SHARE


def _runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[index : index + length]) for index in range(len(words) - length + 1)]
