"""What the training loop asks of a recipe. A recipe knows its data, its model and its loss; the
loop knows neither.

The loop (``workers.training.loop``) does the rest: optimiser and schedule, precision and devices,
curves, checkpoints, resuming, early stop and the best checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch
    from torch import nn

Batch = Mapping[str, Any]
"""What ``collate`` makes of one item: tensors, or tuples of tensors, by name. The loop moves them
to the device."""


@dataclass(frozen=True, slots=True)
class Loss:
    total: torch.Tensor
    """A scalar with a gradient: what the step makes smaller."""
    parts: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Detached scalars for the curves, by name: ``response selection``, ``kl``. The total need not
    be among them."""


class Task(Protocol):
    """One training run's recipe, data and model.

    A run must be resumable to the bit. So ``batches`` depends on nothing but the epoch and the task
    itself, ``collate`` on nothing but its item; what is random in ``loss`` (dropout, samples of a
    latent) comes from torch's own generator, whose state the loop stores. ``validate`` may draw
    too: the loop puts the state back afterwards.
    """

    @property
    def recipe(self) -> str:
        """``density``, ``cmn``."""

    @property
    def model(self) -> nn.Module:
        """In float32 on the CPU; its ``state_dict`` is what a checkpoint's weights are. Parameters
        without ``requires_grad`` are not trained."""

    @property
    def data_signature(self) -> str:
        """SHA-256 over the training and the validation data."""

    @property
    def best_by(self) -> str:
        """The figure of ``validate`` that decides which checkpoint is the best; higher is
        better."""

    def settings(self) -> Mapping[str, Any]:
        """The recipe's own settings as JSON values; with the data they decide the run. A checkpoint
        of other settings is not resumed."""

    def files(self) -> Mapping[str, bytes]:
        """What loading the model needs beside its weights, by file name: the encoder's config, the
        tokenizer. A checkpoint holds them, so it is whole without the encoder it began from."""

    def batches(self, epoch: int) -> Sequence[Any]:
        """The epoch's items, one for each batch and in order; the first epoch is 0. All epochs have
        as many. Cheap: indices, no tensors."""

    def collate(self, item: Any) -> Batch:
        """An item's tensors, on the CPU."""

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        """``model`` is this task's, possibly wrapped for several devices: call it itself, and once,
        not its methods."""

    def validate(self, model: nn.Module) -> Mapping[str, float]:
        """Figures on the validation data: ``{"R@1": …, "MRR": …}``. The model is in its evaluating
        mode, without gradients, on its device, not wrapped."""
