"""A loaded encoder model: batches of token ids to hidden states on its device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workers.encoders.batches import batches_by_length
from workers.encoders.devices import device_for, device_name, free_unused_memory, is_out_of_memory, use_threads
from workers.encoders.tokens import Input, Tokens
from workers.model_files import ModelError, ModelFiles

if TYPE_CHECKING:
    import torch

TOKENS_ON_CPU = 4_096
"""In a batch, padding included. More than this leaves the processor's cache and gains nothing."""
TOKENS_ON_GPU = 65_536
_MAY_BE_MISSING = ("pooler.", "position_ids", "cls.", "lm_head.", "classifier.")
"""Parts of a checkpoint that hidden states do without."""
_LAYERS_END_PLAIN = {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "mpnet"}
"""Kinds of models whose last state is their last layer's: with fewer layers they give that layer's states."""

Take = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
"""From a batch's states (texts × tokens × dimensions) and mask (texts × tokens) to what is wanted of them."""


class Transformer:
    """Raises ``ModelError`` where the weights are not whole, no encoder's, or do not fit on the device."""

    def __init__(self, files: ModelFiles, tokens: Tokens, device: str) -> None:
        import torch

        self._name = files.name
        self.device = device_for(device)
        use_threads()
        self.dtype = _dtype_on(self.device)
        self.device_label = f"{device_name(self.device)}, {self.dtype_name}"
        try:
            self._model = _loaded(files).to(device=self.device, dtype=self.dtype).eval()
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise self._out_of_memory("load it") from error
        config = self._model.config
        self.kind = str(config.model_type)
        self.layers = int(config.num_hidden_layers)
        self.dimensions = int(config.hidden_size)
        self.longest = _longest(config, tokens)
        self._padding_id = tokens.padding_id
        self._has_segments = int(getattr(config, "type_vocab_size", 0) or 0) > 1
        self._tokens_at_once = TOKENS_ON_CPU if self.device.type == "cpu" else TOKENS_ON_GPU

    @property
    def dtype_name(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    def config_json(self) -> str:
        return str(self._model.config.to_json_string())

    def embedding_matrix(self) -> torch.Tensor:
        weight: torch.Tensor = self._model.get_input_embeddings().weight.detach()
        return weight

    def run(
        self,
        inputs: Sequence[Input],
        layer: int,
        take: Take,
        keep: Callable[[list[int], np.ndarray[Any, np.dtype[np.float32]]], None],
    ) -> None:
        """Calls ``keep`` with places into ``inputs`` and what ``take`` made of their states, batch after batch.

        Where memory runs out, a batch is halved and tried again. Raises ``ModelError`` where even one text is too much,
        and where a state is no number.
        """
        waiting = list(batches_by_length([len(one) for one in inputs], self._tokens_at_once))[::-1]
        while waiting:
            batch = waiting.pop()
            try:
                values = self._states(inputs, batch, layer, take)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise ModelError(f"the model {self._name} failed on {self.device_label}: {error}") from error
                if len(batch) == 1:
                    raise self._out_of_memory(f"encode a text of {len(inputs[batch[0]])} tokens") from error
                values = None
            if values is None:  # outside the handler: its traceback would hold on to the batch's memory
                free_unused_memory(self.device)
                middle = len(batch) // 2
                waiting += [batch[middle:], batch[:middle]]
                self._tokens_at_once = max(self.longest, self._tokens_at_once // 2)
                continue
            if not np.isfinite(values.sum(dtype=np.float64)):
                raise ModelError(f"the model {self._name} gives states that are no numbers (NaN or infinite)")
            keep(batch, values)

    def _states(
        self, inputs: Sequence[Input], batch: list[int], layer: int, take: Take
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        import torch

        ids, segments, mask = self._tensors(inputs, batch)
        settings = {"token_type_ids": segments} if self._has_segments else {}
        with torch.inference_mode():
            output = self._model(
                input_ids=ids, attention_mask=mask, output_hidden_states=layer != self.layers, **settings
            )
            states = output.last_hidden_state if layer == self.layers else output.hidden_states[layer]
            values: np.ndarray[Any, np.dtype[np.float32]] = take(states.float(), mask).cpu().numpy()
        return values

    def _tensors(self, inputs: Sequence[Input], batch: list[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        import torch

        longest = len(inputs[batch[0]])
        ids = np.full((len(batch), longest), self._padding_id, dtype=np.int64)
        segments = np.zeros_like(ids)
        mask = np.zeros_like(ids)
        for row, place in enumerate(batch):
            length = len(inputs[place])
            ids[row, :length] = inputs[place].ids
            segments[row, :length] = inputs[place].segments
            mask[row, :length] = 1
        return (
            torch.from_numpy(ids).to(self.device),
            torch.from_numpy(segments).to(self.device),
            torch.from_numpy(mask).to(self.device),
        )

    def _out_of_memory(self, what: str) -> ModelError:
        return ModelError(
            f"the model {self._name} is out of memory on {self.device_label}: there was too little to {what}"
        )


def _loaded(files: ModelFiles) -> Any:
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    if files.gguf_file:
        raise ModelError(f"the model {files.name} is no encoder: a GGUF file holds a generating model")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = AutoModel.from_pretrained(
            str(files.folder),
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except (torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # transformers, safetensors and the pickle reader each have their own
        raise ModelError(f"the model {files.name} cannot be loaded: {error}") from error
    if model.config.is_encoder_decoder or getattr(model.config, "is_decoder", False):
        raise ModelError(f"the model {files.name} is no encoder, but a {model.config.model_type}")
    missing = sorted(key for key in report["missing_keys"] if not any(part in key for part in _MAY_BE_MISSING))
    if missing:
        raise ModelError(f"the weights of the model {files.name} lack {len(missing)} parts, among them {missing[0]}")
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # hidden states are wanted, not what a pooler makes of them
    return model


def _dtype_on(device: torch.device) -> torch.dtype:
    """bfloat16 on CUDA, which halves the memory and more than halves the time; float32 elsewhere, as on a CPU it is
    the faster one too, unless that has matrix units for bfloat16."""
    import torch

    return torch.bfloat16 if device.type == "cuda" and torch.cuda.is_bf16_supported() else torch.float32


def _longest(config: Any, tokens: Tokens) -> int:
    """The most tokens a model takes, special ones included. RoBERTa's kind counts positions from the padding id on."""
    positions = int(getattr(config, "max_position_embeddings", tokens.longest))
    if config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= int(config.pad_token_id or 0) + 1
    return min(positions, tokens.longest)
