"""Small encoders with random weights, and transformers' own forward to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.workers.checkpoints import save_bert
from workers.inference import resources
from workers.inference.encoders.encoder import TextEncoder
from workers.inference.encoders.feature_store import FeatureStore
from workers.inference.model_files import model_files


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = resources.at_hand()
    resources.use(resources.Resources(device="cpu", threads=1))
    yield
    resources.use(before)


@pytest.fixture(scope="session")
def small_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 layers, 16 dimensions, 48 positions."""
    return save_bert(tmp_path_factory.mktemp("bert") / "model", "BertModel")


@pytest.fixture
def encoder(small_bert: Path) -> TextEncoder:
    return forgetful(TextEncoder(model_files(str(small_bert)), "cpu"))


def forgetful(encoder: TextEncoder) -> TextEncoder:
    """With nothing in its store that another test has left there."""
    encoder.store = FeatureStore(None, 0)
    return encoder


def plain_states(
    folder: Path, *texts: str, layer: int = -1
) -> tuple[list[int], NDArray[np.float32]]:
    """(ids, states) of one text or pair as transformers' own tokenizer and model give them."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(str(folder))(*texts, return_tensors="pt")
    with torch.no_grad():
        output = AutoModel.from_pretrained(str(folder)).eval()(**inputs, output_hidden_states=True)
    return inputs["input_ids"][0].tolist(), output.hidden_states[layer][0].numpy()


class Counted:
    """Stands between an encoder and its model: what goes through, and an error where one is
    wanted."""

    def __init__(self, encoder: TextEncoder) -> None:
        self.batches: list[tuple[int, int]] = []
        self._computed = encoder._transformer._computed
        encoder._transformer._computed = self  # type: ignore[assignment, method-assign]

    @property
    def texts(self) -> int:
        return sum(texts for texts, _ in self.batches)

    def __call__(self, inputs: Sequence[Any], batch: list[int], *rest: Any) -> Any:
        self.batches.append((len(batch), len(inputs[batch[0]])))
        self.before(len(batch))
        return self._computed(inputs, batch, *rest)

    def before(self, texts: int) -> None:
        pass
