"""A task that a training loop is tested with: a straight line through noisy points, with dropout
between two layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from workers.training.core.settings import Batch, Loss


class Killed(BaseException):
    """Out of the middle of a step, so that nothing is saved: what is on the disk is what SIGKILL
    leaves."""


class LineTask:
    recipe = "line"
    best_by = "fit"

    def __init__(
        self,
        batches: int = 4,
        dropout: float = 0.3,
        size: int = 8,
        killed_at: int = 0,
        figures: Sequence[float] = (),
        data_signature: str = "some points",
        before_loss: Callable[[], None] = lambda: None,
    ) -> None:
        """``killed_at``: the call of ``loss`` that does not return. ``figures``: what validations
        say, one after the other, the one before the first step among them; else how near the line
        is."""
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.model: nn.Module = nn.Sequential(
                nn.Linear(2, 16), nn.Dropout(dropout), nn.Linear(16, 1)
            )
            self._points = torch.randn(batches * size, 2)
        self._values = self._points @ torch.tensor([[2.0], [-1.0]]) + 0.5
        self._batches, self._size = batches, size
        self._killed_at, self._figures, self.data_signature = (
            killed_at,
            list(figures),
            data_signature,
        )
        self._before_loss = before_loss
        self.losses = 0

    def settings(self) -> Mapping[str, Any]:
        return {"batches": self._batches}

    def files(self) -> Mapping[str, bytes]:
        return {"line.txt": b"y = 2 a - b + 0.5"}

    def batches(self, epoch: int) -> Sequence[Any]:
        return [(epoch + number) % self._batches for number in range(self._batches)]

    def collate(self, item: Any) -> Batch:
        chosen = slice(item * self._size, (item + 1) * self._size)
        return {"points": self._points[chosen], "values": self._values[chosen]}

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        self._before_loss()
        self.losses += 1
        if self.losses == self._killed_at:
            raise Killed
        error = (model(batch["points"]) - batch["values"]).square().mean()
        return Loss(error, {"half": error.detach() / 2})

    def validate(self, model: nn.Module) -> Mapping[str, float]:
        torch.rand(3)  # a validation that draws
        if self._figures:
            return {"fit": self._figures.pop(0)}
        return {"fit": -(model(self._points) - self._values).square().mean().detach().item()}
