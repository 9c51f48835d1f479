"""Every token of a text with the most similar token of another: what BERTScore and Greedy Matching
are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.metrics.pair_scores import Pair

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Matches:
    """One response and one reference: for each token the largest cosine with a token of the other
    text."""

    place: int
    """Of the pair."""
    of_response: FloatArray
    of_reference: FloatArray


def unit_rows(rows: FloatArray) -> FloatArray:
    """Scale each row to length one.

    Args:
        rows: (tokens, dimensions).

    Returns:
        A new array of the same shape. A row of zeros stays, so that its cosine with anything is 0.
    """
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1
    units: FloatArray = rows / norms
    return units


def best_matches(
    pairs: Sequence[Pair], responses: Mapping[str, FloatArray], references: Mapping[str, FloatArray]
) -> Iterator[Matches]:
    """Match each token with the most similar token of the other text.

    All responses to one reference are compared with it in one product of matrices.

    Args:
        pairs: (response, reference) texts.
        responses: by text: (tokens, dimensions), rows of length one; no row where it has no token.
        references: the same for the references.

    Returns:
        One ``Matches`` for each pair whose two texts have tokens, grouped by reference and so not
        in the order of ``pairs``: (tokens,) largest cosines for each text, and the pair's index.
    """
    to_reference: dict[str, list[int]] = {}
    for index, (response, reference) in enumerate(pairs):
        if len(responses[response]) and len(references[reference]):
            to_reference.setdefault(reference, []).append(index)
    for reference, indices in to_reference.items():
        texts = [responses[pairs[index][0]] for index in indices]
        starts = np.cumsum([0, *map(len, texts)])
        cosines = np.concatenate(texts) @ references[reference].T
        of_response = cosines.max(axis=1)
        of_reference = np.maximum.reduceat(cosines, starts[:-1], axis=0)
        for row, index in enumerate(indices):
            yield Matches(index, of_response[starts[row] : starts[row + 1]], of_reference[row])
