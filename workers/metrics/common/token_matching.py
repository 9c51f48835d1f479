"""Greedy matching: every token of a text with the most similar token of another. BERTScore and
Greedy Matching are made of it.

BERTScore's comparison (Zhang et al., 2020, equations 1 and 2):
P = Σᵢ w(xᵢ) maxⱼ cos(xᵢ, yⱼ) / Σᵢ w(xᵢ) over the response's tokens x and the reference's y, R the
other way round, F1 = 2PR / (P + R). The special tokens around a text may be matched, but weigh
nothing. w is 1, or with idf log((n + 1) / (c + 1)) for a token that c of n references hold.

A token that is unlike every token of the other text, all cosines below 0, counts 0. That is the
package bert-score's rule wherever a pair stands in a batch with a longer one: it takes the maximum
over the padding, too, whose cosines it sets to 0. Only for the longest texts of a batch does it
take the negative value, so that there its scores depend on what else was scored; ours do not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from workers.inference.encoders.encoder import TextEncoder
from workers.inference.model_files import ModelError
from workers.metrics.base import Account
from workers.metrics.common.bertscore import rescaled
from workers.metrics.common.pair_scores import READ_COLUMNS, Pair, Values, read_columns
from workers.metrics.common.readability import ReadPair

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


PRECISION, RECALL, F1, CUT = range(4)  # and what was read
"""Columns of what a comparison yields. ``CUT`` is 1 where the response was too long for the model,
2 where the reference was, 3 where both were."""
REFERENCE_BYTES = 256_000_000
"""How much of the references' states is kept during a call."""
_REFERENCES_AT_ONCE = 1_000


