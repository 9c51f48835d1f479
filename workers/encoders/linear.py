"""Linear layers through oneDNN on a CPU, which PyTorch itself does not choose for float32.

PyTorch multiplies float32 matrices with MKL, and MKL uses AVX2 on processors that are not Intel's,
whatever they have. oneDNN looks at what the processor can do: on one with AVX-512 it was 2.3 times
as fast here, with the same float32 arithmetic up to the order of its sums. The operators are those
that PyTorch's own compiler emits for frozen models.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)
_TOLERANCE = 1e-4


def use_onednn(model: Any) -> int:
    """Gives every linear layer of a float32 model on a CPU to oneDNN; how many there were.

    0 where this build of PyTorch has no oneDNN, or it computes something else: then the model stays
    as it is. The model can only be used for inference afterwards.
    """
    import torch

    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is torch.nn.Linear
        and child.weight.dtype is torch.float32
        and child.weight.device.type == "cpu"
    ]
    if not found or not _works(found[0][2]):
        return 0
    for parent, name, child in found:
        setattr(parent, name, _packed(child))
    return len(found)


def is_onednn(module: Any) -> bool:
    """Whether ``use_onednn`` has put it where a linear layer was."""
    return bool(getattr(module, "multiplied_by_onednn", False))


def _works(linear: torch.nn.Linear) -> bool:
    import torch

    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    inputs = torch.linspace(-1, 1, 3 * linear.in_features).reshape(3, linear.in_features)
    try:
        with torch.inference_mode():
            difference = (_packed(linear)(inputs) - linear(inputs)).abs().max()
            scale = linear(inputs).abs().max().clamp(min=1)
    except (AttributeError, RuntimeError, NotImplementedError) as error:
        log.info("linear layers stay with MKL: %s", str(error).splitlines()[0])
        return False
    return bool(difference <= _TOLERANCE * scale)


def _packed(linear: torch.nn.Linear) -> torch.nn.Module:
    """A module in its place, whose weights are laid out as oneDNN wants them."""
    import torch

    multiply = torch.ops.mkldnn._linear_pointwise

    class OneDnnLinear(torch.nn.Module):
        multiplied_by_onednn = True

        def __init__(self) -> None:
            super().__init__()
            self.in_features, self.out_features = linear.in_features, linear.out_features
            weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)
            self.register_buffer("weight", weight, persistent=False)
            self.bias = linear.bias

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            product: torch.Tensor = multiply(inputs, self.weight, self.bias, "none", [], "")
            return product

    return OneDnnLinear()
