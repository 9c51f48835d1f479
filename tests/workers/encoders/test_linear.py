"""Linear layers through oneDNN: the same numbers, and left alone where it cannot be."""

from __future__ import annotations

import pytest

from workers.inference.encoders import cpu_layers


def network() -> object:
    import torch

    torch.manual_seed(3)
    return torch.nn.Sequential(
        torch.nn.Linear(12, 20), torch.nn.ReLU(), torch.nn.Linear(20, 5, bias=False)
    )


@pytest.mark.parametrize("shape", [(1, 12), (7, 12), (2, 3, 12), (300, 12)])
def test_gives_what_plain_layers_give(shape: tuple[int, ...]) -> None:
    import torch

    plain, packed = network(), network()
    if not cpu_layers.use_onednn(packed):
        pytest.skip("this build of PyTorch has no oneDNN")
    inputs = torch.randn(shape)
    with torch.inference_mode():
        assert torch.allclose(packed(inputs), plain(inputs), atol=1e-6)


def test_layers_of_other_types_stay() -> None:
    assert cpu_layers.use_onednn(network().double()) == 0  # type: ignore[attr-defined]


def test_a_build_without_the_operators_stays_with_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(layer: object) -> object:
        raise AttributeError("'_OpNamespace' 'mkldnn' object has no attribute '_linear_pointwise'")

    monkeypatch.setattr(cpu_layers, "_packed", absent)
    assert cpu_layers.use_onednn(network()) == 0


def test_operators_that_compute_something_else_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setattr(
        cpu_layers, "_packed", lambda layer: torch.nn.Linear(layer.in_features, layer.out_features)
    )
    assert cpu_layers.use_onednn(network()) == 0
