"""DEnsity's response-selection model: a cross-encoder over [context ; response] with one number on
its first token; and how well its scores find the answer among negatives: R@1 and MRR (table 5).

f(c, r) = W h, with h = g(c, r) the first token's state in the encoder's last layer (paper §3.1:
"the [CLS] vector"; released code: before the pooler, whose tanh would end the space in a box).

The paper gives [c ; r] with [SEP] between; the released code marks the turns within c by a token of
their own. So here: [CLS] u1 [TURN] u2 [TURN] … un [SEP] r [SEP], cut at the context's beginning to
``max_tokens``. [TURN] is a row that is added to the embeddings, not to the tokenizer; it begins as
a copy of [SEP]'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.checkpoint import checkpoint as recomputed

from workers.inference import resources
from workers.inference.encoders.cpu_layers import KINDS, first_state
from workers.inference.encoders.devices import device_for, use_threads
from workers.inference.encoders.loading import (
    check_class_token_is_first,
    check_has_rows,
    has_segments,
    loading,
    most_tokens,
    padded,
)
from workers.inference.encoders.tokens import Input, Tokens, batches_by_length
from workers.inference.model_files import ModelError, model_files
from workers.training.core.pretrained import (
    ENCODER_CONFIG,
    new_encoder,
    open_checkpoint,
    pretrained_encoder,
    tokenizer_files,
)


def ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The answer's place among its candidates, 1 for the first; ``scores``: contexts × candidates,
    the answer's in the first column. A negative with the answer's score stands before it: a model
    that says the same of all finds none."""
    found: NDArray[np.int64] = 1 + (scores[:, 1:] >= scores[:, :1]).sum(axis=1)
    return found


def ranking_figures(scores: NDArray[np.float64]) -> dict[str, float]:
    """R@1, the share of answers that come first, and MRR, the mean of 1 / rank; both in [0, 1]."""
    indices = ranks(scores)
    return {"R@1": float((indices == 1).mean()), "MRR": float((1.0 / indices).mean())}


Pairs = Sequence[tuple[Sequence[str], str]]
"""Contexts, a list of utterances each, with a response."""

SHAPE = "selection.json"
TOKENS_TOGETHER = {"cpu": 4_096, "cuda": 131_072}
"""In one pass through the encoder, padding included. On a CPU smaller ones are padded less, larger
ones compute no faster."""


@dataclass(frozen=True, slots=True)
class SelectionShape:
    """What the model is, beside its weights."""

    max_tokens: int = 256
    """Of an input, special ones included (paper §4.3)."""
    first_only: bool = True
    """Computes the last layer for the first token alone, which is all that is used: a fifth of the
    time less with six layers, the same numbers but for rounding. Kinds of encoders that cannot do
    without."""


