"""What some metrics store beside a score, as tables and figures: FBD's normality, PRD's curves and their spread.

Only what is known here is shown; other details stay in the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotations.tables import Table
from leaderboard.figures import Figure
from workers.metrics.configuration import Configuration

OfSystem = tuple[str, int, dict[str, Any]]
"""(system, its number, the details of its run)"""


def detail_tables(configuration: Configuration, details: Sequence[OfSystem]) -> list[Table]:  # noqa: ARG001
    return []


def detail_figures(configuration: Configuration, details: Sequence[OfSystem]) -> list[Figure]:  # noqa: ARG001
    return []
