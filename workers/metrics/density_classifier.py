"""The response-selection model's own number f(c, r), the "Classifier" of DEnsity's Table 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.options import (
    DENSITY_CITATION,
    SYSTEMS_AT_ONCE,
    missing_trained,
    trained_option,
)

if TYPE_CHECKING:
    from workers.metrics.common.selection_scorers import TurnReadings


def _build(options: Mapping[str, OptionValue]) -> TurnReadings:
    from workers.metrics.common.selection_scorers import TurnReadings, classifier

    return TurnReadings(str(options["trained"]), classifier)


METRIC = Metric(
    name="density_classifier",
    version="2",
    summary="How well a response follows its context by a trained response-selection model; no "
    "bounds.",
    citation=DENSITY_CITATION,
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, None),
    options=(trained_option("density"),),
    missing=missing_trained("density_classifier", "density"),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, r) = f(c, r) = W \, g(c, r)",
    description="""What the model under density was trained for: telling a context's own answer from
other dialogues' answers. The score is its number before the softmax, which the training compares
among the answers of one context only: nothing ties the numbers of two contexts together but the
model itself.

What is wrong in a way that no negative was wrong gets a high number all the same: a repetition, the
last utterance said back. That is the paper's case for density. usr_retrieval is the same number
between 0 and 1.""",
)
