"""Lower bounds of mutual information by contrast with negatives, and what CMN computes in their
place (equation 4)."""

from __future__ import annotations

import math
from typing import Literal

import torch

from workers.training.losses.precision import in_full_precision

Form = Literal["paper", "released", "bound"]

RELEASED_CONSTANT = math.log(10)
"""For log(N − 1), whatever N is."""


@in_full_precision
def info_nce(positive: torch.Tensor, negatives: torch.Tensor, form: Form = "paper") -> torch.Tensor:
    """In nats, one for each draw: ``positive`` holds F(x, r) (…), ``negatives`` F(x, r_n) (… × N).
    The mean over draws is the estimate.

    ``paper`` (Zhao et al., 2023, equation 4, with N negatives as the text has it, all of them in
    the sum): F(x, r) + log(N − 1) − log( 1/(N − 1) Σₙ e^F(x, r_n) ). Needs two negatives. It is no
    lower bound: where F says nothing (all values equal) the mutual information is 0 and this is
    about log(N − 1), because the sum is divided by N − 1 and log(N − 1) added as well. The surplus
    is the same for all responses.

    ``released``: F(x, r) + log 10 − (1/N) log Σₙ e^F(x, r_n): the logarithm is divided by N, not
    the sum.

    ``bound`` (InfoNCE, van den Oord et al., 2018): F(x, r) + log(N + 1) − log( e^F(x, r) + Σₙ
    e^F(x, r_n) ). Its mean is at most the mutual information, for every F; and it is at most log(N
    + 1).
    """
    count = negatives.shape[-1]
    if count < (2 if form == "paper" else 1):
        raise ValueError(
            "equation 4 needs two negatives" if form == "paper" else "there is no negative"
        )
    if form == "bound":
        all_of_them = torch.cat([positive.unsqueeze(-1), negatives], dim=-1)
        return positive + math.log(count + 1) - torch.logsumexp(all_of_them, dim=-1)
    log_sum = torch.logsumexp(negatives, dim=-1)
    if form == "released":
        return positive + RELEASED_CONSTANT - log_sum / count
    return positive + 2.0 * math.log(count - 1) - log_sum
