"""What the metric leaderboard stores: how far metrics agree with people, of chosen systems, and what they cost."""

from __future__ import annotations

from typing import Any

from annotations.models import CorpusVersion
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.cost import costs
from leaderboard.queries.system_choice import ALL, chosen_systems


def metric_leaderboard(version: CorpusVersion, aspect: str, systems: str = ALL) -> dict[str, Any]:
    """``meta_evaluation`` with ``"cost": {metric: …}`` (see ``costs``) and ``"systems_chosen"``: all, agents, …"""
    chosen = chosen_systems(version, systems)
    document = meta_evaluation(version, aspect, systems=chosen)
    document["systems_chosen"] = systems
    document["cost"] = costs(version, chosen, (row["metric"] for row in document["rows"]))
    return document
