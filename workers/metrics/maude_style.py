"""MAUDE's question, is this an answer or noise, put to the selection model (after Sinha et al.,
2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.inference.model_files import ModelError
from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.options import SYSTEMS_AT_ONCE, trained_option
from workers.training.core.checkpoint import TrainedModel
from workers.training.core.trained_models import model_named, models_here

if TYPE_CHECKING:
    from workers.metrics.common.selection_scorers import TurnReadings

RECIPE = "density"
TRAIN = (
    "manage.py train density --objective binary --perturbed 6 --contrastive 0 --corpus … --name "
    "NAME"
)


def _build(options: Mapping[str, OptionValue]) -> TurnReadings:
    from workers.metrics.common.selection_scorers import TurnReadings, probability

    return TurnReadings(str(options["trained"]), probability)


def _missing(options: Mapping[str, OptionValue]) -> str:
    name = str(options["trained"])
    try:
        if name and _tells_noise(model_named(name, RECIPE)):
            return ""
        reason = (
            f"the trained model {name} learned to choose among answers, not to tell one from noise"
            if name
            else ""
        )
    except ModelError as error:
        reason = str(error)
    there = [model.name for model in models_here(RECIPE) if _tells_noise(model)]
    if there:
        return (
            f"{reason or 'name a trained model'}: maude_style[trained=NAME]; there are "
            f"{', '.join(there)}"
        )
    return f"{reason or 'train a model first'}: {TRAIN}, then maude_style[trained=NAME]"


def _tells_noise(model: TrainedModel) -> bool:
    return bool(model.config["settings"].get("objective") == "binary")


METRIC = Metric(
    name="maude_style",
    version="2",
    summary="Probability that the response is an answer and not noise, by a model trained on both, "
    "MAUDE's way.",
    citation="Sinha et al. (2020), Learning an Unreferenced Metric for Online Dialogue Evaluation, "
    "ACL",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(0.0, 1.0),
    options=(trained_option("density"),),
    missing=_missing,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, r) = \sigma\left(f(c, r)\right)"
    "\n\n"
    r"L = -\log \sigma\left(f(c, r)\right) - \frac{1}{N} \sum_{i} "
    r"\log \sigma\left(-f(c, \bar{r}_i)\right)",
    description="""The selection model of density's training, trained with `--objective binary` and
`--perturbed`: each candidate is told from noise by itself, and noise is of two kinds, as in the
paper: answers of other dialogues, which miss the topic, and the true answer with its words in
another order, left out or said twice, which miss the grammar. The loss fixes the level of f, which
a softmax over one context's candidates leaves open.

It is MAUDE's loss and noise on another model, so not MAUDE. The paper keeps BERT as it is, maps its
vectors down and reads the context's turns by a recurrent network; here the encoder reads context
and response together and is trained as a whole. Not taken over: back-translations as further
answers, and noise written by a language model. How much of the noise is ungrammatical is chosen by
who trains; a metric that learned to see shuffled words need not see a dull answer.

The paper does not say how often a word is left out or repeated: here one in four. A model that was
trained to select (the default) is refused. The same model makes density and its kin, too, which
then know ungrammatical answers.""",
)
