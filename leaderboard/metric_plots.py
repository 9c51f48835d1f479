"""From the correlations that are stored to figures."""

from __future__ import annotations

from typing import Any

from leaderboard.estimate_cells import coverage_badges
from leaderboard.figures import Figure, metric_correlations
from leaderboard.plots import ceiling_of, estimate_of


def level_figures(document: dict[str, Any]) -> list[Figure]:
    """Every metric's r beside the human ceiling, a figure a level."""
    return [_level_figure(document, level) for level in document["human_ceiling"]]


def _level_figure(document: dict[str, Any], level: str) -> Figure:
    return metric_correlations(
        [(_label(row), estimate_of(row["pearson"])) for row in document["rows"] if row["level"] == level],
        figure_id=f"correlations-{level}",
        level=level,
        human_ceiling=ceiling_of(document, level),
        signature=f"{document['corpus']} {document['corpus_version']}, {document['resamples']} draws of dialogues",
    )


def _label(row: dict[str, Any]) -> str:
    marked = "submitted" in row and not row["metric"].endswith("(submitted)")
    return " ".join(
        [
            f"{row['metric']} (submitted)" if marked else row["metric"],
            *(f"({badge})" for badge in coverage_badges([row])),
        ]
    )
