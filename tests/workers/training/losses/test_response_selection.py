"""L_RS on sums done by hand, and at the ends of what a model may give."""

from __future__ import annotations

import math

import pytest
import torch

from workers.training.core.losses import response_selection


def test_it_is_minus_the_logarithm_of_the_answers_share() -> None:
    # e^0 = 1 against ln 2 and ln 5: −ln(1 / (1 + 2 + 5)) = ln 8. The second: −ln(4 / (4 + 1 + 3)) =
    # ln 2. Mean ln 4.
    scores = torch.tensor([[0.0, math.log(2), math.log(5)], [math.log(4), 0.0, math.log(3)]])
    assert response_selection(scores).item() == pytest.approx(math.log(4), rel=1e-6)


@pytest.mark.parametrize("negatives", [1, 15, 19])
def test_equal_scores_cost_the_logarithm_of_the_number_of_candidates(negatives: int) -> None:
    assert response_selection(torch.full((3, 1 + negatives), 7.0)).item() == pytest.approx(
        math.log(1 + negatives)
    )


def test_only_differences_between_a_contexts_own_candidates_count() -> None:
    scores = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    moved = scores + torch.tensor([[3.0], [-5.0], [100.0], [0.0]], dtype=torch.float64)
    assert response_selection(moved).item() == pytest.approx(
        response_selection(scores).item(), rel=1e-9
    )


def test_a_sure_and_wrong_model_costs_what_it_is_wrong_by_and_gets_a_finite_gradient() -> None:
    scores = torch.tensor([[-6e4, 6e4, 0.0]], dtype=torch.float16, requires_grad=True)
    loss = response_selection(scores)
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(120_000, rel=1e-3)
    assert scores.grad is not None
    assert scores.grad.tolist() == [[-1.0, 1.0, 0.0]]
