"""Which texts go through a model together: those of like length, as many as a budget of tokens holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches_by_length(lengths: Sequence[int], token_budget: int) -> Iterator[list[int]]:
    """Places into ``lengths``, longest first. A batch's padded size, texts × its longest, is at most ``token_budget``;
    a text longer than that is a batch of its own."""
    batch: list[int] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * longest > token_budget:
            yield batch
            batch = []
        if not batch:
            longest = lengths[place]
        batch.append(place)
    if batch:
        yield batch
