"""The bounds: the reference figures, hand-made sums, and Gaussians whose mutual information is
known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from workers.training.core.losses import InformationForm, info_nce


@pytest.fixture
def reference(golden: Path) -> list[dict[str, Any]]:
    """Latents without variance: F of the pair and of ten, nine and three negatives."""
    made: list[dict[str, Any]] = json.loads((golden / "cmn_density_numeric.json").read_text())[
        "cmn"
    ]["deterministic_std0"]
    assert [one["N_negatives"] for one in made] == [10, 9, 3]
    return made


@pytest.mark.parametrize(
    ("form", "name"), [("paper", "paper_eq4"), ("released", "repo_InfoNCE_std0")]
)
def test_both_forms_are_the_reference_figures(
    reference: list[dict[str, Any]], form: InformationForm, name: str
) -> None:
    for one in reference:
        positive = torch.tensor(one["F"], dtype=torch.float64)
        negatives = torch.tensor(one["F_neg"], dtype=torch.float64)
        assert info_nce(positive, negatives, form).item() == pytest.approx(one[name], rel=1e-12)


def test_by_hand() -> None:
    # F = ln 6, three negatives with e^F of 1, 2 and 3. paper: ln 6 + ln 2 − ln(6/2) = ln 4.
    # released: ln 6 + ln 10 − (ln 6)/3. bound: ln 6 + ln 4 − ln(6 + 6) = ln 2.
    positive, negatives = torch.tensor(math.log(6)), torch.tensor([0.0, math.log(2), math.log(3)])
    assert info_nce(positive, negatives).item() == pytest.approx(math.log(4))
    assert info_nce(positive, negatives, "released").item() == pytest.approx(
        math.log(60) - math.log(6) / 3
    )
    assert info_nce(positive, negatives, "bound").item() == pytest.approx(math.log(2))


def test_each_draw_has_its_own_negatives() -> None:
    positive, negatives = torch.randn(4, 3), torch.randn(4, 3, 6)
    for form in ("paper", "released", "bound"):
        together = info_nce(positive, negatives, form)
        assert together.shape == (4, 3)
        assert together[2, 1].item() == pytest.approx(
            info_nce(positive[2, 1], negatives[2, 1], form).item(), rel=1e-5
        )


def test_too_few_negatives_are_refused() -> None:
    with pytest.raises(ValueError, match="two negatives"):
        info_nce(torch.zeros(1), torch.zeros(1, 1))
    with pytest.raises(ValueError, match="no negative"):
        info_nce(torch.zeros(1), torch.zeros(1, 0), "bound")
    assert info_nce(torch.zeros(1), torch.zeros(1, 1), "bound").item() == pytest.approx(0.0)


@pytest.mark.parametrize("form", ["paper", "released", "bound"])
def test_values_and_gradients_stay_finite_at_extremes(form: InformationForm) -> None:
    positive = torch.tensor([6e4, -6e4], dtype=torch.float16, requires_grad=True)
    negatives = torch.tensor([[6e4, -6e4, 0.0]] * 2, dtype=torch.float16, requires_grad=True)
    value = info_nce(positive, negatives, form)
    value.sum().backward()
    assert value.dtype == torch.float32
    assert value.isfinite().all()
    for one in (positive, negatives):
        assert one.grad is not None
        assert one.grad.isfinite().all()


# --- Gaussians with known mutual information

DIMENSIONS = 4
RHO = 0.6
KNOWN = -0.5 * DIMENSIONS * math.log(1 - RHO**2)
"""I(x, y) of x and y with correlation ρ in each of d dimensions: −(d/2) ln(1 − ρ²) = 0.893 nats."""
CONTRASTED = 4000


def gaussians(negatives: int) -> tuple[torch.Tensor, torch.Tensor]:
    """F(x, y) = ln p(y | x) − ln p(y), the best critic there is, of pairs and of negatives drawn
    from p(y)."""
    random = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, DIMENSIONS, generator=random, dtype=torch.float64)

    x = normal(CONTRASTED)
    y = RHO * x + math.sqrt(1 - RHO**2) * normal(CONTRASTED)

    def critic(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        densities = (y**2 - (y - RHO * x) ** 2 / (1 - RHO**2) - math.log(1 - RHO**2)) / 2
        return densities.sum(dim=-1)

    return critic(x, y), critic(x.unsqueeze(1), normal(CONTRASTED, negatives))


@pytest.mark.parametrize(("negatives", "near"), [(3, 0.5), (15, 0.2), (255, 0.03)])
def test_the_bound_is_below_the_known_information_and_nearer_with_more_negatives(
    negatives: int, near: float
) -> None:
    values = info_nce(*gaussians(negatives), "bound")
    error = (values.std() / math.sqrt(CONTRASTED)).item()
    assert error < 0.02
    assert KNOWN - near - 2 * error < values.mean().item() < KNOWN + 2 * error
    assert values.mean().item() < math.log(negatives + 1)


def test_a_critic_that_knows_less_gives_a_lower_bound() -> None:
    positive, negatives = gaussians(15)
    assert (
        info_nce(0.3 * positive, 0.3 * negatives, "bound").mean()
        < info_nce(positive, negatives, "bound").mean()
    )


def test_equation_4_as_printed_is_no_bound() -> None:
    """With the best critic its mean is the known information plus about log(N − 1): 2.7 nats too
    much for 15."""
    values = info_nce(*gaussians(15), "paper")
    assert values.mean().item() == pytest.approx(KNOWN + math.log(14), abs=0.1)
    # And where F says nothing, so there is no information: log(N − 1) + log((N − 1) / N).
    silent = info_nce(torch.zeros(1), torch.zeros(1, 15), "paper").item()
    assert silent == pytest.approx(math.log(14) + math.log(14 / 15), rel=1e-6)
