"""An optimiser's averages and the generators' states as tensors by name, which safetensors can
hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

_OPTIMISER, _GENERATOR, _SCALER = "optimiser.", "generator.", "scaler."


def saved_state(optimiser: torch.optim.Optimizer, scaler: Any = None) -> dict[str, torch.Tensor]:
    """``scaler``: what mixed precision with float16 scales the loss by."""
    state = optimiser.state_dict()["state"]
    tensors = {
        f"{_OPTIMISER}{index}.{name}": value
        if isinstance(value, torch.Tensor)
        else torch.tensor(value)
        for index, values in state.items()
        for name, value in values.items()
    }
    tensors |= generator_states()
    if scaler is not None:
        tensors |= {
            f"{_SCALER}{name}": torch.tensor(value) for name, value in scaler.state_dict().items()
        }
    return tensors


def load_state(
    tensors: Mapping[str, torch.Tensor], optimiser: torch.optim.Optimizer, scaler: Any = None
) -> None:
    """The groups' own settings (learning rate, decay) stay those of ``optimiser``."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(_OPTIMISER):
            index, key = name.removeprefix(_OPTIMISER).split(".", 1)
            state.setdefault(int(index), {})[key] = tensor
    optimiser.load_state_dict(
        {"state": state, "param_groups": optimiser.state_dict()["param_groups"]}
    )
    if scaler is not None:
        of_scaler = {
            name.removeprefix(_SCALER): value.item()
            for name, value in tensors.items()
            if name.startswith(_SCALER)
        }
        if of_scaler:
            scaler.load_state_dict(of_scaler)
    set_generators(tensors)


def generator_states() -> dict[str, torch.Tensor]:
    """Of torch's own generators, the CPU's and every CUDA device's."""
    states = {f"{_GENERATOR}cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states |= {
            f"{_GENERATOR}cuda{index}": state
            for index, state in enumerate(torch.cuda.get_rng_state_all())
        }
    return states


def set_generators(tensors: Mapping[str, torch.Tensor]) -> None:
    """Those that are there; a checkpoint of another machine may hold more or fewer."""
    if f"{_GENERATOR}cpu" in tensors:
        torch.set_rng_state(tensors[f"{_GENERATOR}cpu"])
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            if f"{_GENERATOR}cuda{index}" in tensors:
                torch.cuda.set_rng_state(tensors[f"{_GENERATOR}cuda{index}"], index)
