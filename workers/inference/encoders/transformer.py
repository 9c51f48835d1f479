"""A loaded encoder model: batches of token ids to hidden states on its device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.cpu_layers import KINDS, first_state, fused_layers, use_onednn
from workers.inference.encoders.devices import Memory, device_for, device_name, use_threads
from workers.inference.encoders.loading import (
    check_has_rows,
    from_folder,
    has_segments,
    loading,
    most_tokens,
    padded,
)
from workers.inference.encoders.tokens import Input, Tokens
from workers.inference.model_files import ModelError, ModelFiles

if TYPE_CHECKING:
    import torch

TOKENS_A_THREAD = 1_024
"""In a batch on a CPU, padding included. More than this leaves the processor's cache: 8,192 take
1.5 times as long."""
MIN_BATCH = 256
"""Tokens on a CPU. 105 texts of 4 to 40 tokens take 8 % less time so in batches of 1,024, 20 % less
in 2,048."""
TOKENS_ON_GPU = 65_536
_MAY_BE_MISSING = ("pooler.", "cls.", "lm_head.", "classifier.")
"""Parts of a checkpoint that hidden states do without."""
_LAYERS_IN_ENCODER = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet"}

Take = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
"""From a batch's states (texts × tokens × dimensions) and mask (texts × tokens) to what is wanted
of them."""
Keep = Callable[[list[int], NDArray[np.float32]], None]
"""Gets places into the inputs and, a row each, what was taken of their states."""


class Transformer:
    """Raises ``ModelError`` where the weights are not whole, no encoder's, or do not fit on the
    device."""

    def __init__(
        self, files: ModelFiles, tokens: Tokens, device: str, precision: str = resources.AUTO
    ) -> None:
        import torch

        self._name, self._files = files.name, files
        self.device = device_for(device)
        use_threads()
        self.dtype = dtype_on(self.device, precision)
        self.device_label = f"{device_name(self.device)}, {self.dtype_name}"
        with loading(files, self.device_label):
            model, pooler = _loaded(files)
            self._model = model.to(device=self.device, dtype=self.dtype).eval()
            self._pooler = None if pooler is None else pooler.to(self.device).float().eval()
        check_has_rows(self._model, tokens, files)
        self.onednn_layers = use_onednn(self._model)
        config = self._model.config
        self.layers = int(config.num_hidden_layers)
        self.dimensions = int(config.hidden_size)
        self.longest = most_tokens(config, tokens)
        self._padding_id = tokens.padding_id
        self._has_segments = has_segments(config)
        self._stack = _stack(self._model)
        self._all_layers: Any = self._stack.layer if self._stack is not None else None
        self._has_plain_layers = config.model_type in KINDS
        self._fused: Any = (
            fused_layers(self._model, self._all_layers) if self.onednn_layers else self._all_layers
        )
        if self._stack is not None:
            self._stack.layer = self._fused
        on_cpu = self.device.type == "cpu"
        tokens_at_once = TOKENS_A_THREAD * torch.get_num_threads() if on_cpu else TOKENS_ON_GPU
        self.memory = Memory(files.name, self.device, self.device_label, tokens_at_once)

    @property
    def dtype_name(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    def config_json(self) -> str:
        return str(self._model.config.to_json_string())

    def embedding_matrix(self) -> torch.Tensor:
        """In float32, as the file has it: nothing is computed on the device with it, so that
        bfloat16 would save nothing."""
        import torch

        model = self._model if self.dtype is torch.float32 else _loaded(self._files)[0]
        weight: torch.Tensor = model.get_input_embeddings().weight.detach()
        return weight

    def pooled(self, states: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        """``Take``: what the checkpoint's pooler makes of the class token's state, of length 1.

        Raises ``ModelError`` for a model without one.
        """
        import torch

        if self._pooler is None:
            raise ModelError(f"the model {self._name} has no pooler of its own")
        return torch.nn.functional.normalize(self._pooler(states), dim=1)

    def run(
        self, inputs: Sequence[Input], layer: int, take: Take, keep: Keep, first_only: bool = False
    ) -> None:
        """Calls ``keep`` with what ``take`` made of the inputs' states, batch after batch.

        ``first_only``: ``take`` looks at the first token only, so it may be the only one that there
        is.

        Where memory runs out, all batches that are left are made half as large. Raises
        ``ModelError`` where even one text is too much, and where a state is no number.
        """
        worth_a_batch = MIN_BATCH if self.device.type == "cpu" else None
        batches = self.memory.batches([len(one) for one in inputs], worth_a_batch)
        under_way: _UnderWay | None = (
            None  # an accelerator computes one batch while the last one is kept
        )
        while batches or under_way:
            started = None
            if batches:
                started = self.memory.attempt(
                    batches,
                    batches.take(),
                    lambda batch: self._computed(inputs, batch, layer, take, first_only),
                )
            if under_way is not None:
                keep(under_way.places, self._numbers(under_way))
            under_way = started

    def _computed(
        self, inputs: Sequence[Input], batch: list[int], layer: int, take: Take, first_only: bool
    ) -> _UnderWay:
        import torch

        ids, segments, mask = self._tensors(inputs, batch)
        settings: dict[str, Any] = {"token_type_ids": segments} if self._has_segments else {}
        if len(inputs[batch[-1]]) < ids.shape[1]:
            settings["attention_mask"] = (
                mask  # equal lengths want none, and attention is faster without
            )
        with torch.inference_mode():
            if first_only and layer and self._has_plain_layers:
                before = self._states(layer - 1, input_ids=ids, **settings)
                states = first_state(
                    self._all_layers[layer - 1], before, settings.get("attention_mask")
                )
            else:
                states = self._states(layer, input_ids=ids, **settings)
            values = take(states.float(), mask)
            if self.device.type != "cuda":
                return _UnderWay(batch, values.cpu(), None)
            on_host = torch.empty(values.shape, dtype=torch.float32, pin_memory=True)
            on_host.copy_(values, non_blocking=True)
            copied: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
            copied.record(torch.cuda.current_stream(self.device))
        return _UnderWay(batch, on_host, copied)

    def _states(self, layer: int, **batch: torch.Tensor) -> torch.Tensor:
        """Only the layers up to the wanted one are computed, where the model's kind allows it."""
        if layer == self.layers:
            last: torch.Tensor = self._model(**batch).last_hidden_state
            return last
        if self._stack is None:
            states: torch.Tensor = self._model(**batch, output_hidden_states=True).hidden_states[
                layer
            ]
            return states
        self._stack.layer = self._fused[:layer]
        try:
            reached: torch.Tensor = self._model(**batch).last_hidden_state
        finally:
            self._stack.layer = self._fused
        return reached

    def _numbers(self, under_way: _UnderWay) -> NDArray[np.float32]:
        if under_way.copied is not None:
            under_way.copied.synchronize()
        values: NDArray[np.float32] = under_way.values.numpy()
        if under_way.copied is not None:
            # Memory that a device can reach is scarce: it serves the next batch
            values = values.copy()
        if not np.isfinite(values.sum(dtype=np.float64)):
            raise ModelError(
                f"the model {self._name} gives states that are no numbers (NaN or infinite)"
            )
        return values

    def _tensors(
        self, inputs: Sequence[Input], batch: list[int]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ids, segments, mask = padded([inputs[index] for index in batch], self._padding_id)
        return self._moved(ids), self._moved(segments), self._moved(mask)

    def _moved(self, numbers: NDArray[np.int64]) -> torch.Tensor:
        import torch

        tensor = torch.from_numpy(numbers)
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A batch that was sent to the device; its values are there once ``copied`` has happened."""

    places: list[int]
    values: torch.Tensor
    copied: Any


def _stack(model: Any) -> Any:
    """The part of a model that holds its layers, where its last state is its last layer's and
    nothing comes after: such a model with fewer layers gives the last of these. None for other
    kinds."""
    if model.config.model_type in _LAYERS_IN_ENCODER:
        return model.encoder
    return model.transformer if model.config.model_type == "distilbert" else None


def _loaded(files: ModelFiles) -> tuple[Any, Any]:
    """The model without its pooler, and the pooler; None where the file has no weights for it."""
    model, lacking = from_folder(files, "AutoModel")
    if model.config.is_encoder_decoder or getattr(model.config, "is_decoder", False):
        raise ModelError(f"the model {files.name} is no encoder, but a {model.config.model_type}")
    missing = [key for key in lacking if not any(part in key for part in _MAY_BE_MISSING)]
    if missing:
        raise ModelError(
            f"the weights of the model {files.name} lack {len(missing)} parts, among them "
            f"{missing[0]}"
        )
    pooler = getattr(model, "pooler", None)
    if pooler is not None:
        model.pooler = None  # hidden states are wanted, not what a pooler makes of them
    is_whole = not any("pooler." in key for key in lacking)
    return model, pooler if is_whole else None


def dtype_on(device: torch.device, precision: str = resources.AUTO) -> torch.dtype:
    """bfloat16 on CUDA, which halves the memory; float32 elsewhere, as on a CPU it is the faster
    one too, unless that has matrix units for bfloat16; and where the site or the metric asks for
    it, ``precision``."""
    import torch

    if "float32" in (precision, resources.at_hand().precision):
        return torch.float32
    return (
        torch.bfloat16
        if device.type == "cuda" and torch.cuda.is_bf16_supported()
        else torch.float32
    )
