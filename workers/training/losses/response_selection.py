"""L_RS: which of the candidates is the answer (DEnsity, Park et al., 2023, equation 1)."""

from __future__ import annotations

import torch
from torch.nn import functional

from workers.training.losses.precision import in_full_precision


@in_full_precision
def response_selection(scores: torch.Tensor) -> torch.Tensor:
    """A scalar in nats, the mean over the contexts of

    L_RS = −log( e^f(c, r_p) / (e^f(c, r_p) + Σᵢ e^f(c, r_nᵢ)) ),

    for ``scores`` of contexts × candidates, the answer's f(c, r_p) in the first column. The paper
    prints one context's term; the mean over a batch is the released code's. 0 or more; ln(1 + N)
    where all N + 1 scores are equal.
    """
    answers = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    return functional.cross_entropy(scores, answers)
