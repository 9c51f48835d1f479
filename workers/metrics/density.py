"""DEnsity: how near a response lies to people's answers in the features of a trained model (Park et
al., 2023).

h = g(c, r) is the first token's state of a response-selection cross-encoder; μ and Σ are the mean
and the covariance of h over the training pairs. The score is −√((h − μ) Σ⁻¹ (h − μ)ᵀ). Equation 3
prints it without the root; the paper's experiments and its released code take the root, as here.
The released code keeps Σ⁻¹ in float32, here it is float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import (
    DENSITY_CITATION,
    SYSTEMS_AT_ONCE,
    missing_trained,
    trained_option,
)

if TYPE_CHECKING:
    from workers.metrics.common.selection_scorers import DialogueReadings, TurnReadings

AGGREGATE = Option(
    "aggregate",
    "mean",
    "a dialogue's score of its turns' distances: mean, as in the paper; root_mean_square, as in "
    "the released code",
    ("mean", "root_mean_square"),
)


def _build(options: Mapping[str, OptionValue]) -> TurnReadings:
    from workers.metrics.common.selection_scorers import TurnReadings, mahalanobis

    return TurnReadings(str(options["trained"]), mahalanobis)


def _build_dialogue(options: Mapping[str, OptionValue]) -> DialogueReadings:
    from workers.metrics.common.selection_scorers import DialogueReadings

    is_mean = options["aggregate"] == "mean"
    return DialogueReadings(str(options["trained"]), "mean" if is_mean else "root_mean_square")


DENSITY = Metric(
    name="density",
    version="2",
    summary="Minus the Mahalanobis distance of context and response from people's, in a trained "
    "model's features.",
    citation=DENSITY_CITATION,
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, 0.0),
    options=(trained_option("density"),),
    missing=missing_trained("density", "density"),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, r) = -\sqrt{(h - \mu) \, \Sigma^{-1} (h - \mu)^{\top}}, \qquad h = "
    r"g(c, r)",
    description="""A cross-encoder is trained to find a context's own answer among others. Then its
features of all training pairs, people's answers all of them, make a Gaussian, and a response scores
by how near it lies to that. So it is not asked whether it looks more like an answer than a random
one, but whether people answer like that at all.

Equation 3 of the paper prints the squared distance; its experiments and the released code take the
root, as here: ranks are the same. Trained with and without the contrastive loss (`--contrastive 0`)
are two models, so two configurations. With the loss, features of answers draw together, which the
paper finds this score to gain most from.

What is unlike the training data scores low, good or not: another kind of conversation, another
register. A distance in several hundred dimensions needs thousands of pairs; the model's page says
how many there were, and how many directions they span.

Equal to the distance computed plainly from the loaded model's features.""",
)
DENSITY_DIALOGUE = Metric(
    name="density_dialogue",
    version="2",
    summary="DEnsity of a whole dialogue: of its responses' distances the mean, or the root mean "
    "square.",
    citation=DENSITY_CITATION,
    build=_build_dialogue,
    levels=frozenset({"dialogue", "system"}),
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, 0.0),
    options=(trained_option("density"), AGGREGATE),
    missing=missing_trained("density_dialogue", "density"),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{mean} = -\frac{1}{T} \sum_{t} \sqrt{d_t^2}"
    "\n\n"
    r"\text{root mean square} = -\sqrt{\frac{1}{T} \sum_{t} d_t^2}",
    description="""Of a dialogue's responses the squared Mahalanobis distances, put together in one
of two ways. The paper says that a dialogue's score is the mean of its turns' scores, which density
at the level of dialogues is, too; the released code takes the root of the mean square
(`aggregate=root_mean_square`), which one bad turn moves further.

The paper's dialogues are scored over all turns from the second on, by either speaker; here over the
system's responses. A response without a score is left out of its dialogue's, and remarked.""",
)
METRICS = (DENSITY, DENSITY_DIALOGUE)
