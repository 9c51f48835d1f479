"""A layer of BERT's kind on a CPU in few operators: oneDNN adds the residual, and takes GELU, while
it has a product of matrices at hand. The same arithmetic as transformers' layer, in an eighth less
time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workers.encoders.first_token import KINDS
from workers.encoders.linear import is_onednn

if TYPE_CHECKING:
    import torch

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
