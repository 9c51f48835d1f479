"""What the metric leaderboard stores: how far metrics agree with people, of chosen systems, and
what they cost."""

from __future__ import annotations

from typing import Any

from annotations.models import CorpusVersion
from leaderboard.analyses.kinds import registered
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.cost import costs
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice


@registered("correlations", version=5, resolved=with_choice)
def metric_leaderboard(
    version: CorpusVersion, aspect: str, systems: str | None = None
) -> dict[str, Any]:
    """``meta_evaluation`` with ``"cost": {metric: …}`` (see ``costs``) and ``"systems_chosen"``:
    without-gold, …"""
    key = resolve_choice(version, systems)
    chosen = chosen_systems(version, key)
    document = meta_evaluation(version, aspect, systems=chosen, systems_chosen=key)
    document["cost"] = costs(version, chosen, (row["metric"] for row in document["rows"]))
    return document
