"""L_CL: all answers of a batch are one class, drawn together and away from the negatives (DEnsity,
equation 4)."""

from __future__ import annotations

from typing import Literal

import torch

from workers.training.losses.precision import in_full_precision

Form = Literal["paper", "released"]

TEMPERATURE = 0.1
"""τ of the paper, section 4.3."""

RELEASED_SHARE = 1e-5
"""Added by the released code to a share before its logarithm is taken."""
RELEASED_COUNT = 1e-3
"""Added by the released code to the number of other answers."""
SMALLEST_NORM = 1e-6
"""Of a feature vector whose largest entry is 1; only the zero vector is shorter, and it stays
zero."""


@in_full_precision
def supervised_contrastive(
    features: torch.Tensor, temperature: float = TEMPERATURE, form: Form = "paper"
) -> torch.Tensor:
    """A scalar for ``features`` of contexts × candidates × dimensions, each context's answer first
    among its candidates.

    ``paper``: Σᵢ −1/|P(i)| Σ_{p ∈ P(i)} log( e^(z_i · z_p / τ) / Σ_{a ∈ B(i)} e^(z_i · z_a / τ) ),
    z the features at length 1, i the answers, P(i) the other contexts' answers, B(i) all pairs of
    the batch but i. A sum over the batch: it grows with the number of contexts.

    ``released``: log(share + 10⁻⁵) for the logarithm, |P(i)| + 10⁻³ for |P(i)|, and the mean over
    all rows of the batch, negatives among them, whose term is 0. Beside the two small constants it
    is the paper's divided by |B|·(1 + N): with 16 contexts and 15 negatives 256 times smaller, so λ
    = 1 in L_RS + λ L_CL means another thing in each form.

    0 where the batch has one context, whose answer has no other to be near.
    """
    contexts, candidates, _ = features.shape
    rows = _unit(features).flatten(0, 1)
    if contexts < 2:
        return 0.0 * rows.sum()
    similarity = rows[::candidates] @ rows.T / temperature  # answers × all pairs
    answers = torch.arange(contexts, device=features.device)
    itself = torch.zeros_like(similarity, dtype=torch.bool)
    itself[answers, answers * candidates] = True
    log_share = torch.log_softmax(similarity.masked_fill(itself, -torch.inf), dim=1)
    to_answers = log_share[:, ::candidates].masked_fill(
        torch.eye(contexts, dtype=torch.bool, device=rows.device), 0.0
    )
    if form == "paper":
        return -to_answers.sum() / (contexts - 1)
    others = ~torch.eye(contexts, dtype=torch.bool, device=rows.device)
    terms = torch.log(to_answers.exp() + RELEASED_SHARE)[others]
    return -terms.sum() / (contexts - 1 + RELEASED_COUNT) / (contexts * candidates)


def _unit(features: torch.Tensor) -> torch.Tensor:
    """At length 1. The largest entry goes first, so that no square overflows or vanishes."""
    largest = features.detach().abs().amax(dim=-1, keepdim=True)
    scaled = features / torch.where(largest > 0, largest, torch.ones_like(largest))
    return torch.nn.functional.normalize(scaled, dim=-1, eps=SMALLEST_NORM)
