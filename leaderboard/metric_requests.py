"""What the pages of metrics ask of the stored analyses. The analyses resolve the choice of systems
themselves."""

from __future__ import annotations

from typing import Any

from leaderboard.results import all_kinds


def correlation_params(aspect: str, systems: str | None = None) -> dict[str, Any]:
    return {"aspect": aspect} | ({"systems": systems} if systems else {})


def comparison_params(aspect: str, level: str, systems: str | None = None) -> dict[str, Any] | None:
    """None where this site does not compare metrics."""
    if "comparisons" not in all_kinds():
        return None
    return {"aspect": aspect, "level": level} | ({"systems": systems} if systems else {})
