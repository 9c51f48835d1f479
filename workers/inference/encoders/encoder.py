"""A BERT-like encoder: texts to token states, sentence vectors, pair states, input embeddings.

One a process and model (``encoder_for``). Each distinct text goes through the model once a call, in
batches of like length; where memory runs out a batch is halved and tried again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.devices import device_for
from workers.inference.encoders.feature_store import FeatureStore, feature_store
from workers.inference.encoders.tokens import Input, Tokens
from workers.inference.encoders.transformer import Take, Transformer, dtype_on
from workers.inference.model_files import PACKAGED_ENCODER, ModelError, ModelFiles, model_files

if TYPE_CHECKING:
    import torch

FloatArray = NDArray[np.float32]
Progress = Callable[[int], None]
"""Called with the number of texts finished so far."""
Pooling = Literal["mean", "cls", "pooler"]
LAST_LAYER = -1
_ENCODERS_CACHED = 4
_TEXTS_AT_ONCE = 16_384
"""Are tokenised and sorted together: what is asked for may be more than memory holds as tokens."""
_ROWS_A_WRITE = 1_000
"""A process that dies loses no more than these."""


@dataclass(frozen=True, slots=True)
class TokenStates:
    """Texts as their tokens' states, special tokens included, in the order of the texts asked
    for."""

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

    Two attributes say what it is: ``files`` (name, revision) and ``device_label`` ("cpu, 1 thread,
    float32"). Its methods raise ``ModelError`` where the device's memory does not hold one text,
    and where a state is NaN.
    """

    files: ModelFiles
    store: FeatureStore
    device_label: str
    dtype_name: str
    layers: int
    dimensions: int
    max_tokens: int
    """Of a text or a pair, special tokens included."""
    sentence_tokens: int
    """Of a text whose mean is taken: what a sentence-transformers model was trained with, else
    ``max_tokens``."""
    special_ids: frozenset[int]
    namespace: str
    """Weights, tokenizer, configuration and dtype: what anything computed with this encoder is
    remembered under."""

    def __init__(
        self, files: ModelFiles, device: str = "auto", precision: str = resources.AUTO
    ) -> None:
        if files.gguf_file:
            raise ModelError(
                f"the model {files.name} is no encoder: a GGUF file holds a generating model"
            )
        self.files = files
        self.store = feature_store()
        self._tokens = Tokens(files)
        self._transformer = Transformer(files, self._tokens, device, precision)
        self.device_label = self._transformer.device_label
        self.dtype_name = self._transformer.dtype_name
        self.layers = self._transformer.layers
        self.dimensions = self._transformer.dimensions
        self.max_tokens = self._transformer.longest
        self.sentence_tokens = min(self.max_tokens, _trained_length(files) or self.max_tokens)
        self.special_ids = self._tokens.special_ids
        self._embeddings: FloatArray | None = None
        identity = self._tokens.as_json() + self._transformer.config_json()
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        self.namespace = f"{files.revision}/{digest}/{self.dtype_name}"

    def token_states(
        self,
        texts: Sequence[str],
        layer: int = LAST_LAYER,
        remember: bool = False,
        progress: Progress | None = None,
    ) -> TokenStates:
        """Hidden states after ``layer`` (0: the embeddings, −1 the last). ``remember`` keeps them
        for later calls and processes: for references, which come back with every system; they are
        large.

        The mean of the last layer's states is a sentence's vector: it is remembered, too, so that
        ``sentence_vectors`` of the same texts cost nothing.

        All states asked for are in memory at once, 4 bytes × tokens × dimensions for each distinct
        text: 10,000 responses of 20 tokens at 384 dimensions take 300 MB. A caller with more asks
        in parts.
        """
        layer = self._layer(layer)
        distinct = _Distinct(texts, progress)
        inputs = self._tokens.inputs(distinct.keys, self.max_tokens)
        states: list[FloatArray | None] = [None] * len(inputs)
        namespace = f"{self.namespace}/tokens/{layer}/{self.max_tokens}"
        if remember:
            known = self.store.get_many(namespace, distinct.keys)
            for index, key in enumerate(distinct.keys):
                found = known.get(key)
                if found is not None and found.size == len(inputs[index]) * self.dimensions:
                    states[index] = found.reshape(-1, self.dimensions)
            distinct.finished([index for index, one in enumerate(states) if one is not None])

        def keep(indices: list[int], values: FloatArray) -> None:
            for row, index in enumerate(indices):
                states[index] = values[row, : len(inputs[index])]
            if remember:
                self.store.put_many(
                    namespace,
                    {
                        distinct.keys[index]: values[row, : len(inputs[index])]
                        for row, index in enumerate(indices)
                    },
                )
            distinct.finished(indices)

        new = [index for index, one in enumerate(states) if one is None]
        self._transformer.run(
            [inputs[index] for index in new],
            layer,
            _all_states,
            lambda batch, values: keep([new[one] for one in batch], values),
        )
        ids = [np.array(one.ids, dtype=np.int64) for one in inputs]
        found_states = [one for one in states if one is not None]
        if layer == self.layers:
            # Longer texts are cut for their mean, and have other states then.
            whole = [
                index
                for index in new
                if len(inputs[index]) <= self.sentence_tokens and not inputs[index].cut
            ]
            self._remember_means({distinct.keys[index]: found_states[index] for index in whole})
        return TokenStates(
            states=[found_states[index] for index in distinct.places],
            ids=[ids[index] for index in distinct.places],
            cut=frozenset(
                place for place, index in enumerate(distinct.places) if inputs[index].cut
            ),
        )

    def sentence_vectors(
        self,
        texts: Sequence[str],
        pooling: Pooling = "mean",
        layer: int = LAST_LAYER,
        progress: Progress | None = None,
    ) -> Vectors:
        """Unit vectors: the mean of the tokens' states (padding left out), the class token's, or
        what the checkpoint's pooler makes of that. Always remembered.

        Raises ``ModelError`` for ``cls`` of a model without a class token, and for ``pooler`` of
        one without a pooler.
        """
        takes: dict[Pooling, Take] = {
            "mean": _unit_mean,
            "cls": _unit_first if self._tokens.class_place == 0 else _unit_last,
            "pooler": self._transformer.pooled,
        }
        longest = self.sentence_tokens if pooling == "mean" else self.max_tokens
        return self._vectors(
            _Distinct(texts, progress),
            _kind(
                pooling if pooling == "mean" else self._class_kind(pooling),
                self._layer(layer),
                longest,
            ),
            self._layer(layer),
            takes[pooling],
            lambda wanted: self._tokens.inputs(wanted, longest),
        )

    def pair_states(
        self,
        pairs: Sequence[tuple[str, str]],
        layer: int = LAST_LAYER,
        progress: Progress | None = None,
    ) -> Vectors:
        """The class token's state of two texts encoded together with segment ids. Always
        remembered.

        Where a pair is too long, the beginning of its first text is cut: what stands next to the
        response counts most. Raises ``ModelError`` for a model without a class token.
        """
        pair_of = {f"{len(first)}:{first}{second}": (first, second) for first, second in pairs}
        return self._vectors(
            _Distinct([f"{len(first)}:{first}{second}" for first, second in pairs], progress),
            f"{self._class_kind('pair')}/{self._layer(layer)}/{self.max_tokens}",
            self._layer(layer),
            _first if self._tokens.class_place == 0 else _last,
            lambda wanted: self._tokens.pair_inputs(
                [pair_of[key] for key in wanted], self.max_tokens
            ),
        )

    def input_embeddings(self, texts: Sequence[str]) -> list[FloatArray]:
        """Per text: its word pieces' rows of the embedding matrix (no position, no segment, no
        special tokens).

        Word pieces × dimensions; no row where the text has no word piece.
        """
        if self._embeddings is None:
            self._embeddings = self._transformer.embedding_matrix().float().cpu().numpy()
        matrix = self._embeddings
        distinct = _Distinct(texts, None)
        rows = [matrix[np.array(ids, dtype=np.int64)] for ids in self._tokens.ids(distinct.keys)]
        return [rows[index] for index in distinct.places]

    def _remember_means(self, states: Mapping[str, FloatArray]) -> None:
        """Rows as ``_vectors`` has them: a unit vector, and 0 for a text that was not cut."""
        rows: dict[str, FloatArray] = {}
        for text, of_tokens in states.items():
            mean = of_tokens.mean(axis=0)
            row = rows[text] = np.zeros(self.dimensions + 1, dtype=np.float32)
            row[:-1] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        kind = _kind("mean", self.layers, self.sentence_tokens)
        self.store.put_many(f"{self.namespace}/{kind}", rows)

    @property
    def unknown_id(self) -> int | None:
        """The token that stands for whatever the vocabulary does not hold."""
        return self._tokens.unknown_id

    @property
    def blank_id(self) -> int | None:
        """The token that stands for a space alone; None where there is none."""
        return self._tokens.blank_id

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces, all of them however
        long it is."""
        distinct = _Distinct(texts, None)
        ids = self._tokens.read_ids(distinct.keys)
        return [ids[index] for index in distinct.places]

    def words_of(self, text: str) -> list[str]:
        """The word pieces of a text, without special tokens."""
        return self._tokens.words(text)

    def _class_kind(self, kind: str) -> str:
        """A part of the name that the class token's states are remembered under."""
        if self._tokens.class_place is None:
            raise ModelError(
                f"the model {self.files.name} has no class token, which represents a whole text"
            )
        return kind if self._tokens.class_place == 0 else f"{kind}-last"

    def _layer(self, layer: int) -> int:
        number = layer + self.layers + 1 if layer < 0 else layer
        if not 0 <= number <= self.layers:
            raise ModelError(
                f"the model {self.files.name} has layers 0 to {self.layers}, and no layer {layer}"
            )
        return number

    def _vectors(
        self,
        distinct: _Distinct,
        kind: str,
        layer: int,
        take: Take,
        inputs_of: Callable[[list[str]], list[Input]],
    ) -> Vectors:
        """One row a distinct key, from the store or the model. A row's last number says whether the
        text was cut."""
        namespace = f"{self.namespace}/{kind}"
        rows = np.empty((len(distinct.keys), self.dimensions + 1), dtype=np.float32)
        known = self.store.get_many(namespace, distinct.keys)
        unknown = []
        for index, key in enumerate(distinct.keys):
            row = known.get(key)
            if row is not None and row.shape == (self.dimensions + 1,):
                rows[index] = row
            else:
                unknown.append(index)
        new = set(unknown)
        distinct.finished([index for index in range(len(distinct.keys)) if index not in new])
        for start in range(0, len(unknown), _TEXTS_AT_ONCE):
            some = unknown[start : start + _TEXTS_AT_ONCE]
            inputs = inputs_of([distinct.keys[index] for index in some])
            self._fill(rows, some, inputs, layer, take, distinct, namespace)
        return Vectors(
            values=rows[distinct.places, :-1],
            cut=frozenset(np.flatnonzero(rows[distinct.places, -1]).tolist()),
        )

    def _fill(
        self,
        rows: FloatArray,
        indices: Sequence[int],
        inputs: Sequence[Input],
        layer: int,
        take: Take,
        distinct: _Distinct,
        namespace: str,
    ) -> None:
        """Computes the rows at these places, and stores them as they come."""
        fresh: list[int] = []

        def store() -> None:
            self.store.put_many(namespace, {distinct.keys[index]: rows[index] for index in fresh})
            fresh.clear()

        def keep(batch: list[int], values: FloatArray) -> None:
            computed = [indices[one] for one in batch]
            rows[computed, :-1] = values
            rows[computed, -1] = [inputs[one].cut for one in batch]
            fresh.extend(computed)
            if len(fresh) >= _ROWS_A_WRITE:
                store()
            distinct.finished(computed)

        self._transformer.run(inputs, layer, take, keep, first_only=take in (_first, _unit_first))
        store()


