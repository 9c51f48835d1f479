"""A checkpoint with a head of its own, which a user names: loaded, checked for being what it is
taken for, and run.

A checkpoint without its head loads all the same in transformers, with random numbers in the head's
place. Here it is refused: a score made of them would look like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers.inference.encoders.bleurt_model import is_bleurt, load_bleurt
from workers.inference.encoders.cpu_layers import use_onednn
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
from workers.inference.model_files import ModelError, ModelFiles, first_line

if TYPE_CHECKING:
    import torch

TOKENS_ON_CPU = 4_096
"""In a batch, padding included."""
TOKENS_ON_GPU = 32_768

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Head:
    """What a checkpoint must be."""

    auto_class: str
    """The class of transformers that loads it."""
    description: str
    """For people: "a model with one number as its output"."""
    outputs: int | None = None
    """How many numbers it gives for a text, where that is fixed."""


class HeadedModel:
    """Raises ``ModelError`` where the checkpoint is not there, not whole, another kind, or does not
    fit on the device.

    Always in float32: a bfloat16 number has three decimal digits, too few for one score a response.
    """

    def __init__(self, files: ModelFiles, head: Head, device: str) -> None:
        self.files = files
        self.device = device_for(device)
        use_threads()
        self.dtype_name = "float32"
        self.device_label = f"{device_name(self.device)}, {self.dtype_name}"
        self._is_bleurt = head.outputs == 1 and is_bleurt(files.folder)
        if not self._is_bleurt:
            _check_configuration(files, head)
        self.tokens = Tokens(files)
        with loading(files, self.device_label):
            model = load_bleurt(files) if self._is_bleurt else _loaded(files, head)
            self.model = model.to(self.device).eval()
        use_onednn(self.model)
        check_has_rows(self.model, self.tokens, files)
        tokens_at_once = TOKENS_ON_CPU if self.device.type == "cpu" else TOKENS_ON_GPU
        self._memory = Memory(files.name, self.device, self.device_label, tokens_at_once)

    def positions(self, otherwise: int) -> int:
        """The most tokens the model takes, special ones included; ``otherwise`` where it has no
        limit of its own."""
        return most_tokens(self.model.config, self.tokens, otherwise)

    def run(
        self,
        lengths: Sequence[int],
        compute: Callable[[list[int]], Result],
        keep: Callable[[list[int], Result], None],
        tokens_at_once: int | None = None,
    ) -> None:
        """Batches of like length through ``compute``; each result to ``keep`` with the places it
        belongs to.

        Where memory runs out, all batches that are left are made half as large. Raises
        ``ModelError`` where even one text is too much.
        """
        import torch

        batches = self._memory.batches(lengths, at_most=tokens_at_once)
        while batches:
            batch = batches.take()
            with torch.inference_mode():
                result = self._memory.attempt(batches, batch, compute)
            if result is not None:
                keep(batch, result)

    def values(
        self,
        inputs: Sequence[Input],
        of_batch: Callable[[list[int]], torch.Tensor],
        progress: Callable[[int], None] | None,
    ) -> NDArray[np.float64]:
        """One number an input, in order, as ``of_batch`` gives it for the inputs at some places."""
        values = np.zeros(len(inputs), dtype=np.float64)
        done = 0

        def keep(batch: list[int], found: NDArray[np.float64]) -> None:
            nonlocal done
            values[batch] = found
            done += len(batch)
            if progress is not None:
                progress(done)

        self.run(
            [len(one) for one in inputs], lambda batch: of_batch(batch).cpu().double().numpy(), keep
        )
        return values

    def tensors(self, inputs: Sequence[Input]) -> dict[str, torch.Tensor]:
        """A batch as the model takes it: padded ids, the mask of what is text, segments where the
        model has them."""
        import torch

        ids, segments, mask = padded(inputs, self.tokens.padding_id)
        arrays = {"input_ids": ids, "attention_mask": mask}
        if has_segments(self.model.config):
            arrays["token_type_ids"] = segments
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}


def _loaded(files: ModelFiles, head: Head) -> Any:
    model, missing = from_folder(files, head.auto_class)
    if missing:
        raise ModelError(
            f"the model {files.name} is not {head.description}: its weights lack {len(missing)} "
            f"parts, among them {missing[0]}"
        )
    return model


def _check_configuration(files: ModelFiles, head: Head) -> None:
    """Before the weights are read: a wrong kind of model is told from its configuration."""
    import transformers

    if files.gguf_file:
        raise ModelError(
            f"the model {files.name} is not {head.description}: a GGUF file holds a generating "
            "model"
        )
    try:
        config = transformers.AutoConfig.from_pretrained(
            str(files.folder), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:
        raise ModelError(
            f"the model {files.name} cannot be loaded: transformers does not know its kind "
            f"({first_line(error)})"
        ) from error
    kind = config.model_type
    mapping = getattr(transformers, head.auto_class)._model_mapping
    if type(config) not in mapping:
        raise ModelError(f"the model {files.name} is not {head.description}, but a {kind} model")
    if head.outputs is not None and config.num_labels != head.outputs:
        raise ModelError(
            f"the model {files.name} is not {head.description}: its head gives "
            f"{config.num_labels} numbers"
        )
