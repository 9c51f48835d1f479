"""What the declarations of the distribution metrics share."""

from __future__ import annotations

from workers.metrics.base import Option

CITATION = (
    "Xiang et al. (2021), Assessing Dialogue Systems with Distribution Distances, Findings of ACL"
)
LAYER = Option(
    "layer", -1, "the layer whose states are the points: 1 is the first, -1 the last", least=-1
)
