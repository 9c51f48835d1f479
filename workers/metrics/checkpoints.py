"""What the metrics share that stand and fall with a checkpoint which the user names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from annotations.estimates import Undefined
from workers.metrics.base import Option, OptionValue, Progress, Score
from workers.metrics.with_model import missing_model

NOT_A_NUMBER = Undefined("the model's output is not a finite number")
SYSTEMS_AT_ONCE = 16

ModelInput = TypeVar("ModelInput", bound=Hashable)
Found = TypeVar("Found")


def model_option(what: str) -> Option:
    return Option("model", "", f"{what}: a folder or a hub id; there is no default")


def why_no_checkpoint(metric: str, options: Mapping[str, OptionValue]) -> str:
    """Why the checkpoint that the options name cannot be had here, or ""."""
    return (
        missing_model(options)
        if options["model"]
        else f"name a checkpoint: {metric}[model=FOLDER], or a hub id"
    )


def each_once(
    inputs: Sequence[ModelInput],
    answer: Callable[[list[ModelInput], Progress | None], list[Found]],
    progress: Progress | None,
    examples: int,
) -> list[Found]:
    """The answers in order of what is asked; equal questions are put once. ``progress`` hears of
    ``examples``."""
    distinct = list(dict.fromkeys(inputs))

    def of_examples(done: int) -> None:
        if progress is not None:
            progress(examples * done // len(distinct))

    answers = (
        dict(zip(distinct, answer(distinct, of_examples if progress else None), strict=True))
        if distinct
        else {}
    )
    if progress is not None:
        progress(examples)
    return [answers[one] for one in inputs]


def number(value: float) -> Score:
    """A model's output as a score: ``Undefined`` where it is not a finite number."""
    return value if math.isfinite(value) else NOT_A_NUMBER
