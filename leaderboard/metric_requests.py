"""What the pages of metrics ask of the stored analyses. The analyses resolve the choice of systems
themselves."""

from __future__ import annotations

from typing import Any

from annotations.corpora.slices import NO_SLICE
from leaderboard.results import all_kinds


def correlation_params(
    aspect: str, systems: str | None = None, data_slice: str = NO_SLICE
) -> dict[str, Any]:
    return {"aspect": aspect} | ({"systems": systems} if systems else {}) | slice_params(data_slice)


def comparison_params(
    aspect: str, level: str, systems: str | None = None, data_slice: str = NO_SLICE
) -> dict[str, Any] | None:
    """None where this site does not compare metrics."""
    if "comparisons" not in all_kinds():
        return None
    return {**correlation_params(aspect, systems, data_slice), "level": level}


def slice_params(data_slice: str) -> dict[str, Any]:
    """Answers of all conversations do not name a slice."""
    return {"data_slice": data_slice} if data_slice else {}
