"""An encoder for tests whose vectors are given: a word is a token, and its state is always its
vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workers.inference.encoders.encoder import TokenStates, Vectors
from workers.inference.encoders.feature_store import FeatureStore
from workers.inference.model_files import ModelFiles

BEGIN, END = 1, 2
PLANE: Mapping[str, Sequence[float]] = {
    "east": (1, 0, 0, 0),
    "north": (0, 1, 0, 0),
    "northeast": (0.6, 0.8, 0, 0),
    "west": (-1, 0, 0, 0),
    "far": (5, 0, 0, 0),
    "against": (-1, -1, -1, -1),
}
_AROUND = {BEGIN: (0, 0, 1, 0), END: (0, 0, 0, 1)}


class WordEncoder:
    """``encoded`` counts how often each text was turned into states."""

    files = ModelFiles("words", Path(), "", "0123456789ab")
    device_label = "cpu, 1 thread, float32"
    dtype_name = "float32"
    namespace = "0123456789ab"
    layers = 6
    dimensions = 4
    unknown_id = 0
    blank_id = None

    def __init__(self, max_tokens: int = 100, store: FeatureStore | None = None) -> None:
        self.max_tokens = self.sentence_tokens = max_tokens
        self.store = store or FeatureStore(None, 0)
        self.encoded: dict[str, int] = {}
        self._ids = {word: number for number, word in enumerate(PLANE, END + 1)}
        self._vectors = {**_AROUND, **{self._ids[word]: vector for word, vector in PLANE.items()}}

    def token_states(
        self, texts: Sequence[str], layer: int = -1, remember: bool = False
    ) -> TokenStates:
        ids, cut = [], set()
        for place, text in enumerate(texts):
            self.encoded[text] = self.encoded.get(text, 0) + 1
            words = [self._ids[word] for word in text.split()]
            if len(words) > self.max_tokens - 2:
                cut.add(place)
            ids.append(np.array([BEGIN, *words[: self.max_tokens - 2], END]))
        states = [
            np.array([self._vectors[int(one)] for one in of_text], dtype=np.float32)
            for of_text in ids
        ]
        return TokenStates(states, ids, frozenset(cut))

    def sentence_vectors(
        self,
        texts: Sequence[str],
        pooling: str = "mean",
        progress: Callable[[int], None] | None = None,
    ) -> Vectors:
        rows = []
        for number, text in enumerate(texts, 1):
            self.encoded[text] = self.encoded.get(text, 0) + 1
            total = np.sum([PLANE[word] for word in text.split()], axis=0)
            rows.append(total / np.linalg.norm(total))
            if progress is not None:
                progress(number)
        cut = {place for place, text in enumerate(texts) if len(text.split()) > self.max_tokens - 2}
        return Vectors(
            np.array(rows, dtype=np.float32).reshape(len(rows), self.dimensions), frozenset(cut)
        )

    def input_embeddings(self, texts: Sequence[str]) -> list[Any]:
        return [
            np.array(
                [PLANE[word] for word in text.split() if word in PLANE], dtype=np.float32
            ).reshape(-1, 4)
            for text in texts
        ]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[self._ids.get(word, self.unknown_id) for word in text.split()] for text in texts]

    def words_of(self, text: str) -> list[str]:
        return text.split()
