"""The Kullback-Leibler divergence of CMN's posterior from its prior, both diagonal Gaussians
(equation 2)."""

from __future__ import annotations

import torch

from workers.training.losses.precision import in_full_precision

WIDEST = 30.0
"""Of a log variance, either way: standard deviations of 3·10⁻⁷ to 3·10⁶. Beyond it is taken as at
it, or e^x leaves float32."""


@in_full_precision
def kl_by_dimension(
    mean: torch.Tensor,
    log_variance: torch.Tensor,
    prior_mean: torch.Tensor,
    prior_log_variance: torch.Tensor,
) -> torch.Tensor:
    """KL(q ‖ p) in nats in each dimension, 0 or more; all four are examples × dimensions.

    ½ (log σ_p² − log σ_q²) + (σ_q² + (μ_q − μ_p)²) / (2 σ_p²) − ½
    """
    wide, prior_wide = (
        log_variance.clamp(-WIDEST, WIDEST),
        prior_log_variance.clamp(-WIDEST, WIDEST),
    )
    narrower = wide - prior_wide
    between_means = (mean - prior_mean) ** 2 * torch.exp(-prior_wide)
    return 0.5 * (torch.expm1(narrower) - narrower + between_means)


@in_full_precision
def kl(
    mean: torch.Tensor,
    log_variance: torch.Tensor,
    prior_mean: torch.Tensor,
    prior_log_variance: torch.Tensor,
    free_bits: float = 0.0,
) -> torch.Tensor:
    """KL(q ‖ p) in nats, one for each example: the sum over the dimensions.

    The paper prints it so. The released code has free bits of 0.5: a dimension whose divergence is
    at most that counts 0, so nothing pulls it to the prior. (Kingma et al., 2016, count it as the
    threshold itself; the gradient is the same.)
    """
    each = kl_by_dimension(mean, log_variance, prior_mean, prior_log_variance)
    if free_bits > 0.0:
        each = torch.where(each > free_bits, each, torch.zeros_like(each))
    return each.sum(dim=-1)
