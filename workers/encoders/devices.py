"""Where a model computes: the device of ``resources``, found and named. torch is imported only when
asked.

Nothing here may run before a worker forks its processes: an accelerator that was touched there is
lost to them.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from workers import resources
from workers.model_files import ModelError

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
