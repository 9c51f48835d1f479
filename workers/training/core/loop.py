"""Trains a recipe's model: AdamW, warm-up and linear decay (up to the learning rate's height in a
straight line, then down to 0 in another), on whatever devices ``accelerate`` finds.

A training can be ended at any time, by ``kill -9`` too, and goes on at its last checkpoint as if
nothing had happened: on a CPU, with as many threads, its weights and curves come out the same to
the bit. On several devices it goes on as well, but with other dropout.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import broadcast_object_list, send_to_device

from workers.inference.encoders.devices import device_for, device_name, use_threads
from workers.training.core import checkpoint, processes
from workers.training.core.checkpoint import BEST, STEP, Checkpoint, Resumed
from workers.training.core.saved_state import (
    generator_states,
    load_state,
    saved_state,
    set_generators,
)
from workers.training.core.settings import (
    Abandoned,
    Ending,
    Outcome,
    Progress,
    Task,
    TrainingError,
    TrainingSettings,
    Watch,
)

FORMAT = 1
"""Of what ``config.json`` says; a checkpoint of another one is not resumed."""


def train(
    task: Task, settings: TrainingSettings, folder: Path, watch: Watch | None = None
) -> Outcome:
    """Trains in ``folder``, from its newest whole checkpoint where it has one.

    Raises ``TrainingError`` where that is one of other data or settings, and where the loss is no
    number; what ``watch`` raises comes out after a checkpoint was written. Afterwards the task's
    model has the last step's weights; the best ones are in the checkpoint that the outcome names.
    """
    return _Training(task, settings, folder, watch).run()


class _Training:
    def __init__(
        self, task: Task, settings: TrainingSettings, folder: Path, watch: Watch | None
    ) -> None:
        self._task, self._settings, self._folder, self._watch = task, settings, folder, watch
        self._identity = identity(task, settings)
        earlier = checkpoint.to_go_on_from(folder)
        if earlier is not None:
            _check_is_same(earlier.checkpoint, self._identity)
        self._accelerator = _accelerator(settings)
        self._several = self._accelerator.num_processes > 1
        torch.manual_seed(settings.seed + self._accelerator.process_index)
        trained = [weights for weights in task.model.parameters() if weights.requires_grad]
        optimiser = torch.optim.AdamW(
            trained,
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=self._accelerator.device.type in ("cpu", "cuda"),
        )
        if earlier is not None:
            task.model.load_state_dict(earlier.weights)
        self._model, self._optimiser = self._accelerator.prepare(task.model, optimiser)
        self._together: int = settings.accumulate * self._accelerator.num_processes
        self._an_epoch = self._steps_in(len(task.batches(0)))
        if not self._an_epoch:
            raise TrainingError("there is nothing to train on")
        self.step = 0
        self._steps = settings.epochs * self._an_epoch
        self._before = 0.0
        self._curves: list[dict[str, Any]] = []
        self._validations: list[dict[str, Any]] = []
        self._sums: dict[str, float] = {}
        self._summed = 0
        self._best: dict[str, Any] = {}
        self._since_best = 0
        self._ending: Ending = ""
        self._is_planned = False
        self._validation_seconds = 0.0
        if earlier is not None:
            self._go_on_from(earlier)
        self._saved_at = self.step if earlier is not None else None
        self._done_before, self._begun = self.step, time.monotonic()
        self._pace, self._pending = Pace(), list[dict[str, torch.Tensor]]()

    # ---------------------------------------------------------------- the way through the epochs

    def run(self) -> Outcome:
        if not self._validations:
            self._say(self._validate(counts=False))
        while not self._ending:
            epoch, done = divmod(self.step, self._an_epoch)
            self._train_epoch(epoch, done)
        processes.helpers_wait_again()
        best = self._folder / checkpoint.name_of(self._best["step"], BEST)
        return Outcome(best, self._best["figures"], self.step, self._seconds(), self._ending)

    def _train_epoch(self, epoch: int, done: int) -> None:
        items = self._task.batches(epoch)
        if self._steps_in(len(items)) != self._an_epoch:
            raise TrainingError(
                f"epoch {epoch} has {len(items)} batches, another number than the first one"
            )
        for index in range(done, self._an_epoch):
            together = items[index * self._together : (index + 1) * self._together]
            self._one_step(
                together[self._accelerator.process_index :: self._accelerator.num_processes]
            )
            self._after_step()
            if self._ending:
                return

    def _one_step(self, items: Any) -> None:
        self._model.train()
        rate = self._settings.learning_rate * share_of_rate(self.step, self._steps, self._warm_up())
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        for index, item in enumerate(items):
            batch = send_to_device(self._task.collate(item), self._accelerator.device)
            if self._several and index < len(items) - 1:
                with self._accelerator.no_sync(self._model):
                    self._backward(batch, len(items))
            else:
                self._backward(batch, len(items))
        if self._settings.largest_gradient:
            self._accelerator.clip_grad_norm_(
                self._model.parameters(), self._settings.largest_gradient
            )
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        self.step += 1

    def _backward(self, batch: Any, together: int) -> None:
        loss = self._task.loss(self._model, batch)
        self._accelerator.backward(loss.total / together)
        self._pending.append(
            {
                "loss": loss.total.detach(),
                **{name: part.detach() for name, part in loss.parts.items()},
            }
        )

    def _after_step(self) -> None:
        settings, figures = self._settings, None
        if self.step % settings.curve_every == 0 or self.step == self._steps:
            self._add_point()
        self._plan()
        at_epoch_end = self.step % self._an_epoch == 0
        is_last = self.step >= self._steps or self._out_of_time()
        if (
            at_epoch_end
            or is_last
            or (settings.validate_every and self.step % settings.validate_every == 0)
        ):
            figures = self._validate()
        if is_last and not self._ending:
            self._ending = "epochs" if self.step == settings.epochs * self._an_epoch else "budget"
        if (
            self._ending
            or at_epoch_end
            or (settings.save_every and self.step % settings.save_every == 0)
        ):
            self._save()
        self._say(figures)

    # ---------------------------------------------------------------- time

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun

    def _warm_up(self) -> int:
        return warm_up_of(self._steps, self._settings.warm_up_steps, self._settings.warm_up_share)

    def _plan(self) -> None:
        """Sets the number of steps once, where seconds are given: a resumed training has its own
        already."""
        each = self._pace.seconds_a_step(self.step - self._done_before, time.monotonic())
        if self._settings.seconds and each is not None and not self._is_planned:
            self._is_planned = True
            left = self._settings.seconds - self._seconds()
            between = self._settings.validate_every or self._an_epoch
            self._steps = self._agreed(
                steps_that_fit(
                    self.step, self._steps, left, each, self._validation_seconds, between
                )
            )

    def _out_of_time(self) -> bool:
        if not self._settings.seconds:
            return False
        return bool(
            self._agreed(self._seconds() + self._validation_seconds >= self._settings.seconds)
        )

    def _agreed(self, value: Any) -> Any:
        """The first process's, in all."""
        agreed: list[Any] = broadcast_object_list([value]) if self._several else [value]
        return agreed[0]

    # ---------------------------------------------------------------- figures

    def _add_point(self) -> None:
        """Only here are losses fetched from the device: it need not wait at every step."""
        for values in self._pending:
            for name, value in values.items():
                self._sums[name] = self._sums.get(name, 0.0) + float(value)
            self._summed += 1
        self._pending.clear()
        if not all(map(math.isfinite, self._sums.values())):
            raise TrainingError(
                f"the loss is no number around step {self.step}: a lower learning rate may help"
            )
        if self._summed and (
            self.step % self._settings.curve_every == 0 or self.step == self._steps
        ):
            means = {name: total / self._summed for name, total in self._sums.items()}
            rate = float(self._optimiser.param_groups[0]["lr"])
            self._curves.append({"step": self.step, "learning rate": rate, **means})
            self._sums, self._summed = {}, 0

    def _validate(self, counts: bool = True) -> dict[str, float]:
        """``counts``: not the one before the first step, which only says what training begins
        with."""
        begun, states = time.monotonic(), generator_states()
        figures: dict[str, float] = {}
        if self._accelerator.is_main_process:
            model = self._accelerator.unwrap_model(self._model)
            model.eval()
            with torch.inference_mode():
                figures = {name: float(value) for name, value in self._task.validate(model).items()}
        figures = self._agreed(figures)
        set_generators(states)
        self._validation_seconds = time.monotonic() - begun
        figure = figures[self._task.best_by]
        if not all(map(math.isfinite, figures.values())):
            raise TrainingError(f"a figure of the validation at step {self.step} is no number")
        self._validations.append({"step": self.step, "figures": figures})
        if counts:
            if not self._best or figure > self._best["figures"][self._task.best_by]:
                self._best, self._since_best = {"step": self.step, "figures": figures}, 0
                self._write(BEST)
            else:
                self._since_best += 1
            if self._settings.patience and self._since_best >= self._settings.patience:
                self._ending = "early stop"
        return figures

    def _say(self, figures: Mapping[str, float] | None) -> None:
        """What the watch raises ends the training in all processes."""
        raised: BaseException | None = None
        if self._watch is not None and self._accelerator.is_main_process:
            try:
                self._watch(self._progress(figures))
            except BaseException as ending:
                raised = ending
        agreed = self._agreed(
            "" if raised is None else "abandoned" if isinstance(raised, Abandoned) else "ended"
        )
        if not agreed:
            return
        if agreed == "ended":
            self._save()
        processes.helpers_wait_again()
        raise raised or Abandoned

    def _progress(self, figures: Mapping[str, float] | None) -> Progress:
        made, seconds = self.step - self._done_before, self._seconds()
        left = (self._steps - self.step) * (seconds - self._before) / made if made else None
        rate = float(self._optimiser.param_groups[0]["lr"])
        loss = self._curves[-1]["loss"] if self._curves else None
        epoch = min(self.step // self._an_epoch, self._settings.epochs - 1)
        return Progress(
            self.step, self._steps, epoch, self._settings.epochs, loss, rate, seconds, left,
            figures, self._curves, self._validations, device_name(self._accelerator.device),
        )  # fmt: skip

    # ---------------------------------------------------------------- checkpoints

    def _save(self) -> None:
        if self._saved_at != self.step:
            self._write(STEP)
            self._saved_at = self.step

    def _write(self, prefix: str) -> None:
        self._add_point()
        if self._accelerator.is_main_process:
            model = self._accelerator.unwrap_model(self._model)
            state = (
                saved_state(self._optimiser.optimizer, self._accelerator.scaler)
                if prefix == STEP
                else None
            )
            index = self._folder / checkpoint.name_of(self.step, prefix)
            checkpoint.write(index, model.state_dict(), self._config(), self._task.files(), state)
            if prefix == STEP:
                checkpoint.tidy(self._folder, self._settings.keep, self._best.get("step"))
        self._accelerator.wait_for_everyone()

    def _config(self) -> dict[str, Any]:
        return {
            **self._identity,
            "run": {
                "device": device_name(self._accelerator.device),
                "precision": self._accelerator.mixed_precision,
                "processes": self._accelerator.num_processes,
                "settings": self._settings.as_json(),
                "torch": torch.__version__,
            },
            "step": self.step,
            "steps": self._steps,
            "steps an epoch": self._an_epoch,
            "warm-up": self._warm_up(),
            "seconds": round(self._seconds(), 3),
            "curves": self._curves,
            "validations": self._validations,
            "best": self._best,
            "best by": self._task.best_by,
            "ending": self._ending,
            "under way": {
                "sums": self._sums,
                "summed": self._summed,
                "since best": self._since_best,
                "is planned": self._is_planned,
                "seconds of a validation": self._validation_seconds,
            },
        }

    def _go_on_from(self, earlier: Resumed) -> None:
        config = earlier.checkpoint.config
        if config["steps an epoch"] != self._an_epoch:
            raise TrainingError(
                "the checkpoint was made with another number of batches a step or of devices"
            )
        self.step, self._steps, self._before = config["step"], config["steps"], config["seconds"]
        self._curves, self._validations = config["curves"], config["validations"]
        self._best, self._ending = config["best"], config["ending"]
        under_way = config["under way"]
        self._sums, self._summed = under_way["sums"], under_way["summed"]
        self._since_best, self._is_planned = under_way["since best"], under_way["is planned"]
        self._validation_seconds = under_way["seconds of a validation"]
        load_state(earlier.state, self._optimiser.optimizer, self._accelerator.scaler)
        if self._several:
            torch.manual_seed(
                (self._settings.seed + self.step) * 1_000 + self._accelerator.process_index
            )

    def _steps_in(self, batches: int) -> int:
        """On several devices all must have as many batches in a step: what is left over at the end
        is dropped."""
        return batches // self._together if self._several else -(-batches // self._together)


def identity(task: Task, settings: TrainingSettings) -> dict[str, Any]:
    """What decides the weights that a training ends with; a checkpoint says it, and is resumed by
    nothing else."""
    return {
        "format": FORMAT,
        "recipe": task.recipe,
        "settings": dict(task.settings()),
        "training": settings.deciding(),
        "data": task.data_signature,
    }


def _check_is_same(earlier: Checkpoint, wanted: Mapping[str, Any]) -> None:
    for name, value in wanted.items():
        found = earlier.config.get(name)
        if found == value:
            continue
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            differing = sorted(key for key in {*value, *found} if value.get(key) != found.get(key))
            name = f"{name} ({', '.join(differing)})"
        raise TrainingError(
            f"the folder has a training with other {name}: choose another folder, or the same "
            "settings to go on"
        )


def _accelerator(settings: TrainingSettings) -> Accelerator:
    """accelerate keeps one state for the whole process, which the training before this one may have
    set."""
    AcceleratorState._reset_state(reset_partial_state=not processes.are_several())
    device = device_for(settings.device)
    use_threads()
    processes.join(settings.device)
    if device.type == "cuda" and device.index is not None and not processes.are_several():
        torch.cuda.set_device(device)
    precision = settings.precision
    if precision == "auto":
        precision = "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "no"
    return Accelerator(mixed_precision=precision, cpu=device.type == "cpu")


_MEASURED_RATE = (3, 13)
"""The steps whose time is the pace: the first ones also load code and fill caches."""


def share_of_rate(step: int, steps: int, warm_up: int) -> float:
    """What share of the highest learning rate step ``step`` (the first is 0) of ``steps`` has, in
    [0, 1].

    step / warm_up while it is less than ``warm_up``, then (steps - step) / (steps - warm_up): the
    linear schedule of transformers (``get_linear_schedule_with_warmup``), which DEnsity's §4.3
    names.
    """
    if step < warm_up:
        return step / warm_up
    return max(0.0, (steps - step) / max(1, steps - warm_up))


def warm_up_of(steps: int, wanted: int, largest_share: float) -> int:
    """Steps of warm-up in a training of ``steps``."""
    return min(wanted, int(steps * largest_share))


class Pace:
    """How many steps fit into a budget of seconds, from the time that the first ones took."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def seconds_a_step(self, step: int, now: float) -> float | None:
        """Called after every step, ``step`` of them done since this process began; a number once,
        when it is known."""
        first, last = _MEASURED_RATE
        if step == first:
            self._begun = now
        if step == last and self._begun is not None:
            return (now - self._begun) / (last - first)
        return None


def steps_that_fit(
    done: int,
    planned: int,
    seconds_left: float,
    seconds_a_step: float,
    validation: float,
    between: int,
) -> int:
    """Of the ``planned`` steps, how many can be made, ``done`` among them.

    ``validation``: seconds that one takes; ``between``: steps from one to the next. One more comes
    at the end.
    """
    each = seconds_a_step + validation / max(1, between)
    return max(done + 1, min(planned, done + int((seconds_left - validation) / max(each, 1e-9))))
