"""MAUDE's loss on sums done by hand, and at the ends of what a model may give."""

from __future__ import annotations

import math

import pytest
import torch

from workers.training.core.losses import noise_contrastive


def test_it_is_the_printed_sum() -> None:
    # σ(ln 3) = 3/4; σ(−0) = 1/2, σ(−ln 4) = 1/5: −ln(3/4) + (ln 2 + ln 5)/2. Second context: all 0,
    # 2 ln 2.
    scores = torch.tensor([[math.log(3), 0.0, math.log(4)], [0.0, 0.0, 0.0]])
    first = -math.log(0.75) + (math.log(2) + math.log(5)) / 2
    assert noise_contrastive(scores).item() == pytest.approx(
        (first + 2 * math.log(2)) / 2, rel=1e-6
    )


def test_the_number_of_negatives_does_not_weigh() -> None:
    few, many = torch.tensor([[1.0, -2.0]]), torch.tensor([[1.0, *[-2.0] * 15]])
    assert noise_contrastive(few).item() == pytest.approx(noise_contrastive(many).item(), rel=1e-6)


def test_the_level_of_the_scores_counts() -> None:
    scores = torch.tensor([[2.0, -2.0]])
    assert noise_contrastive(scores + 3).item() > noise_contrastive(scores).item() + 1


def test_a_sure_and_wrong_model_has_a_finite_loss_and_gradient() -> None:
    scores = torch.tensor([[-6e4, 6e4]], dtype=torch.float16, requires_grad=True)
    loss = noise_contrastive(scores)
    loss.backward()
    assert loss.item() == pytest.approx(120_000, rel=1e-3)
    assert scores.grad is not None
    assert scores.grad.tolist() == [[-1.0, 1.0]]
