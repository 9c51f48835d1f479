"""MAUDE's loss: is this the answer or noise (Sinha et al., 2020, "Learning an Unreferenced Metric
for Online Dialogue Evaluation", section 3)."""

from __future__ import annotations

import torch
from torch.nn import functional

from workers.training.losses.precision import in_full_precision


@in_full_precision
def noise_contrastive(scores: torch.Tensor) -> torch.Tensor:
    """A scalar in nats, the mean over the contexts of

    L = −log σ(f(c, r_p)) − (1/N) Σᵢ log σ(−f(c, r_nᵢ)),

    for ``scores`` of contexts × candidates, the answer's f(c, r_p) in the first column: the paper's
    expectation over noise is the mean over a context's N negatives. 0 or more; 2 ln 2 where all
    scores are 0. Unlike the softmax of ``response_selection`` it fixes f's level: σ(f) is the
    chance of being the answer where noise comes as often.
    """
    answers = functional.softplus(-scores[:, 0])
    noise = functional.softplus(scores[:, 1:]).mean(dim=1)
    return (answers + noise).mean()
