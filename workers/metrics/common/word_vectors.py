"""Word vectors, and Embedding Average, Vector Extrema and Greedy Matching of a pair of texts, all
from the same vectors of its words.

With word vectors x of one text and y of the other (the formulas are those of nlg-eval, Sharma et
al. 2017):

* average: cos(Σ x, Σ y);
* extrema: cos of the vectors that hold, for each dimension, the value farthest from 0 (or the
  largest value);
* greedy: the mean of G(x, y) and G(y, x), G(x, y) = mean over i of maxⱼ cos(xᵢ, yⱼ).

A file in GloVe's format has a word and its numbers on each line, set apart by spaces, and up to
millions of lines: it is read once for the words that are asked for, and only those are kept.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from workers.inference.encoders.encoder import TextEncoder
from workers.inference.encoders.feature_store import FeatureStore, feature_store
from workers.metrics.base import Account, Read
from workers.metrics.common.named_files import named_file
from workers.metrics.common.pair_scores import READ_COLUMNS, Pair, Values, read_columns
from workers.metrics.common.readability import ReadPair, read_of
from workers.metrics.common.token_matching import FloatArray, best_matches, unit_rows

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


_HEADER = re.compile(rb"\d+ \d+\s*")
"""word2vec's text format begins with the number of words and dimensions."""
_MAX_LINE_LENGTH = 1_000_000
_READ_AT_ONCE = 1 << 20
_TOKEN = re.compile(
    r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+?(?=n't\b)|\w+(?:[-.]\w+)*|[^\w\s]", re.IGNORECASE
)


class WordVectorsError(ValueError):
    """The file cannot be used; the message names it, the line and the fault."""


def text_in(text: str) -> list[str]:
    """Split a text into words as GloVe's corpora were split.

    Returns:
        Words and marks in order: marks stand apart, *don't* is *do* and *n't*, *it's* is *it* and
        *'s*. Case is kept.
    """
    return _TOKEN.findall(text.replace("’", "'"))


class WordVectors:
    """The vectors of one file. Raises ``WordVectorsError`` where the file is not there or has no
    vectors.

    ``revision``: the first digits of the SHA-256 over the file.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser()
        self.dimensions = self._first_dimensions()
        with self.path.open("rb") as stream:
            self.revision = hashlib.file_digest(stream, "sha256").hexdigest()[:12]
        self._known: dict[str, FloatArray | None] = {}
        self._mean: FloatArray | None = None

    def look_up(self, words: Iterable[str]) -> None:
        """Read the file for words that were not asked for before.

        Args:
            words: as they are written; their lower-cased forms are looked up, too.

        Raises:
            WordVectorsError: the file cannot be read, a line has too few numbers or is too long, or
                that of a word that was asked for is not UTF-8, has too many numbers or one that is
                not finite.
        """
        new = {form for word in words for form in (word, word.lower()) if form not in self._known}
        if not new:
            return
        wanted = {word.encode("utf-8", "replace"): word for word in new}
        self._known.update(dict.fromkeys(new))
        for number, line in self._lines():
            word = wanted.get(line.partition(b" ")[0])
            if word is None:
                self._check(number, line)
            elif self._known[word] is None and (vector := self._vector(number, line)) is not None:
                self._known[word] = vector

    def of(self, word: str) -> FloatArray | None:
        """Vector of a word that was looked up.

        Args:
            word: as it is written; where the file does not have it, its lower-cased form counts.

        Returns:
            (dimensions,); None where there is none, or where the word was not looked up.
        """
        vector = self._known.get(word)
        return vector if vector is not None else self._known.get(word.lower())

    def mean(self) -> FloatArray:
        """Mean of all vectors of the file. The first call reads the whole file.

        Returns:
            (dimensions,). Entries of several words are left out.

        Raises:
            WordVectorsError: the file cannot be read, or a line is not UTF-8, has another number of
                numbers than the first line, or one that is not finite.
        """
        if self._mean is None:
            total, count = np.zeros(self.dimensions), 0
            for number, line in self._lines():
                vector = self._vector(number, line)
                if vector is not None:
                    total += vector
                    count += 1
            self._mean = (total / count).astype(np.float32)
        return self._mean

    def _first_dimensions(self) -> int:
        for number, line in self._lines():
            dimensions = line.count(b" ")
            if dimensions == 0:
                raise self._fault(
                    number, "a word and its numbers must be on each line, set apart by spaces"
                )
            return dimensions
        raise WordVectorsError(f"{self.path} holds no word vectors")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        try:
            with self.path.open("rb", buffering=_READ_AT_ONCE) as stream:
                number = 0
                while line := stream.readline(_MAX_LINE_LENGTH):
                    number += 1
                    line = line.rstrip()
                    if len(line) >= _MAX_LINE_LENGTH - 2:
                        raise self._fault(number, "the line is longer than a million bytes")
                    if line and not (number == 1 and _HEADER.fullmatch(line)):
                        yield number, line
        except OSError as fault:
            raise WordVectorsError(
                f"the word vectors {self.path} cannot be read: {fault.strerror}"
            ) from fault

    def _check(self, number: int, line: bytes) -> None:
        """What costs little to find out of a line that nobody asked for: a file cut short must not
        pass unseen."""
        if line.count(b" ") < self.dimensions:
            raise self._wrong_length(number, line)

    def _vector(self, number: int, line: bytes) -> FloatArray | None:
        """None for an entry of several words, which some files have: no text's word is one."""
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as fault:
            raise self._fault(
                number, f"is not UTF-8: {fault.reason} at byte {fault.start}"
            ) from fault
        fields = line.split(b" ")
        if len(fields) != self.dimensions + 1:
            if len(fields) > self.dimensions + 1 and not _is_number(fields[1]):
                return None
            raise self._wrong_length(number, line)
        try:
            vector = np.array(fields[1:], dtype=np.float32)
        except ValueError:
            wrong = next(
                index for index, field in enumerate(fields[1:], 1) if not _is_number(field)
            )
            raise self._fault(number, f"what should be the word's number {wrong} is none") from None
        if not np.isfinite(vector).all():
            raise self._fault(number, "a number is NaN or infinite")
        return vector

    def _wrong_length(self, number: int, line: bytes) -> WordVectorsError:
        return self._fault(
            number, f"{line.count(b' ')} numbers where the first line has {self.dimensions}"
        )

    def _fault(self, number: int, fault: str) -> WordVectorsError:
        return WordVectorsError(f"the word vectors {self.path} line {number}: {fault}")


def _is_number(field: bytes) -> bool:
    try:
        return not math.isnan(float(field)) or field.lower() == b"nan"
    except ValueError:
        return False


def word_vectors_at(path: str) -> WordVectors:
    """Word vectors of a file, shared within the process. A file that has changed is read anew.

    Args:
        path: of a text file in GloVe's format; ``~`` stands for the home folder.

    Raises:
        WordVectorsError: there is no such regular file, it cannot be read, or it has no vectors.
    """
    file = named_file(path)
    if file is None:
        raise WordVectorsError(f"the word vectors {path} cannot be read: there is no such file")
    changed = file.stat().st_mtime_ns
    return _word_vectors(path, changed)


@lru_cache(maxsize=2)
# It tells a changed file apart.
def _word_vectors(path: str, changed: int) -> WordVectors:  # noqa: ARG001
    return WordVectors(path)
