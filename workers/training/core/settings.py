"""How a training runs, whatever its recipe; what it says while it runs and at its end; and what the
training loop asks of a recipe. No torch here.

A recipe knows its data, its model and its loss; the loop knows none of them. The loop
(``workers.training.core.loop``) does the rest: optimiser and schedule, precision and devices,
curves, checkpoints, resuming, early stop and the best checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from workers.inference import resources

Precision = Literal["auto", "no", "bf16", "fp16"]
Ending = Literal["", "epochs", "early stop", "budget"]
"""Why a training is at its end; "" while it is not."""
_NOT_DECIDING = ("device", "save_every", "keep")
"""What may differ when a training goes on: it changes where it runs and what is on the disk, not
what is learned."""


class TrainingError(RuntimeError):
    """A training cannot begin, go on or be resumed; the message is for people."""


class Abandoned(Exception):
    """Raised by a ``Watch`` whose training somebody else has taken over: the folder is theirs
    now."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The defaults are DEnsity's (§4.3): AdamW, 5e-5, 1,000 steps of warm-up, linear decay to 0, 10
    epochs."""

    epochs: int = 10
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    """PyTorch's default for AdamW; the papers name none."""
    warm_up_steps: int = 1_000
    warm_up_share: float = 0.1
    """Of all steps, the most that warm-up takes: 1,000 steps are 2 % of the paper's, but more than
    some runs have."""
    largest_gradient: float = 1.0
    """Gradients are scaled down to this norm; 0: never."""
    accumulate: int = 1
    """Batches, on each device, whose mean gradient makes one step."""
    seed: int = 0
    precision: Precision = "auto"
    """``auto``: bfloat16 where the accelerator has it, else float32."""
    patience: int = 0
    """Validations in a row without a better figure, after which training stops; 0: it does not."""
    validate_every: int = 0
    """Steps between validations, beside those at the end of each epoch; 0: only those."""
    seconds: float = 0.0
    """The time that training, validation and saving may take; 0: any. The learning rate decays over
    the steps that fit: their number is set from the pace of the first ones, and kept when the
    training is resumed."""
    curve_every: int = 10
    """Steps that one point of the curves is the mean of."""
    save_every: int = 0
    """Steps between checkpoints, beside those at the end of each epoch; 0: only those."""
    keep: int = 1
    """Checkpoints to resume from that stay on the disk, the newest; the best one's weights stay
    beside them."""
    device: str = resources.AUTO

    def __post_init__(self) -> None:
        for name in ("epochs", "accumulate", "curve_every", "keep"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in (
            "weight_decay",
            "warm_up_steps",
            "largest_gradient",
            "patience",
            "validate_every",
            "seconds",
        ):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TrainingError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 < self.learning_rate < float("inf"):
            raise TrainingError(f"learning_rate must be more than 0, not {self.learning_rate}")
        if not 0 <= self.warm_up_share <= 1:
            raise TrainingError(f"warm_up_share must be between 0 and 1, not {self.warm_up_share}")
        if self.save_every < 0:
            raise TrainingError(f"save_every must be 0 or more, not {self.save_every}")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def deciding(self) -> dict[str, Any]:
        """What decides the weights that come out."""
        return {name: value for name, value in asdict(self).items() if name not in _NOT_DECIDING}


@dataclass(frozen=True, slots=True)
class Progress:
    """Said after every step and every validation, by the first process only."""

    step: int
    """Done so far."""
    steps: int
    """Planned in all."""
    epoch: int
    """The one under way, from 0."""
    epochs: int
    loss: float | None
    """Mean over the last point of the curve; None before the first one."""
    learning_rate: float
    seconds: float
    """Spent so far, those before a resumption too."""
    seconds_left: float | None
    """At the pace so far; None before the first step."""
    figures: Mapping[str, float] | None = None
    """Of the validation that was just made."""
    curves: Sequence[Mapping[str, float]] = ()
    """All points so far, each with its step, its learning rate, the loss and its parts."""
    validations: Sequence[Mapping[str, Any]] = ()
    """All so far: "step" and "figures"."""
    device: str = ""


Watch = Callable[[Progress], None]
"""What it raises ends the training after a checkpoint was written, and goes on to whoever called
``train``. Of an ``Abandoned`` nothing is written."""


@dataclass(frozen=True, slots=True)
class Outcome:
    best: Path
    """The checkpoint, weights only, of the best validation."""
    figures: Mapping[str, float]
    """Of that validation."""
    step: int
    """Steps done in all."""
    seconds: float
    ending: Ending


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
