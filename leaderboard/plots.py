"""From stored answers and scores to figures."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from annotations.estimates import Estimate
from annotations.models import CorpusVersion, Response
from annotations.queries import select_systems
from leaderboard import queries
from leaderboard.estimate_cells import coverage_badges, coverage_words
from leaderboard.figures import Figure, Point, SystemMean, metric_correlations, metric_vs_human_scatter, system_means


def estimate_of(document: dict[str, Any]) -> Estimate:
    """An estimate back from its JSON form."""
    if document["value"] is None:
        return Estimate.undefined(document["reason"])
    ci = document.get("ci")
    return Estimate(document["value"], (ci[0], ci[1]) if ci else None, document.get("p"), document.get("ci_reason", ""))


def ceiling_of(document: dict[str, Any], level: str, name: str = "pearson") -> Estimate:
    value = document["human_ceiling"][level][name]
    return Estimate.undefined(value["reason"]) if isinstance(value, dict) else Estimate(value)


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


def system_means_figure(document: dict[str, Any], scale: list[float | None] | None, kinds: Collection[str]) -> Figure:
    shown = [system for system in document["systems"] if not kinds or system["kind"] in kinds]
    whole_scale = scale is not None and None not in scale
    return system_means(
        [
            SystemMean(system["system"], system["position"], estimate_of(system["human"]), _badges(system))
            for system in shown
        ],
        figure_id="human-means",
        aspect=document["aspect"],
        scale=(float(scale[0]), float(scale[1])) if whole_scale and scale else None,
        signature=f"{document['corpus']} {document['corpus_version']}, {document['resamples']} draws of dialogues",
    )


def _badges(system: dict[str, Any]) -> tuple[str, ...]:
    return (system["kind"],) if system["kind"] != "agent" else ()


def scatter_figures(
    version: CorpusVersion, aspect: str, metric: str, document: dict[str, Any], standing: dict[str, Any]
) -> list[Figure]:
    """Metric against human scores at each level where both exist. ``standing`` is the system leaderboard's answer."""
    systems = select_systems(version)
    human = queries.human_side(version, aspect, systems)
    scores = queries.chosen_metrics(queries.compared_scores(version, systems, human.order, [metric]), [metric])
    points = {
        "turn": _turn_points(version, human, scores),
        "dialogue": _dialogue_points(human, scores),
        "system": _system_points(human, scores, _human_means(standing)),
    }
    rows = {row["level"]: row for row in document["rows"] if row["metric"] == metric}
    return [
        metric_vs_human_scatter(
            points[level],
            figure_id=f"scatter-{level}",
            level=level,
            metric=metric,
            correlation=estimate_of(row["pearson"]),
            human_ceiling=ceiling_of(document, level),
            higher_is_better=row["higher_is_better"],
            aspect=aspect,
            signature=row["signature"],
            remark=_remark(row),
        )
        for level, row in rows.items()
    ]


def _remark(row: dict[str, Any]) -> str:
    """What the plot must not hide: what is not on it, and what the judge is worth."""
    return " ".join(f"{part}." for part in (coverage_words(row), row.get("worth", "")) if part)


def _human_means(standing: dict[str, Any]) -> dict[str, Estimate]:
    return {system["system"]: estimate_of(system["human"]) for system in standing["systems"]}


def _turn_points(version: CorpusVersion, human: queries.HumanSide, scores: queries.MetricScores) -> list[Point]:
    items = human.at("turn")
    if items is None:
        return []
    means = items.human_means()
    metric = scores.turn[0, items.system, items.turn]
    texts = {
        (system, turn): text
        for system, turn, text in Response.objects.filter(system__version=version, system__withheld=False).values_list(
            "system_id", "turn_id", "text"
        )
    }
    order = human.order
    return [
        Point(
            system=human.systems[items.system[item]].name,
            human=float(means[item]),
            metric=float(metric[item]),
            swatch=human.systems[items.system[item]].position,
            item=f"dialogue {order.dialogue_ids[items.dialogue[item]]}, turn {order.numbers[items.turn[item]]}",
            hover=texts.get((human.systems[items.system[item]].pk, int(order.turn_pks[items.turn[item]])), ""),
        )
        for item in np.flatnonzero(np.isfinite(means) & np.isfinite(metric))
    ]


def _dialogue_points(human: queries.HumanSide, scores: queries.MetricScores) -> list[Point]:
    grid = queries.human_grid(human)
    if grid is None:
        return []
    metric = queries.metric_grid(human, scores).scores[0]
    return [
        Point(
            system=human.systems[grid.system[place]].name,
            human=float(grid.scores[0, place]),
            metric=float(metric[place]),
            swatch=human.systems[grid.system[place]].position,
            item=f"dialogue {human.order.dialogue_ids[grid.dialogue[place]]}",
        )
        for place in np.flatnonzero(np.isfinite(grid.scores[0]) & np.isfinite(metric))
    ]


def _system_points(
    human: queries.HumanSide, scores: queries.MetricScores, human_means: dict[str, Estimate]
) -> list[Point]:
    """``human_means`` are the stored ones of the system leaderboard: drawing a chart redraws no dialogues for them."""
    metric_means = queries.metric_means(human, scores)
    return [
        Point(
            system=system.name,
            human=mean.value,
            metric=float(scores.system[0, number]),
            swatch=system.position,
            human_ci=mean.ci,
            metric_ci=metric_means[number].ci,
        )
        for number, system in enumerate(human.systems)
        if (mean := human_means[system.name]).value is not None and np.isfinite(scores.system[0, number])
    ]
