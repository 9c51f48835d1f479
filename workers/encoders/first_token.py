"""The first token's state after a layer of BERT's kind, without the other tokens' states, which
nobody asks for.

It attends to all tokens, so their keys and values are needed; queries, the attention's output and
the feed-forward part (ten of a layer's twelve d × d products a token) are computed for one token
only.
"""

from __future__ import annotations

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