class TokenMatching:
    """A ``PairComparison`` on the states after ``layer`` (1 … the encoder's last)."""

    width = 4 + READ_COLUMNS

    def __init__(
        self,
        encoder: TextEncoder,
        layer: int,
        documents: Sequence[str] | None = None,
        baselines: tuple[float, float, float] | None = None,
    ) -> None:
        """Prepare a comparison; with ``documents``, count how many of them hold each token.

        Args:
            encoder: gives the token states.
            layer: whose states are compared, 1 to the encoder's last.
            documents: the references that idf is counted over; None: every token weighs the same.
            baselines: of P, R and F1; None: scores are not rescaled.
        """
        self._encoder = encoder
        self._layer = layer
        self._baselines = baselines
        self.store = encoder.store
        # The tokens around a text are those that an empty one has: not all special ones, for an
        # unknown word counts.
        self._around = frozenset(encoder.token_states([""], layer, remember=True).ids[0].tolist())
        self._references = _ReferenceStates(self._encoded_references)
        self._weigh = self._identical
        self.namespace = f"bertscore/{encoder.namespace}/{layer}"
        if documents is not None:
            self.namespace = ""  # the weights are the corpus's, not the pair's
            self._idf, self._of_unseen = self._counted(documents)
            self._weigh = self._by_rarity

    def finish(self, column: int, value: float) -> float:
        """Rescale the value by its column's baseline, where there are baselines."""
        return value if self._baselines is None else rescaled(value, self._baselines[column])

    def account(self) -> Account:
        facts = [("layer_used", str(self._layer)), ("dtype", self._encoder.dtype_name)]
        if self._baselines is not None:
            facts.append(("baselines", " ".join(map(repr, self._baselines))))
        return Account(self._encoder.files.label, self._encoder.device_label, tuple(facts))

    def compare(self, pairs: Sequence[Pair]) -> Values:
        """Compare token states; see ``PairComparison.compare``.

        Returns:
            (pairs, 9): P, R, F1, which text was cut, and what was read. NaN where all tokens of a
            text have an idf of 0. A text without a token of its own scores 0, as in bert-score.

        Raises:
            ModelError: the model gives states whose similarity is no number.
        """
        responses = self._encoded(
            list(dict.fromkeys(response for response, _ in pairs)), remember=False
        )
        references = self._references.of(list(dict.fromkeys(reference for _, reference in pairs)))
        values = np.zeros((len(pairs), self.width))
        values[:, CUT] = [responses[one].cut + 2 * references[other].cut for one, other in pairs]
        values[:, CUT + 1 :] = [
            read_columns(
                ReadPair.of(
                    self._read(responses[one]),
                    self._read(references[other]),
                    self._encoder.unknown_id,
                )
            )
            for one, other in pairs
        ]
        states_of_responses = {text: encoded.states for text, encoded in responses.items()}
        states_of_references = {text: encoded.states for text, encoded in references.items()}
        for match in best_matches(pairs, states_of_responses, states_of_references):
            response, reference = pairs[match.place]
            if not responses[response].own_ids or not references[reference].own_ids:
                continue
            precision = _weighted_mean(
                np.maximum(match.of_response, 0), responses[response].weights
            )
            recall = _weighted_mean(
                np.maximum(match.of_reference, 0), references[reference].weights
            )
            total = precision + recall
            f1 = 2 * precision * recall / total if total != 0 else 0.0
            # A text matches itself to the last digit: how a sum was rounded must not rank those who
            # repeat a reference.
            same = response == reference and not math.isnan(precision)
            values[match.place, :CUT] = (1.0, 1.0, 1.0) if same else (precision, recall, f1)
        if np.isinf(values).any():
            raise ModelError(
                f"{self._encoder.files.label} gives states whose similarity is no number"
            )
        return values

    def _read(self, text: _Encoded) -> list[int]:
        return [id_ for id_ in text.own_ids if id_ != self._encoder.blank_id]

    def _encoded(self, texts: list[str], remember: bool) -> dict[str, _Encoded]:
        found = self._encoder.token_states(texts, self._layer, remember=remember)
        return {
            text: _Encoded(
                unit_rows(found.states[index]),
                self._weigh(found.ids[index]),
                own_ids=[id_ for id_ in found.ids[index].tolist() if id_ not in self._around],
                cut=index in found.cut,
            )
            for index, text in enumerate(texts)
        }

    def _encoded_references(self, texts: list[str]) -> dict[str, _Encoded]:
        return self._encoded(texts, remember=True)

    def _identical(self, ids: NDArray[np.int64]) -> FloatArray:
        return np.array([id_ not in self._around for id_ in ids.tolist()], dtype=np.float32)

    def _by_rarity(self, ids: NDArray[np.int64]) -> FloatArray:
        return np.array(
            [self._idf.get(id_, self._of_unseen) for id_ in ids.tolist()], dtype=np.float32
        )

    def _counted(self, documents: Sequence[str]) -> tuple[dict[int, float], float]:
        """The idf of each token, and of those that no document holds."""
        held_by: Counter[int] = Counter()
        for start in range(0, len(documents), _REFERENCES_AT_ONCE):
            for ids in self._encoder.token_states(
                documents[start : start + _REFERENCES_AT_ONCE], self._layer, remember=True
            ).ids:
                held_by.update(set(ids.tolist()))
        more = len(documents) + 1
        return {id_: math.log(more / (count + 1)) for id_, count in held_by.items()}, math.log(more)


class _Encoded:
    __slots__ = ("cut", "own_ids", "states", "weights")

    def __init__(
        self, states: FloatArray, weights: FloatArray, own_ids: list[int], cut: bool
    ) -> None:
        self.states = states
        self.weights = weights
        self.own_ids = own_ids
        self.cut = cut


class _ReferenceStates:
    """References come back with every block of responses: the last ones used are cached, up to
    ``REFERENCE_BYTES``."""

    def __init__(self, encode: Callable[[list[str]], dict[str, _Encoded]]) -> None:
        self._encode = encode
        self._cache: LRUCache[str, _Encoded] = LRUCache(
            REFERENCE_BYTES, lambda encoded: encoded.states.nbytes
        )

    def of(self, texts: list[str]) -> dict[str, _Encoded]:
        found = {text: self._cache[text] for text in texts if text in self._cache}
        new = self._encode([text for text in texts if text not in found])
        for text, encoded in new.items():
            if encoded.states.nbytes <= REFERENCE_BYTES:
                self._cache[text] = encoded
        return found | new


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else math.nan
