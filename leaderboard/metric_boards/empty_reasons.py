"""What keeps metrics from being held against people on a corpus."""

from __future__ import annotations

from annotations.corpora.queries import shown_systems
from annotations.models import CorpusVersion
from leaderboard import queries
from workers.metrics.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.queries import why_not_offered


def empty_reasons(version: CorpusVersion, aspect: str) -> list[str]:
    """A sentence each; empty where metrics only have to be computed."""
    found = []
    if not shown_systems(version).exists():
        found.append("The corpus holds no system's responses.")
    if not queries.rated_levels(version, aspect):
        found.append("Nobody has rated it.")
    reasons = [
        why_not_offered(Configuration.of(metric), version) for metric in all_metrics().values()
    ]
    if all(reasons):
        found.append(f"No metric can be computed: {'; '.join(dict.fromkeys(reasons))}.")
    return found
