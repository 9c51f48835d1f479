"""The pretrained encoder that a training begins from, with the files of its tokenizer, which the
trained model keeps; and a checkpoint of a training, opened for use: the encoder that the training
began from is not needed any more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workers.inference.encoders.loading import from_folder
from workers.inference.model_files import ModelError, ModelFiles
from workers.training.core import checkpoint as checkpoints

if TYPE_CHECKING:
    import torch

ENCODER_CONFIG = "encoder.json"
"""Beside the weights: the configuration of the encoder within the model."""


@dataclass(frozen=True, slots=True)
class OwnCheckpoint:
    checkpoint: checkpoints.Checkpoint
    files: ModelFiles
    """The folder as whatever reads models takes it: its tokenizer is there."""

    def beside_weights(self) -> dict[str, bytes]:
        """By name: what the recipe put there, the encoder's configuration, its tokenizer."""
        names = [
            name for name in self.checkpoint.config["files"] if not name.endswith("safetensors")
        ]
        return {name: (self.files.folder / name).read_bytes() for name in names}

    def weights(self) -> dict[str, torch.Tensor]:
        return self.checkpoint.weights()


def open_checkpoint(folder: Path) -> OwnCheckpoint:
    """Checked by its hashes. Raises ``ModelError``."""
    try:
        found = checkpoints.read(folder)
    except checkpoints.CheckpointError as error:
        raise ModelError(str(error)) from error
    return OwnCheckpoint(found, ModelFiles(folder.name, folder, "", found.revision))


def new_encoder(beside_weights: Mapping[str, bytes]) -> Any:
    """An encoder of the configuration that stands beside the weights, which are still to be
    loaded."""
    import transformers

    config = transformers.AutoConfig.for_model(**json.loads(beside_weights[ENCODER_CONFIG]))
    kind: Any = transformers.AutoModel  # its methods have no types
    return kind.from_config(config)


TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)
_PARTS_NOT_NEEDED = ("pooler.", "cls.", "lm_head.", "classifier.")


def pretrained_encoder(files: ModelFiles) -> Any:
    """Raises ``ModelError`` where weights are missing or the model is no encoder."""
    loaded, lacking = from_folder(files, "AutoModel")
    missing = [name for name in lacking if not any(part in name for part in _PARTS_NOT_NEEDED)]
    if missing:
        raise ModelError(
            f"the weights of the model {files.name} lack {len(missing)} parts, among them "
            f"{missing[0]}"
        )
    if loaded.config.is_encoder_decoder or getattr(loaded.config, "is_decoder", False):
        raise ModelError(f"the model {files.name} is no encoder, but a {loaded.config.model_type}")
    return loaded


def tokenizer_files(files: ModelFiles) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in sorted(files.folder.iterdir())
        if file.name in TOKENIZER_FILES
    }
