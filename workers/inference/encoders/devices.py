"""Where a model computes: the device of ``resources``, found and named; how much goes through a
model at once there, and what is done where the device's memory does not hold it.

torch is imported only when asked. Nothing here may run before a worker forks its processes: an
accelerator that was touched there is lost to them.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from workers.inference import resources
from workers.inference.encoders.tokens import batches_by_length
from workers.inference.model_files import ModelError, first_line

if TYPE_CHECKING:
    import torch


def device_for(wanted: str = resources.AUTO) -> torch.device:
    """``auto``: CUDA where there is one, else MPS, else the CPU. Raises ``ModelError`` for one that
    is not here."""
    import torch

    if wanted == resources.AUTO:
        return torch.device(_best_device())
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise ModelError(
            f"{wanted[:100]!r} is no device: write auto, cpu, cuda, cuda:1 or mps"
        ) from error
    if device.type == "cuda":
        here = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= here:
            raise ModelError(
                f"the device {wanted} is not on this machine: PyTorch finds {here} CUDA devices"
            )
    elif device.type == "mps":
        if not torch.backends.mps.is_available():
            raise ModelError("the device mps is not on this machine")
    elif device.type != "cpu":
        raise ModelError(
            f"the device {wanted} is not supported: write auto, cpu, cuda, cuda:1 or mps"
        )
    return device


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def device_name(device: torch.device) -> str:
    """For people: ``cuda: NVIDIA H200``, ``mps: arm64``, ``cpu, 1 thread``."""
    import torch

    if device.type == "cuda":
        return f"{device}: {torch.cuda.get_device_name(device)}"
    if device.type == "cpu":
        threads = torch.get_num_threads()
        return f"cpu, {threads} thread{'' if threads == 1 else 's'}"
    return f"{device.type}: {platform.machine()}"


def use_threads() -> None:
    """As many of PyTorch's threads as ``resources`` allow. Two beside a busy core are slower than
    one."""
    import torch

    torch.set_num_threads(resources.at_hand().threads_to_use)


def is_out_of_memory(error: Exception) -> bool:
    """Accelerators have a class for it; the CPU's allocator and MPS only a message."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in message or "can't allocate memory" in message
    )


def free_unused_memory(device: torch.device) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


Result = TypeVar("Result")


def out_of_memory(model: str, device_label: str, what: str) -> ModelError:
    return ModelError(
        f"the model {model} is out of memory on {device_label}: there was too little to {what}"
    )


class Memory:
    """A model's, on its device."""

    def __init__(
        self, model: str, device: torch.device, device_label: str, tokens_at_once: int
    ) -> None:
        """``tokens_at_once``: of a batch, padding included; fewer once memory has run out."""
        self._model = model
        self._device = device
        self._device_label = device_label
        self.tokens_at_once = tokens_at_once

    def batches(
        self, lengths: Sequence[int], worth_a_batch: int | None = None, at_most: int | None = None
    ) -> Batches:
        """Of texts of these ``lengths`` in tokens. ``at_most`` tokens in a batch of theirs, where
        that is fewer."""
        budget = min(at_most or self.tokens_at_once, self.tokens_at_once)
        return Batches(lengths, budget, worth_a_batch)

    def attempt(
        self, batches: Batches, batch: list[int], compute: Callable[[list[int]], Result]
    ) -> Result | None:
        """What ``compute`` makes of a batch; None where memory ran out: what is left then waits in
        ``batches`` of half the size, this one too.

        Raises ``ModelError`` where even one text is too much, and for what else a model raises.
        """
        try:
            return compute(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise ModelError(
                    f"the model {self._model} failed on {self._device_label}: {first_line(error)}"
                ) from error
            if len(batch) == 1:
                what = f"read a text of {batches.lengths[batch[0]]} tokens"
                raise out_of_memory(self._model, self._device_label, what) from error
        # Outside the handler: its traceback would hold on to the batch's memory.
        free_unused_memory(self._device)
        batches.halve(batch)
        # One text is always tried
        self.tokens_at_once = max(batches.token_budget, *batches.lengths)
        return None


class Batches:
    """Places of texts, batch after batch, the longest first; true while there are any."""

    def __init__(
        self, lengths: Sequence[int], token_budget: int, worth_a_batch: int | None
    ) -> None:
        self.lengths = lengths
        self.token_budget = token_budget
        self._worth_a_batch = worth_a_batch
        self._waiting = self._batched(range(len(lengths)))

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[int]:
        return self._waiting.pop()

    def halve(self, batch: list[int]) -> None:
        """No batch from now on is larger than half of this one, which is put back with the
        others."""
        self.token_budget = max(1, len(batch) * self.lengths[batch[0]] // 2)
        self._waiting = self._batched(
            [index for one in (batch, *reversed(self._waiting)) for index in one]
        )

    def _batched(self, indices: Sequence[int]) -> list[list[int]]:
        """The first batch last."""
        lengths = [self.lengths[index] for index in indices]
        batches = batches_by_length(lengths, self.token_budget, self._worth_a_batch)
        return [[indices[one] for one in batch] for batch in batches][::-1]
