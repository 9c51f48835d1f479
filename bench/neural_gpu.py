"""How many responses a second a base-size encoder takes on a GPU, and how much of the time the GPU
works."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from workers.inference.model_files import PACKAGED_ENCODER, model_files
from workers.metrics.base import Example

REPEATS = 20
"""The texts of 99 systems take a GPU a few seconds: each goes in so many variants, so that there is
time to look."""


def measured(threads: int, systems: list[list[Example]]) -> dict[str, Any] | None:
    """None where PyTorch finds no GPU."""
    import torch

    if not torch.cuda.is_available():
        return None
    from workers.inference import resources
    from workers.inference.encoders.encoder import TextEncoder

    with tempfile.TemporaryDirectory() as folder:
        _make_base_model(Path(folder))
        resources.use(resources.Resources("cuda", threads))
        encoder = TextEncoder(model_files(folder), "cuda")
        texts = [e.response for examples in systems for e in examples]
        encoder.sentence_vectors(texts[:2000], pooling="cls")
        torch.cuda.synchronize()
        varied = [f"{text} {number}" for number in range(REPEATS) for text in texts]
        with _Watch() as watch:
            start = time.perf_counter()
            encoder.sentence_vectors(varied)
            torch.cuda.synchronize()
            seconds = time.perf_counter() - start
    return {
        "device": encoder.device_label,
        "rate": len(varied) / seconds,
        "texts": len(set(varied)),
        "busy": watch.busy,
    }


def _make_base_model(folder: Path) -> None:
    """12 layers, d = 768, weights drawn with a seed, the packaged encoder's tokenizer."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(model_files(PACKAGED_ENCODER).folder)
    tokenizer.save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(tokenizer))).save_pretrained(folder)


class _Watch:
    """Asks the driver ten times a second what share of the time a kernel ran."""

    def __enter__(self) -> _Watch:
        self._seen: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        import torch

        while not self._over.wait(0.1):
            self._seen.append(torch.cuda.utilization())

    @property
    def busy(self) -> float:
        return sum(self._seen) / len(self._seen) / 100 if self._seen else 0.0
