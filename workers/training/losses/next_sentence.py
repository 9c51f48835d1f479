"""Whether a response follows a context: CMN's next sentence prediction (equations 2, 3 and 6)."""

from __future__ import annotations

import torch
from torch.nn import functional

from workers.training.losses.precision import in_full_precision

FOLLOWS = 1
"""The column of the pair that belongs together (y = 1). transformers' own heads of BERT have it in
column 0."""


@in_full_precision
def next_sentence(logits: torch.Tensor, follows: torch.Tensor) -> torch.Tensor:
    """−log p(y) in nats, one for each example; ``logits`` is examples × 2, ``follows`` tells which
    are positive.

    The equations print log p(y), with a minus sign inside what is to be made large; a cross-entropy
    is meant.
    """
    return functional.cross_entropy(logits, follows.long(), reduction="none")


@in_full_precision
def next_sentence_probability(logits: torch.Tensor) -> torch.Tensor:
    """g = σ(Linear(Encoder([c ; x]))), one for each example, 0 to 1.

    The released code's softmax over two outputs; of one output, as equation 6 may be read, it is
    the sigmoid of their difference.
    """
    return torch.softmax(logits, dim=-1)[..., FOLLOWS]
