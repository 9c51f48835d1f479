"""Which texts go through a model together: those of like length, as many as a budget of tokens
holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ALIKE = 0.8
"""A text shorter than this share of a batch's longest is padding for the most part: another batch,
where it pays."""


def batches_by_length(
    lengths: Sequence[int], token_budget: int, worth_a_batch: int | None = None
) -> Iterator[list[int]]:
    """Places into ``lengths``, longest first. A batch's padded size, texts × its longest, is at
    most ``token_budget``; a text longer than that is a batch of its own. A batch of
    ``worth_a_batch`` tokens takes no text that is much shorter than its longest; None: it does."""
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        is_full = (len(batch) + 1) * longest > token_budget
        is_worth_it = worth_a_batch is not None and len(batch) * longest >= worth_a_batch
        if batch and (is_full or (is_worth_it and lengths[index] < ALIKE * longest)):
            yield batch
            batch = []
        if not batch:
            longest = lengths[index]
        batch.append(index)
    if batch:
        yield batch
