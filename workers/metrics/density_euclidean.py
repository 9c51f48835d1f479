"""DEnsity with the straight distance: −‖h − μ‖, the "Euclidean" of the paper's Table 2."""

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
    from workers.metrics.common.selection_scorers import TurnReadings, euclidean

    return TurnReadings(str(options["trained"]), euclidean)


METRIC = Metric(
    name="density_euclidean",
    version="2",
    summary="Minus the distance of a trained model's feature of context and response from the mean "
    "of people's.",
    citation=DENSITY_CITATION,
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, 0.0),
    options=(trained_option("density"),),
    missing=missing_trained("density_euclidean", "density"),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, r) = -\left\lVert h - \mu \right\rVert, \qquad h = g(c, r)",
    description="""The same feature as density's, compared with the mean of people's answers alone:
all directions count alike, however much or little answers of people differ in them. It is the
paper's ablation (Table 2), there to show what the covariance adds.

A direction in which features spread widely for reasons that no reader cares about weighs most here.
In the paper the contrastive loss helps this score less than Mahalanobis's, and harms it on some
data.""",
)
