"""L_CL: equation 4 by hand and written out, the released code's figure, and batches that have no
other answer."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from workers.training.core.losses import Form, supervised_contrastive


@pytest.fixture
def reference(golden: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((golden / "cmn_density_numeric.json").read_text())["density"][
        "scl_loss"
    ]
    return made


def of_reference(reference: dict[str, Any]) -> torch.Tensor:
    """16 rows: four contexts, each with its answer (label 0) and three negatives."""
    return torch.tensor(reference["X"], dtype=torch.float64).view(
        reference["bs"], 1 + reference["num_negative"], -1
    )


def test_two_contexts_by_hand() -> None:
    """Answers (1, 0) and (0, 2); a negative (3, 0) and one (0, 1). τ = 1, so e^(z·z) is e or 1.

    First answer: (0, 1) has e^0 = 1 of 1 + e + 1 (itself left out): ln(2 + e). Second: (1, 0) has 1
    of 1 + 1 + e. Sum 2 ln(2 + e).
    """
    features = torch.tensor([[[1.0, 0.0], [3.0, 0.0]], [[0.0, 2.0], [0.0, 1.0]]])
    assert supervised_contrastive(features, 1.0).item() == pytest.approx(
        2 * math.log(2 + math.e), rel=1e-6
    )


def test_it_is_equation_4_written_out() -> None:
    features = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    z = torch.nn.functional.normalize(features, dim=-1).view(12, 5)
    total = 0.0
    for answer in (0, 4, 8):
        below = sum(
            math.exp(float(z[answer] @ z[other]) / 0.1) for other in range(12) if other != answer
        )
        for other in {0, 4, 8} - {answer}:
            total -= math.log(math.exp(float(z[answer] @ z[other]) / 0.1) / below) / 2
    assert supervised_contrastive(features).item() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(
    ("form", "name"), [("paper", "paper_eq4_sum"), ("released", "repo_scl_loss")]
)
def test_both_forms_are_the_reference_figures(
    reference: dict[str, Any], form: Form, name: str
) -> None:
    value = supervised_contrastive(of_reference(reference), reference["temp"], form).item()
    # The released function ran in float32.
    assert value == pytest.approx(reference[name], rel=1e-6 if form == "released" else 1e-12)


def test_nearer_answers_cost_less() -> None:
    apart = torch.randn(4, 3, 8, generator=torch.Generator().manual_seed(2))
    together = apart.clone()
    together[:, 0] = apart[0, 0]
    for form in ("paper", "released"):
        assert supervised_contrastive(together, form=form) < supervised_contrastive(
            apart, form=form
        )


def test_lengths_do_not_matter() -> None:
    features = torch.randn(3, 2, 6, generator=torch.Generator().manual_seed(3))
    stretched = (
        features * torch.rand(3, 2, 1, generator=torch.Generator().manual_seed(4)).add(0.5) * 1e20
    )
    assert supervised_contrastive(stretched).item() == pytest.approx(
        supervised_contrastive(features).item(), rel=1e-4
    )


@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize("shape", [(1, 4, 3), (1, 1, 3)])
def test_a_lone_context_costs_nothing_and_moves_nothing(form: Form, shape: tuple[int, ...]) -> None:
    features = torch.ones(shape, requires_grad=True)
    loss = supervised_contrastive(features, form=form)
    loss.backward()
    assert loss.item() == 0.0
    assert features.grad is not None
    assert not features.grad.any()


@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize("value", [0.0, 1e-30, 1e30])
def test_gradients_stay_finite_where_features_vanish_or_explode(form: Form, value: float) -> None:
    features = torch.randn(3, 4, 8, generator=torch.Generator().manual_seed(5)) * value
    features.requires_grad_()
    loss = supervised_contrastive(features, 0.01, form)
    loss.backward()
    assert features.grad is not None
    assert math.isfinite(loss.item())
    assert features.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_features_are_taken_in_float32_under_autocast_too(
    dtype: torch.dtype,
) -> None:
    features = torch.randn(4, 5, 16, generator=torch.Generator().manual_seed(6)).to(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = supervised_contrastive(features)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(supervised_contrastive(features.double()).item(), rel=1e-5)