class SelectionInputs:
    """Contexts and responses to token ids. Each distinct text is tokenised once and remembered."""

    def __init__(self, tokens: Tokens, turn_id: int, max_tokens: int) -> None:
        self.tokens, self._turn_id = tokens, turn_id
        self._room = max_tokens - tokens.special_tokens(texts=2)
        self._known: dict[str, list[int]] = {}

    def learn(self, texts: Sequence[str]) -> None:
        """Tokenises these in one call."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self.tokens.ids(new), strict=True))

    def input(self, context: Sequence[str], response: str) -> Input:
        """What is too long loses the context's beginning; a response that is alone too long loses
        its end."""
        self.learn([*context, response])
        before: list[int] = []
        for index, text in enumerate(context):
            before += ([self._turn_id] if index else []) + self._known[text]
        retained = self._known[response][: self._room]
        free = self._room - len(retained)
        cut = len(before) > free or len(retained) < len(self._known[response])
        return self.tokens.framed([before[max(0, len(before) - free) :], retained], cut)


class SelectionModel(nn.Module):
    """An encoder of transformers and W ∈ ℝ^(1×d). ``encoder`` has a row for the turn token
    already."""

    def __init__(self, encoder: Any, shape: SelectionShape) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(int(encoder.config.hidden_size), 1)
        self.shape = shape
        self.recompute = False
        """Whether a pass's inner states are computed again for its gradient instead of being kept:
        a third more time, for the memory of one pass instead of all."""
        self._frozen_layers = 0

    def freeze(self, layers: int) -> None:
        """The embeddings and this many of the lowest layers stay as they are, without dropout; 0:
        all are trained."""
        if not layers:
            return
        retained = self._layers()
        if retained is None or layers > len(retained):
            known = (
                "this kind's layers are not known"
                if retained is None
                else f"it has {len(retained)}"
            )
            raise ModelError(f"{layers} layers of this encoder cannot be frozen: {known}")
        self._frozen_layers = layers
        for part in self._frozen():
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> SelectionModel:
        super().train(mode)
        for part in self._frozen():
            part.eval()
        return self

    def forward(
        self, ids: Sequence[torch.Tensor], segments: Sequence[torch.Tensor],
        mask: Sequence[torch.Tensor], order: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        """Passes of texts × tokens each, of like length within; ``order``: where in the passes,
        taken one after the other, each text is. Gives scores (texts) and features (texts × d) in
        float32, in the caller's order."""
        features = []
        for one in zip(ids, segments, mask, strict=True):
            if self.recompute and self.training:
                features.append(recomputed(self._first_states, *one, use_reentrant=False))
            else:
                features.append(self._first_states(*one))
        together = torch.cat(features)[order]
        return self.head(together).squeeze(-1).float(), together.float()

    def _first_states(
        self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        config = self.encoder.config
        settings: dict[str, Any] = {"token_type_ids": segments} if has_segments(config) else {}
        layers = self._layers()
        if not self.shape.first_only or layers is None or not len(layers):
            states = self.encoder(input_ids=ids, attention_mask=mask, **settings).last_hidden_state
            return states[:, 0]  # type: ignore[no-any-return]
        self.encoder.encoder.layer = layers[:-1]
        try:
            before = self.encoder(input_ids=ids, attention_mask=mask, **settings).last_hidden_state
        finally:
            self.encoder.encoder.layer = layers
        return first_state(layers[-1], before, mask)[:, 0]

    def _layers(self) -> Any:
        return self.encoder.encoder.layer if self.encoder.config.model_type in KINDS else None

    def _frozen(self) -> list[nn.Module]:
        if not self._frozen_layers:
            return []
        projections = [
            part for name, part in self.encoder.named_children() if name == "embeddings_project"
        ]
        return [self.encoder.embeddings, *projections, *self._layers()[: self._frozen_layers]]


def passes(inputs: Sequence[Input], padding_id: int, tokens_together: int) -> dict[str, Any]:
    """What ``SelectionModel.forward`` takes: inputs sorted by length, in passes of at most so many
    tokens. Where these are few, as on a CPU, an eighth of them is a pass already that takes no
    input much shorter than its longest."""
    worth_a_pass = tokens_together // 8 if tokens_together <= TOKENS_TOGETHER["cpu"] else None
    indices = list(batches_by_length([len(one) for one in inputs], tokens_together, worth_a_pass))
    order = np.empty(len(inputs), dtype=np.int64)
    order[[index for one in indices for index in one]] = np.arange(len(inputs))
    arrays = [padded([inputs[index] for index in one], padding_id) for one in indices]
    ids, segments, mask = (
        tuple(torch.from_numpy(one[part]) for one in arrays) for part in range(3)
    )
    return {"ids": ids, "segments": segments, "mask": mask, "order": torch.from_numpy(order)}


@dataclass(frozen=True, slots=True)
class Selection:
    """A model with the way to its inputs, and the files that make it again."""

    model: SelectionModel
    inputs: SelectionInputs
    padding_id: int
    files: Mapping[str, bytes]
    encoder: str
    """The name and the revision of the encoder that training began from."""

    def scores(
        self, pairs: Pairs, progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float64]:
        """f(c, r) for contexts, a list of utterances each, with a response. ``progress`` counts
        pairs."""
        return self.readings(pairs, progress)[0]

    def features(
        self, pairs: Pairs, progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """h = g(c, r): pairs × d."""
        return self.readings(pairs, progress)[1]

    def readings(
        self, pairs: Pairs, progress: Callable[[int], None] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """f(c, r) and h = g(c, r) from one pass."""
        scores = np.zeros(len(pairs))
        features = np.zeros((len(pairs), int(self.model.head.in_features)), dtype=np.float32)

        def keep(indices: list[int], of_batch: torch.Tensor, states: torch.Tensor) -> None:
            scores[indices] = of_batch.cpu().double().numpy()
            features[indices] = states.cpu().numpy()

        self._run(pairs, keep, progress)
        return scores, features

    def _run(
        self,
        pairs: Pairs,
        keep: Callable[[list[int], torch.Tensor, torch.Tensor], None],
        progress: Callable[[int], None] | None,
    ) -> None:
        """Long ones first, so what does not fit into memory fails at once."""
        device = next(self.model.parameters()).device
        self.inputs.learn([text for context, response in pairs for text in (*context, response)])
        made = [self.inputs.input(*pair) for pair in pairs]
        was_training, done = self.model.training, 0
        self.model.eval()
        try:
            for indices in batches_by_length([len(one) for one in made], tokens_together(device)):
                batch = passes(
                    [made[index] for index in indices], self.padding_id, tokens_together(device)
                )
                with torch.inference_mode():
                    keep(
                        indices,
                        *self.model(
                            **{name: _moved(tensors, device) for name, tensors in batch.items()}
                        ),
                    )
                done += len(indices)
                if progress is not None:
                    progress(done)
        finally:
            self.model.train(was_training)


def new_selection(encoder: str, shape: SelectionShape, seed: int) -> Selection:
    """From a pretrained encoder: a packaged model, a folder or a hub id. ``seed`` draws W. Raises
    ``ModelError``."""
    files = model_files(encoder)
    tokens = Tokens(files)
    check_class_token_is_first(tokens, files)
    with loading(files, "cpu"):
        loaded = pretrained_encoder(files)
    check_has_rows(loaded, tokens, files)
    # A new row in the embeddings, which begins as a copy of the last special token's
    turn_id = int(loaded.get_input_embeddings().num_embeddings)
    loaded.resize_token_embeddings(turn_id + 1, mean_resizing=False)
    weight = loaded.get_input_embeddings().weight
    with torch.no_grad():
        weight[turn_id] = weight[tokens.framed([[], []], cut=False).ids[-1]]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SelectionModel(_without_pooler(loaded), shape)
    own = tokenizer_files(files)
    own[ENCODER_CONFIG] = loaded.config.to_json_string(use_diff=False).encode()
    document = {
        "turn": turn_id,
        "max_tokens": shape.max_tokens,
        "first_only": shape.first_only,
        "encoder": files.label,
    }
    own[SHAPE] = json.dumps(document).encode()
    return _selection(model, tokens, turn_id, own, files.label)


def load_selection(folder: Path, device: str = resources.AUTO) -> Selection:
    """From a checkpoint of ours; the encoder that it began from is not needed. Raises
    ``ModelError``."""
    opened = open_checkpoint(folder)
    where = device_for(device)
    use_threads()
    with loading(opened.files, str(where)):
        own = opened.beside_weights()
        document = json.loads(own[SHAPE])
        shape = SelectionShape(document["max_tokens"], document["first_only"])
        model = SelectionModel(_without_pooler(new_encoder(own)), shape)
        model.load_state_dict(opened.weights())
    tokens = Tokens(opened.files)
    return _selection(model.to(where).eval(), tokens, document["turn"], own, document["encoder"])


def tokens_together(device: torch.device) -> int:
    return TOKENS_TOGETHER["cuda" if device.type == "cuda" else "cpu"]


def _selection(
    model: Any, tokens: Tokens, turn_id: int, own: Mapping[str, bytes], encoder: str
) -> Selection:
    longest = most_tokens(model.encoder.config, tokens)
    if model.shape.max_tokens > longest:
        raise ModelError(
            f"the encoder takes {longest} tokens, less than the {model.shape.max_tokens} asked for"
        )
    inputs = SelectionInputs(tokens, turn_id, model.shape.max_tokens)
    return Selection(model, inputs, tokens.padding_id, own, encoder)


def _without_pooler(encoder: Any) -> Any:
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder


def _moved(tensors: Any, device: torch.device) -> Any:
    return (
        tensors.to(device)
        if isinstance(tensors, torch.Tensor)
        else tuple(one.to(device) for one in tensors)
    )