class _Distinct:
    """What was asked for, each once, and how many of those who asked are served."""

    def __init__(self, wanted: Sequence[str], progress: Progress | None) -> None:
        index_of: dict[str, int] = {}
        self.places = [index_of.setdefault(key, len(index_of)) for key in wanted]
        self.keys = list(index_of)
        self._times = (
            np.bincount(self.places, minlength=len(self.keys))
            if wanted
            else np.zeros(0, dtype=np.int64)
        )
        self._progress = progress
        self._done = 0

    def finished(self, indices: Sequence[int]) -> None:
        if self._progress is None or not indices:
            return
        self._done += int(self._times[list(indices)].sum())
        self._progress(self._done)


def _kind(pooling: str, layer: int, longest: int) -> str:
    """Of a sentence's vector: a part of the name that it is remembered under."""
    return f"{pooling}/{layer}/{longest}"


def _all_states(states: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return states


def _first(states: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return states[:, 0]


def _last(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    import torch

    return states[torch.arange(len(states), device=states.device), mask.sum(dim=1) - 1]


def _unit_first(states: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.normalize(states[:, 0], dim=1)


def _unit_last(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.normalize(_last(states, mask), dim=1)


def _unit_mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    import torch

    is_token = mask.unsqueeze(-1).to(states.dtype)
    return torch.nn.functional.normalize(
        (states * is_token).sum(dim=1) / is_token.sum(dim=1), dim=1
    )


def _trained_length(files: ModelFiles) -> int:
    """What a sentence-transformers folder says of its own; 0 where it says nothing."""
    try:
        settings: Mapping[str, object] = json.loads(
            (files.folder / "sentence_bert_config.json").read_text("utf-8")
        )
        length = settings["max_seq_length"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return length if isinstance(length, int) and length > 2 else 0


def encoder_for(name: str = PACKAGED_ENCODER, precision: str = resources.AUTO) -> TextEncoder:
    """The encoder of this process for a packaged model, a folder or a hub id, on the device of
    ``resources``. ``precision`` "float32": for what bfloat16 changes too much; else as
    ``resources`` say.

    Loaded at the first call, kept for the next; a folder whose weights have changed is loaded anew.
    Raises ``ModelError``.
    """
    files, device = model_files(name), resources.at_hand().device
    # By what comes of it, so that a CPU holds one copy
    return _encoder(files, device, str(dtype_on(device_for(device), precision)))


@lru_cache(maxsize=_ENCODERS_CACHED)
def _encoder(files: ModelFiles, device: str, dtype: str) -> TextEncoder:
    return TextEncoder(files, device, dtype.removeprefix("torch."))
