"""Metrics that hold a response against the gold answer say nothing of the gold answer itself."""

from __future__ import annotations

from annotations.models import System
from leaderboard.queries.compared import ComparedMetric
from workers.metrics.configuration import Configuration

SAYS_NOTHING = "the metric would hold the gold answers against themselves"


def compares_gold_with_itself(metric: ComparedMetric, system: System) -> bool:
    """Of metrics that were handed in nobody knows."""
    if system.kind != System.Kind.GOLD or not isinstance(metric, Configuration):
        return False
    return bool(metric.needs & {"reference", "human_corpus"})
