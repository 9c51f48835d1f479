"""Half precision ends at a loss: exponentials and sums over a batch need float32's range and
digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def in_full_precision(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Tensors of half precision arrive as float32, float64 stays; autocast, which would take
    products of float32 in half precision, is off inside. Gradients go back in the precision that
    the tensors had."""

    @wraps(function)
    def in_float32(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        device = given[0].device.type if given else "cpu"
        wide: Any = [_widened(value) for value in args]
        named: Any = {name: _widened(value) for name, value in kwargs.items()}
        with torch.autocast(device_type=device, enabled=False):
            return function(*wide, **named)

    return in_float32


def _widened(value: object) -> object:
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.element_size() < 4:
        return value.float()
    return value
