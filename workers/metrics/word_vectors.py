"""Word vectors from a text file in GloVe's format: a word and its numbers on each line, set apart
by spaces.

Such a file has up to millions of lines: it is read once for the words that are asked for, and only
those are kept.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers.metrics.named_files import named_file

FloatArray = NDArray[np.float32]
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
