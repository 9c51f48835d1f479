"""The pretrained encoder that a training begins from, and the files of its tokenizer, which the
trained model keeps."""

from __future__ import annotations

from typing import Any

from workers.encoders.loading import from_folder
from workers.model_files import ModelError, ModelFiles

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
