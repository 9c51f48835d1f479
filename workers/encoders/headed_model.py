"""A checkpoint with a head of its own, which a user names: loaded, checked for being what it is taken for, and run.

A checkpoint without its head loads all the same in transformers, with random numbers in the head's place. Here it is
refused: a score made of them would look like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers.encoders.batches import batches_by_length
from workers.encoders.devices import device_for, device_name, free_unused_memory, is_out_of_memory, use_threads
from workers.encoders.linear import use_onednn
from workers.encoders.tokens import Input, Tokens
from workers.model_files import ModelError, ModelFiles

if TYPE_CHECKING:
    import torch

TOKENS_ON_CPU = 4_096
"""In a batch, padding included."""
TOKENS_ON_GPU = 32_768
_COUNTS_POSITIONS_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")

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
    """Raises ``ModelError`` where the checkpoint is not there, not whole, another kind, or does not fit on the device.

    Always in float32: a bfloat16 number has three decimal digits, too few for one score a response.
    """

    def __init__(self, files: ModelFiles, head: Head, device: str) -> None:
        import torch

        self.files = files
        self.device = device_for(device)
        use_threads()
        self.dtype_name = "float32"
        self.device_label = f"{device_name(self.device)}, {self.dtype_name}"
        _check_configuration(files, head)
        self.tokens = Tokens(files)
        try:
            self.model = _loaded(files, head).to(self.device).eval()
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise self._out_of_memory("load it") from error
        use_onednn(self.model)
        rows = int(self.model.get_input_embeddings().num_embeddings)
        if self.tokens.vocabulary_size > rows:  # on a GPU an id too many stops the process for good
            raise ModelError(
                f"the tokenizer of the model {files.name} has {self.tokens.vocabulary_size} words, the model {rows}"
            )
        self._tokens_at_once = TOKENS_ON_CPU if self.device.type == "cpu" else TOKENS_ON_GPU

    def positions(self, otherwise: int) -> int:
        """The most tokens the model takes, special ones included; ``otherwise`` where it has no limit of its own."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or otherwise
        if config.model_type in _COUNTS_POSITIONS_FROM_PADDING:
            positions -= int(config.pad_token_id or 0) + 1
        return min(int(positions), self.tokens.longest)

    def run(
        self,
        lengths: Sequence[int],
        compute: Callable[[list[int]], Result],
        keep: Callable[[list[int], Result], None],
        tokens_at_once: int | None = None,
    ) -> None:
        """Batches of like length through ``compute``; each result to ``keep`` with the places it belongs to.

        Where memory runs out, all batches that are left are made half as large. Raises ``ModelError`` where even one
        text is too much.
        """
        import torch

        budget = min(tokens_at_once or self._tokens_at_once, self._tokens_at_once)
        waiting = list(batches_by_length(lengths, budget))[::-1]
        while waiting:
            batch = waiting.pop()
            result = None
            try:
                with torch.inference_mode():
                    result = compute(batch)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise ModelError(f"the model {self.files.name} failed on {self.device_label}: {error}") from error
                if len(batch) == 1:
                    raise self._out_of_memory(f"read a text of {lengths[batch[0]]} tokens") from error
            if result is None:  # outside the handler: its traceback would hold on to the batch's memory
                free_unused_memory(self.device)
                budget = self._tokens_at_once = max(1, budget // 2)
                left = [place for one in (*waiting, batch) for place in one]
                again = batches_by_length([lengths[place] for place in left], budget)
                waiting = [[left[place] for place in one] for one in again][::-1]
                continue
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

        self.run([len(one) for one in inputs], lambda batch: of_batch(batch).cpu().double().numpy(), keep)
        return values

    def tensors(self, inputs: Sequence[Input]) -> dict[str, torch.Tensor]:
        """A batch as the model takes it: padded ids, the mask of what is text, segments where the model has them."""
        import torch

        shape = (len(inputs), max(len(one) for one in inputs))
        ids = np.full(shape, self.tokens.padding_id, dtype=np.int64)
        segments, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, one in enumerate(inputs):
            ids[row, : len(one)] = one.ids
            segments[row, : len(one)] = one.segments
            mask[row, : len(one)] = 1
        arrays = {"input_ids": ids, "attention_mask": mask}
        if int(getattr(self.model.config, "type_vocab_size", 0) or 0) > 1:
            arrays["token_type_ids"] = segments
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}

    def _out_of_memory(self, what: str) -> ModelError:
        return ModelError(
            f"the model {self.files.name} is out of memory on {self.device_label}: there was too little to {what}"
        )


def _loaded(files: ModelFiles, head: Head) -> Any:
    import torch
    import transformers
    from transformers.utils import logging as its_logging

    said: Any = its_logging  # its functions have no types
    said.set_verbosity_error()
    said.disable_progress_bar()
    try:
        model, report = getattr(transformers, head.auto_class).from_pretrained(
            str(files.folder),
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except (torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # transformers, safetensors and the pickle reader each have their own
        raise ModelError(f"the model {files.name} cannot be loaded: {_first_line(error)}") from error
    missing = sorted(key for key in report["missing_keys"] if "position_ids" not in key)
    if missing:
        raise ModelError(
            f"the model {files.name} is not {head.description}: its weights lack {len(missing)} parts, "
            f"among them {missing[0]}"
        )
    return model


def _check_configuration(files: ModelFiles, head: Head) -> None:
    """Before the weights are read: a wrong kind of model is told from its configuration."""
    import transformers

    if files.gguf_file:
        raise ModelError(f"the model {files.name} is not {head.description}: a GGUF file holds a generating model")
    try:
        config = transformers.AutoConfig.from_pretrained(
            str(files.folder), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:
        raise ModelError(
            f"the model {files.name} cannot be loaded: transformers does not know its kind ({_first_line(error)})"
        ) from error
    kind = config.model_type
    mapping = getattr(transformers, head.auto_class)._model_mapping
    if type(config) not in mapping:
        raise ModelError(f"the model {files.name} is not {head.description}, but a {kind} model")
    if head.outputs is not None and config.num_labels != head.outputs:
        raise ModelError(
            f"the model {files.name} is not {head.description}: its head gives {config.num_labels} numbers"
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
