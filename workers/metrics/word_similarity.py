"""Embedding Average, Vector Extrema and Greedy Matching of a pair of texts, all from the same
vectors of its words.

With word vectors x of one text and y of the other (the formulas are those of nlg-eval, Sharma et
al. 2017):

* average: cos(Σ x, Σ y);
* extrema: cos of the vectors that hold, for each dimension, the value farthest from 0 (or the
  largest value);
* greedy: the mean of G(x, y) and G(y, x), G(x, y) = mean over i of maxⱼ cos(xᵢ, yⱼ).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from workers.encoders.encoder import TextEncoder
from workers.encoders.feature_store import FeatureStore, feature_store
from workers.metrics.base import Account, Read
from workers.metrics.greedy_pairs import FloatArray, best_matches, unit_rows
from workers.metrics.pair_scores import READ_COLUMNS, Pair, Values, read_columns
from workers.metrics.readability import ReadPair, read_of
from workers.metrics.word_vectors import WordVectors, text_in

AVERAGE, EXTREMA, LARGEST, GREEDY = range(4)
"""Columns of what a comparison yields."""


class WordSource(Protocol):
    """Where the vectors of a text's words come from."""

    store: FeatureStore
    namespace: str

    def vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """Vectors of each text's words.

        Returns:
            For each text (words, dimensions); no row where none of its words is known.
        """
        ...

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Count each text's words, and how many of them are not known.

        Args:
            texts: whose ``vectors`` were asked for before.
        """
        ...

    def account(self) -> Account:
        """Run metadata: which vectors were used."""
        ...


class InputEmbeddings:
    """An encoder's word pieces and the rows of its embedding matrix: what it knows of words without
    a sentence."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self.store = encoder.store
        self.namespace = encoder.namespace

    def vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """Rows of the embedding matrix for each text's word pieces; see ``WordSource.vectors``."""
        return self._encoder.input_embeddings(texts)

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Count word pieces; see ``WordSource.read``."""
        return [read_of(ids, self._encoder.unknown_id) for ids in self._encoder.token_ids(texts)]

    def account(self) -> Account:
        # A row of the matrix is looked up where the model is not: neither device nor its number
        # format plays a part.
        return Account(self._encoder.files.label, "cpu", (("vectors_of", "input embeddings"),))


class FileVectors:
    """Words of a GloVe file. Unknown ones are left out, or stand for the mean of all vectors, as
    nlg-eval has it."""

    def __init__(self, vectors: WordVectors, unknown: str) -> None:
        self._vectors = vectors
        self._unknown = unknown
        self.store = feature_store()
        self.namespace = f"{vectors.revision}/{unknown}"

    def vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """Vectors of each text's words; see ``WordSource.vectors``."""
        words = [text_in(text) for text in texts]
        self._vectors.look_up(word for text in words for word in text)
        default = self._vectors.mean() if self._unknown == "mean" else None
        found = []
        for text in words:
            looked_up = (self._vectors.of(word) for word in text)
            known = [default if vector is None else vector for vector in looked_up]
            rows = [vector for vector in known if vector is not None]
            found.append(
                np.array(rows, dtype=np.float32).reshape(len(rows), self._vectors.dimensions)
            )
        return found

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Count words; see ``WordSource.read``: only of texts whose vectors were asked for."""
        words = [text_in(text) for text in texts]
        return [
            Read(len(of_text), sum(self._vectors.of(word) is None for word in of_text))
            for of_text in words
        ]

    def account(self) -> Account:
        return Account(
            f"{self._vectors.path.name}@{self._vectors.revision}", "cpu", (("vectors_of", "words"),)
        )


class WordSimilarity:
    """A ``PairComparison`` on the words of two texts."""

    width = 4 + READ_COLUMNS

    def __init__(self, source: WordSource) -> None:
        self._source = source
        self.store = source.store
        self.namespace = f"words/{source.namespace}" if source.namespace else ""

    def compare(self, pairs: Sequence[Pair]) -> Values:
        """Compare the words of two texts; see ``PairComparison.compare``.

        Returns:
            (pairs, 9): the cosines average, extrema and largest, greedy matching, each in [−1, 1],
            and what was read. NaN where a text has no known word, or only zeros. Equal texts have
            exactly 1, so that they are ties.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        rows = dict(zip(texts, self._source.vectors(texts), strict=True))
        read = dict(zip(texts, self._source.read(texts), strict=True))
        values = np.full((len(pairs), self.width), np.nan)
        values[:, GREEDY + 1 :] = [
            read_columns(ReadPair(read[one], read[other], np.array_equal(rows[one], rows[other])))
            for one, other in pairs
        ]
        known = {
            text: index for index, text in enumerate(text for text in texts if len(rows[text]))
        }
        whole = [index for index, pair in enumerate(pairs) if pair[0] in known and pair[1] in known]
        if not whole:
            return values
        responses = [known[pairs[index][0]] for index in whole]
        references = [known[pairs[index][1]] for index in whole]
        for column, of_texts in zip(
            (AVERAGE, EXTREMA, LARGEST), _whole_texts([rows[text] for text in known]), strict=True
        ):
            values[whole, column] = _cosines(of_texts, responses, references)
        units = {text: unit_rows(rows[text]) for text in texts}
        for match in best_matches(pairs, units, units):
            values[match.place, GREEDY] = (match.of_response.mean() + match.of_reference.mean()) / 2
        same = [index for index, pair in enumerate(pairs) if pair[0] == pair[1]]
        of_same = values[same, : GREEDY + 1]
        # To the last digit, so that they are ties
        values[same, : GREEDY + 1] = np.where(np.isnan(of_same), np.nan, 1.0)
        return values

    # A cosine is a score as it is.
    def finish(self, column: int, value: float) -> float:  # noqa: ARG002
        return value

    def account(self) -> Account:
        return self._source.account()


def _whole_texts(texts: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Per text, of its words' vectors in each dimension: the sum, the value farthest from 0, the
    largest value."""
    starts = np.cumsum([0, *map(len, texts[:-1])])
    rows = np.concatenate(texts)
    largest = np.maximum.reduceat(rows, starts, axis=0)
    smallest = np.minimum.reduceat(rows, starts, axis=0)
    return (
        np.add.reduceat(rows, starts, axis=0),
        np.where(largest > -smallest, largest, smallest),
        largest,
    )


def _cosines(of_texts: FloatArray, left: Sequence[int], right: Sequence[int]) -> Values:
    """NaN where a vector is 0: it has no direction."""
    norms = np.linalg.norm(of_texts, axis=1, keepdims=True)
    units = of_texts.astype(np.float64) / np.where(norms == 0, np.nan, norms)
    cosines: Values = np.einsum("pd,pd->p", units[list(left)], units[list(right)])
    return cosines
