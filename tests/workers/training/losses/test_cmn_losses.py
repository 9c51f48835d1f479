"""Reconstruction, divergence and next sentence: hand-made numbers, torch's own distributions,
extremes."""

from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from workers.training.core.losses import (
    IGNORED,
    kl,
    kl_by_dimension,
    next_sentence,
    next_sentence_probability,
    reconstruction,
)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- reconstruction


def test_reconstruction_sums_over_an_examples_own_tokens() -> None:
    # Two words. ln 3 to 0: the first has 3/4, the second 1/4. First example: word 0, then word 1:
    # ln(4/3) + ln 4. The second has one target, word 0: ln(4/3). Released: divided by 2 + 1 and 1 +
    # 1 tokens.
    logits = torch.tensor([math.log(3), 0.0]).expand(2, 2, 2)
    targets = torch.tensor([[0, 1], [0, IGNORED]])
    expected = [math.log(4 / 3) + math.log(4), math.log(4 / 3)]
    assert reconstruction(logits, targets).tolist() == pytest.approx(expected)
    assert reconstruction(logits, targets, "released").tolist() == pytest.approx(
        [expected[0] / 3, expected[1] / 2]
    )


def test_an_example_without_targets_costs_nothing_and_moves_nothing() -> None:
    logits = drawn(1, 3, 4).requires_grad_()
    for form in ("paper", "released"):
        loss = reconstruction(logits, torch.full((1, 3), IGNORED), form)
        assert loss.tolist() == [0.0]
    loss.sum().backward()
    assert logits.grad is not None
    assert not logits.grad.any()


def test_reconstruction_of_half_precision_logits_is_summed_in_float32() -> None:
    # 3,000 tokens of ln 2 each: 2079.44. In float16 numbers of that size lie 2 apart.
    loss = reconstruction(
        torch.zeros(1, 3000, 2, dtype=torch.float16), torch.zeros(1, 3000, dtype=torch.long)
    )
    assert loss.item() == pytest.approx(3000 * math.log(2), rel=1e-6)


# --- divergence


def test_the_divergence_is_that_of_torchs_gaussians() -> None:
    mean, wide, prior_mean, prior_wide = (drawn(5, 32, seed=seed) for seed in range(4))
    expected = kl_divergence(
        Normal(mean, (0.5 * wide).exp()), Normal(prior_mean, (0.5 * prior_wide).exp())
    )
    assert torch.allclose(kl_by_dimension(mean, wide, prior_mean, prior_wide), expected, rtol=1e-12)
    assert torch.allclose(kl(mean, wide, prior_mean, prior_wide), expected.sum(dim=1), rtol=1e-12)


def test_the_divergence_by_hand() -> None:
    # A mean off by 2 at equal variance 1: 2²/2 = 2. Variance 4 against 1: ½ (4 − 1 − ln 4).
    zero = torch.zeros(1, 2, dtype=torch.float64)
    mean, wide = zero + torch.tensor([2.0, 0.0]), zero + torch.tensor([0.0, math.log(4)])
    assert kl_by_dimension(mean, wide, zero, zero).tolist() == [
        [2.0, pytest.approx(0.5 * (3 - math.log(4)))]
    ]


def test_a_dimension_within_its_free_bits_counts_nothing() -> None:
    # Means off by 0.9, 1 and 2: 0.405, 0.5 and 2 nats. The threshold itself is free.
    mean = torch.tensor([[0.9, 1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    zero = torch.zeros(1, 3, dtype=torch.float64)
    loss = kl(mean, zero, zero, zero, free_bits=0.5)
    assert loss.tolist() == [2.0]
    loss.sum().backward()
    assert mean.grad is not None
    assert mean.grad.tolist() == [[0.0, 0.0, 2.0]]
    assert kl(mean, zero, zero, zero).tolist() == [pytest.approx(0.405 + 0.5 + 2)]


def test_equal_gaussians_do_not_diverge_and_none_diverges_by_less() -> None:
    mean, wide = drawn(50, 8).float(), drawn(50, 8, seed=1).float()
    assert kl(mean, wide, mean, wide).tolist() == [0.0] * 50
    assert (kl_by_dimension(mean, wide, mean, wide + 1e-4) >= 0).all()


@pytest.mark.parametrize("wide", [-500.0, 500.0])
@pytest.mark.parametrize("prior_wide", [-500.0, 500.0])
@pytest.mark.parametrize("mean", [0.0, 6e4])
def test_divergence_and_gradients_stay_finite_at_extremes(
    wide: float, prior_wide: float, mean: float
) -> None:
    given = [
        torch.full((2, 3), value).half().requires_grad_()
        for value in (mean, wide, -mean, prior_wide)
    ]
    loss = kl(*given)
    loss.sum().backward()
    assert loss.dtype == torch.float32
    assert loss.isfinite().all()
    for one in (given[1], given[3]):
        assert one.grad is not None
        assert one.grad.isfinite().all()


# --- next sentence


def test_next_sentence_is_the_cross_entropy_with_column_1_as_yes() -> None:
    # ln 3 to 0 for yes: 3/4. A pair that follows costs ln(4/3), one that does not ln 4.
    logits = torch.tensor([[0.0, math.log(3)], [0.0, math.log(3)]])
    assert next_sentence(logits, torch.tensor([True, False])).tolist() == pytest.approx(
        [math.log(4 / 3), math.log(4)]
    )
    assert next_sentence_probability(logits).tolist() == pytest.approx([0.75, 0.75])


def test_g_is_the_sigmoid_of_the_difference() -> None:
    logits = drawn(9, 2)
    assert torch.allclose(
        next_sentence_probability(logits), torch.sigmoid(logits[:, 1] - logits[:, 0])
    )


def test_next_sentence_stays_finite_where_the_model_is_sure_and_wrong() -> None:
    logits = torch.tensor([[6e4, -6e4]], dtype=torch.float16, requires_grad=True)
    loss = next_sentence(logits, torch.tensor([1]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(120_000, rel=1e-3)
    assert logits.grad is not None
    assert logits.grad.tolist() == [[1.0, -1.0]]
