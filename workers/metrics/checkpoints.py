"""What the metrics share that stand and fall with a checkpoint which the user names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from common.estimates import Undefined
from workers.metrics.base import Option, OptionValue, Progress, Score
from workers.metrics.with_model import missing_model

NOT_A_NUMBER = Undefined("the model's output is not a finite number")
SYSTEMS_AT_ONCE = 16

ModelInput = TypeVar("ModelInput", bound=Hashable)
Found = TypeVar("Found")


def model_option(what: str) -> Option:
    """Declare the option ``model`` of a metric that has no default checkpoint.

    Args:
        what: the kind of checkpoint, such as "a BLEURT checkpoint"; begins the option's help.
    """
    return Option("model", "", f"{what}: a folder or a hub id; there is no default")


def why_no_checkpoint(metric: str, options: Mapping[str, OptionValue]) -> str:
    """Why the checkpoint that the options name is not available on this machine.

    Args:
        metric: its name, for the advice where no checkpoint is named.
        options: with ``model``.

    Returns:
        The reason; "" where it is available.
    """
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
    """Put each distinct input to a model once.

    Args:
        inputs: what is asked, with repetitions.
        answer: gets the distinct inputs in the order of their first appearance, and its own
            progress callback, which counts them; returns one answer each. Not called where there
            are no inputs.
        progress: hears the number of examples, not of inputs; None to report nothing.
        examples: how many examples the inputs belong to, for ``progress``.

    Returns:
        One answer per input, in order.

    Raises:
        ValueError: ``answer`` returns another number of answers than it got inputs.
    """
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
    """Model output as a score.

    Returns:
        The value; ``Undefined`` where it is NaN or infinite.
    """
    return value if math.isfinite(value) else NOT_A_NUMBER
