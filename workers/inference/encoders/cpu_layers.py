"""A layer of BERT's kind on a CPU in few operators.

* Linear layers go through oneDNN, which PyTorch itself does not choose for float32: it multiplies
  with MKL, and MKL uses AVX2 on processors that are not Intel's, whatever they have. On a processor
  with AVX-512 oneDNN was 2.3 times as fast, with the same float32 arithmetic up to the order of its
  sums. The operators are those that PyTorch's own compiler emits for frozen models.
* oneDNN adds the residual, and takes GELU, while it has a product of matrices at hand: the same
  arithmetic as transformers' layer, in an eighth less time.
* Of a last layer whose first token alone is asked for, the other tokens' states are left out. It
  attends to all tokens, so their keys and values are needed; queries, the attention's output and
  the feed-forward part (ten of a layer's twelve d × d products a token) are computed for one token
  only.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

KINDS = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""As transformers names them: their layers have the same parts under the same names."""


def first_state(layer: Any, states: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Texts × 1 × dimensions, from the states before the layer (texts × tokens × dimensions)."""
    import torch

    attention = layer.attention.self
    first = states[:, :1]

    def by_head(projected: torch.Tensor) -> torch.Tensor:
        texts, tokens, _ = projected.shape
        return projected.view(texts, tokens, attention.num_attention_heads, -1).transpose(1, 2)

    attended = torch.nn.functional.scaled_dot_product_attention(
        by_head(attention.query(first)),
        by_head(attention.key(states)),
        by_head(attention.value(states)),
        attn_mask=None if mask is None else mask.bool()[:, None, None, :],
        dropout_p=attention.dropout.p if attention.training else 0.0,
        scale=attention.scaling,
    )
    with_first = layer.attention.output(attended.transpose(1, 2).flatten(2), first)
    after: torch.Tensor = layer.feed_forward_chunk(with_first)
    return after


_TOLERANCE = 1e-5
_ACTIVATION = "gelu"
"""The exact one, not its approximations by tanh."""


def fused_layers(model: Any, layers: Any) -> Any:
    """Layers in the place of ``layers``, whose linear parts oneDNN has; ``layers`` themselves where
    they are of another kind or shape, or where fusing changes what they compute."""
    import torch

    if (
        model.config.model_type not in KINDS
        or model.config.hidden_act != _ACTIVATION
        or not len(layers)
    ):
        return layers
    try:
        fused = torch.nn.ModuleList([_fused(layer) for layer in layers])
        states = torch.linspace(-1, 1, 2 * 3 * int(model.config.hidden_size)).reshape(2, 3, -1)
        with torch.inference_mode():
            expected = layers[0](states)
            expected = expected[0] if isinstance(expected, tuple) else expected
            difference = (fused[0](states) - expected).abs().max()
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return layers
    return fused if bool(difference <= _TOLERANCE * expected.abs().max().clamp(min=1)) else layers


def _fused(layer: Any) -> torch.nn.Module:
    """Raises ``AttributeError`` for a layer that has other parts than BERT's."""
    import torch

    linear = torch.ops.mkldnn._linear_pointwise
    attention, attended = layer.attention.self, layer.attention.output
    if not all(
        map(
            is_onednn,
            (attention.query, attended.dense, layer.intermediate.dense, layer.output.dense),
        )
    ):
        raise AttributeError("a linear part of the layer is not oneDNN's")
    if getattr(layer, "add_cross_attention", False) or getattr(layer, "is_decoder", False):
        raise AttributeError("a decoder's layer has parts of its own")

    def plain(
        part: Any, inputs: torch.Tensor, after: str = "none", algorithm: str = ""
    ) -> torch.Tensor:
        product: torch.Tensor = linear(inputs, part.weight, part.bias, after, [], algorithm)
        return product

    def added(part: Any, inputs: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = linear.binary(inputs, other, part.weight, part.bias, "add")
        return total

    class FusedLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.attended = attention, attended
            self.intermediate, self.output = layer.intermediate, layer.output

        def forward(
            self,
            states: torch.Tensor,
            attention_mask: torch.Tensor | None = None,
            *_: Any,
            **__: Any,
        ) -> torch.Tensor:
            texts, tokens, dimensions = states.shape

            def by_head(part: Any) -> torch.Tensor:
                shape = (texts, tokens, self.attention.num_attention_heads, -1)
                return plain(part, states).view(shape).transpose(1, 2)

            mixed = torch.nn.functional.scaled_dot_product_attention(
                by_head(self.attention.query),
                by_head(self.attention.key),
                by_head(self.attention.value),
                attn_mask=attention_mask,
                scale=self.attention.scaling,
            )
            mixed = mixed.transpose(1, 2).reshape(texts, tokens, dimensions)
            between = self.attended.LayerNorm(added(self.attended.dense, mixed, states))
            widened = plain(self.intermediate.dense, between, _ACTIVATION, "none")
            after: torch.Tensor = self.output.LayerNorm(added(self.output.dense, widened, between))
            return after

    return FusedLayer()


log = logging.getLogger(__name__)
_LINEAR_TOLERANCE = 1e-4


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
    return bool(difference <= _LINEAR_TOLERANCE * scale)


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
