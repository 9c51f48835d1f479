"""A BERT-like encoder: texts to token states, sentence vectors, pair states, input embeddings.

One a process and model (``encoder_for``). Each distinct text goes through the model once a call, in batches of like
length; where memory runs out a batch is halved and tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.encoders.feature_store import FeatureStore
from workers.model_files import PACKAGED_ENCODER, ModelFiles

FloatArray = NDArray[np.float32]
Progress = Callable[[int], None]
"""Called with the number of texts finished so far."""
Pooling = Literal["mean", "cls"]
LAST_LAYER = -1


@dataclass(frozen=True, slots=True)
class TokenStates:
    """Texts as their tokens' states, special tokens included, in the order of the texts asked for."""

    states: list[FloatArray]
    """Per text: tokens × dimensions, float32. Equal texts share one array: do not write to it."""
    ids: list[NDArray[np.int64]]
    """Per text: the tokens' ids, one for each row."""
    cut: frozenset[int]
    """Places of the texts that were longer than the model takes; their ends are missing."""


@dataclass(frozen=True, slots=True)
class Vectors:
    values: FloatArray
    """texts × dimensions."""
    cut: frozenset[int]


class TextEncoder:
    """Loads a model on a device. Raises ``ModelError`` where it is not there or is no encoder.

    Two attributes say what it is: ``files`` (name, revision) and ``device_label`` ("cpu, 1 thread, float32").
    """

    files: ModelFiles
    store: FeatureStore
    device_label: str
    dtype_name: str
    layers: int
    dimensions: int
    max_tokens: int
    special_ids: frozenset[int]

    def __init__(self, files: ModelFiles, device: str = "auto") -> None:
        raise NotImplementedError

    def token_states(
        self, texts: Sequence[str], layer: int = LAST_LAYER, remember: bool = False, progress: Progress | None = None
    ) -> TokenStates:
        """Hidden states after ``layer`` (0: the embeddings, −1 the last). ``remember`` keeps them for later calls and
        processes: for references, which come back with every system; they are large."""
        raise NotImplementedError

    def sentence_vectors(
        self, texts: Sequence[str], pooling: Pooling = "mean", layer: int = LAST_LAYER, progress: Progress | None = None
    ) -> Vectors:
        """Unit vectors: the mean of the tokens' states (padding left out), or the first token's. Always remembered."""
        raise NotImplementedError

    def pair_states(
        self, pairs: Sequence[tuple[str, str]], layer: int = LAST_LAYER, progress: Progress | None = None
    ) -> Vectors:
        """The first token's state of two texts encoded together with segment ids. Always remembered.

        Where a pair is too long, the beginning of its first text is cut: what stands next to the response counts most.
        """
        raise NotImplementedError

    def input_embeddings(self, texts: Sequence[str]) -> list[FloatArray]:
        """Per text: its word pieces' rows of the embedding matrix (no position, no segment, no special tokens)."""
        raise NotImplementedError

    def words_of(self, text: str) -> list[str]:
        """The word pieces of a text, without special tokens."""
        raise NotImplementedError


def encoder_for(name: str = PACKAGED_ENCODER) -> TextEncoder:
    """The encoder of this process for a packaged model, a folder or a hub id, on the device of ``resources``.

    Loaded at the first call, kept for the next. Raises ``ModelError``.
    """
    raise NotImplementedError
