"""Checkpoints of the kind ``bleurt``, which transformers does not know: BLEURT-20 and the distilled
ones (Pu et al., 2021).

A BERT whose word embeddings may be narrower than its layers: they are normalised, projected, and
read by the layers; the first token's state goes through a pooler and a linear layer to one number.
transformers' ELECTRA has the narrow embeddings and the layers; pooler and head are added here. The
weights are checked to be all there and to fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from workers.inference.model_files import ModelError, ModelFiles, configuration_of

if TYPE_CHECKING:
    import torch

KIND = "bleurt"
SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
    "pad_token_id",
)
_RENAMED = (
    ("bleurt.embeddings.", "encoder.embeddings."),
    ("bleurt.encoder.embedding_projection.", "encoder.embeddings_project."),
    ("bleurt.encoder.", "encoder.encoder."),
    ("bleurt.pooler.dense.", "pooler."),
    ("classifier.", "classifier."),
)


def is_bleurt(folder: Path) -> bool:
    """Whether a checkpoint's configuration says that it is of this kind."""
    return bool(configuration_of(folder).get("model_type") == KIND)


def load_bleurt(files: ModelFiles) -> Any:
    """A module that takes ids, mask and segments and gives ``logits``, texts × 1.

    Raises ``ModelError`` where weights are missing, too many or of another size; what readers raise
    for a broken file.
    """
    import torch
    from transformers import ElectraConfig, ElectraModel

    given = configuration_of(files.folder)
    outputs = given.get("num_labels", 1)
    if outputs != 1:
        raise ModelError(f"the model {files.name} has a head that gives {outputs} numbers")
    config = ElectraConfig(
        **{name: given[name] for name in SIZES if name in given},
        embedding_size=given.get("embedding_size") or given["hidden_size"],
    )

    class Bleurt(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.config = config
            self.encoder = ElectraModel(config)
            self.pooler = torch.nn.Linear(config.hidden_size, config.hidden_size)
            self.classifier = torch.nn.Linear(config.hidden_size, 1)

        def get_input_embeddings(self) -> Any:
            return self.encoder.embeddings.word_embeddings

        def forward(self, **inputs: torch.Tensor) -> SimpleNamespace:
            states = self.encoder(**inputs).last_hidden_state
            pooled = torch.tanh(self.pooler(states[:, 0]))
            return SimpleNamespace(logits=self.classifier(pooled))

    model = Bleurt()
    weights = {
        name: values
        for old, values in _weights(files.folder).items()
        if (name := _renamed(old)) and not name.endswith(("position_ids", "token_type_ids"))
    }
    lacking, surplus = model.load_state_dict(weights, strict=False)
    lacking = [name for name in lacking if not name.endswith(("position_ids", "token_type_ids"))]
    if lacking or surplus:
        what = f"lack {lacking[0]}" if lacking else f"hold {surplus[0]}, which it does not have"
        raise ModelError(f"the weights of the model {files.name} {what}")
    return model.float()


def _renamed(name: str) -> str:
    for old, new in _RENAMED:
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def _weights(folder: Path) -> Mapping[str, torch.Tensor]:
    import torch
    from safetensors.torch import load_file

    whole = folder / "model.safetensors"
    if whole.is_file():
        return load_file(whole)
    found: Mapping[str, torch.Tensor] = torch.load(
        folder / "pytorch_model.bin", map_location="cpu", weights_only=True
    )
    return found
