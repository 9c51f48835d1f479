"""Layers of BERT's kind in few operators: the same states, and left alone where they would not
be."""

from __future__ import annotations

from typing import Any

import pytest

from workers.inference.encoders import cpu_layers
from workers.inference.encoders.cpu_layers import fused_layers, use_onednn

TEXTS, TOKENS, DIMENSIONS = 3, 5, 24


def model(activation: str = "gelu", kind: str = "Bert") -> Any:
    import torch
    import transformers

    torch.manual_seed(5)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=50,
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        hidden_act=activation,
    )
    return getattr(transformers, f"{kind}Model")(config).eval()


@pytest.fixture
def packed() -> Any:
    made = model()
    if not use_onednn(made):
        pytest.skip("this build of PyTorch has no oneDNN")
    return made


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "XLMRoberta", "Camembert", "Electra"])
@pytest.mark.parametrize("is_padded", [True, False])
def test_gives_what_transformers_layers_give(kind: str, is_padded: bool) -> None:
    import torch

    plain, packed = model(kind=kind), model(kind=kind)
    if not use_onednn(packed):
        pytest.skip("this build of PyTorch has no oneDNN")
    packed.encoder.layer = fused_layers(packed, packed.encoder.layer)
    assert {type(layer).__name__ for layer in packed.encoder.layer} == {"FusedLayer"}
    batch = {"input_ids": torch.arange(TEXTS * TOKENS).reshape(TEXTS, TOKENS) + 5}
    if is_padded:
        batch["attention_mask"] = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]])
    with torch.inference_mode():
        expected, found = plain(**batch).last_hidden_state, packed(**batch).last_hidden_state
    counts = batch.get("attention_mask", torch.ones(TEXTS, TOKENS)).bool()
    assert torch.allclose(found[counts], expected[counts], atol=1e-6)


def test_the_layers_are_kept_where_the_linear_parts_are_pytorch_s() -> None:
    plain = model()
    assert fused_layers(plain, plain.encoder.layer) is plain.encoder.layer


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_the_layers_are_kept_where_the_activation_is_another(activation: str) -> None:
    other = model(activation)
    use_onednn(other)
    assert fused_layers(other, other.encoder.layer) is other.encoder.layer


def test_the_layers_are_kept_where_fusing_computes_something_else(
    packed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(cpu_layers, "_fused", lambda layer: torch.nn.Identity())
    assert fused_layers(packed, packed.encoder.layer) is packed.encoder.layer


def test_the_layers_are_kept_where_the_operators_are_missing(
    packed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(layer: object) -> object:
        raise AttributeError("'OpOverloadPacket' object has no attribute 'binary'")

    monkeypatch.setattr(cpu_layers, "_fused", absent)
    assert fused_layers(packed, packed.encoder.layer) is packed.encoder.layer
