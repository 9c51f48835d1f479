"""Token sequences as a tree, so that what several begin with goes through a model once.

The systems of a corpus answer the same contexts, a later turn's context begins with an earlier
one's, and answers begin alike. Sorted, each sequence shares its beginning with the one before it; a
part of the tree that a budget of tokens holds is laid out in one row, in which a token attends to
its ancestors only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Scored:
    """The tokens of one sequence whose probability is asked for: all from ``first`` on, which is at
    least 1."""

    tokens: tuple[int, ...]
    first: int


@dataclass(slots=True)
class Row:
    """Nodes of the tree in one row, every node after its parent and before the descendants of its
    later siblings."""

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    """How many ancestors each has: its position in the text."""
    last_descendants: list[int] = field(default_factory=list)
    """The place of each node's last descendant, its own where it has none."""
    sequences: list[int] = field(default_factory=list)
    """Which of the sequences are in this row, as places into what was given."""
    predictors: list[NDArray[np.int64]] = field(default_factory=list)
    """For each of them the nodes that predict its scored tokens, in order."""

    def mask(self) -> NDArray[np.bool_]:
        """nodes × nodes: whether the first attends to the second, itself or an ancestor."""
        indices = np.arange(len(self.tokens))
        last = np.array(self.last_descendants)
        seen: NDArray[np.bool_] = (indices[:, None] >= indices[None, :]) & (
            indices[:, None] <= last[None, :]
        )
        return seen


def in_rows(sequences: Sequence[Scored], budget: int) -> Iterator[Row]:
    """Rows of at most ``budget`` nodes that hold every sequence; one that is longer has a row of
    its own.

    A sequence's last token predicts nothing and is in the row only where another sequence goes on
    from it.
    """
    row, path = Row(), list[int]()
    before: tuple[int, ...] = ()
    for index in sorted(range(len(sequences)), key=lambda index: sequences[index].tokens):
        inputs = sequences[index].tokens[:-1]
        shared = _common_beginning(before, inputs)
        if row.sequences and len(row.tokens) + len(inputs) - shared > budget:
            yield row
            row, path, shared = Row(), [], 0
        del path[shared:]
        for depth in range(shared, len(inputs)):
            path.append(len(row.tokens))
            row.tokens.append(inputs[depth])
            row.depths.append(depth)
            row.last_descendants.append(0)
        for node in path:
            row.last_descendants[node] = len(row.tokens) - 1
        row.sequences.append(index)
        row.predictors.append(np.array(path[sequences[index].first - 1 :], dtype=np.int64))
        before = inputs
    if row.sequences:
        yield row


def _common_beginning(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    shared = min(len(first), len(second))
    if first[:shared] == second[:shared]:
        return shared
    low, high = 0, shared  # first[:low] is common, first[:high] is not
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low
