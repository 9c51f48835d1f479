"""What the pages of metrics ask of the stored analyses, in one place: equal questions must be equal to the letter."""

from __future__ import annotations

from typing import Any

from leaderboard.analyses import all_kinds
from leaderboard.queries.system_choice import ALL


def correlations_asked(aspect: str, systems: str = ALL) -> dict[str, Any]:
    return {"aspect": aspect} if systems == ALL else {"aspect": aspect, "systems": systems}


def comparisons_asked(aspect: str, level: str, systems: str = ALL) -> dict[str, Any] | None:
    """None where this site does not compare metrics."""
    if "comparisons" not in all_kinds():
        return None
    return {"aspect": aspect, "level": level} | ({} if systems == ALL else {"systems": systems})
