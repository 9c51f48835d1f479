"""USR's retrieval score: how likely the response follows, by a response-selection model (Mehri and
Eskenazi 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.options import SYSTEMS_AT_ONCE, missing_trained, trained_option

if TYPE_CHECKING:
    from workers.metrics.common.selection_scorers import TurnReadings


def _build(options: Mapping[str, OptionValue]) -> TurnReadings:
    from workers.metrics.common.selection_scorers import TurnReadings, probability

    return TurnReadings(str(options["trained"]), probability)


METRIC = Metric(
    name="usr_retrieval",
    version="2",
    summary="Probability that the response follows its context, by a trained response-selection "
    "model.",
    citation=(
        "Mehri and Eskenazi (2020), USR: An Unsupervised and Reference Free Evaluation Metric for "
        "Dialog Generation, ACL"
    ),
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(0.0, 1.0),
    options=(trained_option("density"),),
    missing=missing_trained("usr_retrieval", "density"),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{DR}(c, r) = \sigma\left(f(c, r)\right)",
    description="""A model that was trained to tell a context's own answer from others says how
likely the response is the one. Like everything trained on random negatives it looks for a common
topic: a dull answer to the topic and a copied sentence pass.

The paper fine-tunes RoBERTa on the Ubuntu corpus by binary cross-entropy and has a second score
that reads a fact in the context's place; the released checkpoint reads both. Here it is the
selection model of density's training, whose softmax over the answers of one context fixes f only up
to what they all share: the order within a context is trained, the level between contexts is not.
The fact is not read.""",
)
