"""How far the decoder is from saying the reference: CMN's first term (Zhao et al., 2023, equations
2 and 3)."""

from __future__ import annotations

from typing import Literal

import torch
from torch.nn import functional

from workers.training.losses.precision import in_full_precision

Form = Literal["paper", "released"]

IGNORED = -100
"""A target that is not one: padding, or what stands before the response."""


@in_full_precision
def reconstruction(
    logits: torch.Tensor, targets: torch.Tensor, form: Form = "paper"
) -> torch.Tensor:
    """−log p(r | c, z) in nats, one for each example, to be made small; the equations print log p,
    to be made large.

    ``logits`` is examples × places × vocabulary, ``targets`` examples × places: the token that the
    logits of the same place should give (so shifted already), or ``IGNORED``. z is one sample, from
    the posterior of a positive example and from the prior of a negative one; the expectation over z
    is left to the batches.

    ``paper``: −Σₜ log p(rₜ | r_<t, c, z). ``released``: that sum divided by the number of tokens
    with the beginning token, so by one more than there are targets. 0 for an example without
    targets.
    """
    count, indices, words = logits.shape
    flat = functional.cross_entropy(
        logits.reshape(count * indices, words),
        targets.reshape(-1),
        ignore_index=IGNORED,
        reduction="none",
    )
    sums = flat.view(count, indices).sum(dim=1)
    if form == "paper":
        return sums
    return sums / ((targets != IGNORED).sum(dim=1) + 1)
