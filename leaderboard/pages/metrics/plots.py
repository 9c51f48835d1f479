"""From the correlations that are stored to the picture of the metric leaderboard, and from scores
and stored answers to the scatter plots of one metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np

from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, Response
from common.estimates import Estimate
from common.tables.numerals import written_interval
from leaderboard import queries
from leaderboard.answers.figures import StoredFigures
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.answers.systems import SystemStanding
from leaderboard.board_text import name_of
from leaderboard.estimate_cells import COEFFICIENT_NAMES, coverage_badges, coverage_text
from leaderboard.figures import Figure, Level, Point, metric_vs_human_scatter
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.metric_requests import correlation_params, slice_params
from leaderboard.pages.metrics.figures import scores_by_human
from leaderboard.pages.metrics.filters import GLOBAL, VARIANTS, BoardParams, parse_params
from leaderboard.pages.metrics.letters import SHARED_LETTER, Letters
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.tables import CEILING, LEAVE_ONE_OUT, chosen_estimate
from leaderboard.pages.metrics.text import best_row
from leaderboard.pages.systems.query import system_leaderboard
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results import look
from leaderboard.results.computing import answer_of
from leaderboard.results.kinds import registered
from leaderboard.statistics.distribution import scores_by_human as group_by_human
from leaderboard.stored_figures import document_of, long_points


def forest_figure(
    document: MetricCorrelations, params: BoardParams, letters: Letters | None
) -> Figure:
    """Every metric's chosen coefficient at the chosen level, the ceiling and one rater's agreement
    as lines. A distance is turned round, and says so: the farther to the right, the better a metric
    follows people."""
    rows = [row for row in document.rows if row.level == params.level]
    name = COEFFICIENT_NAMES[params.coefficient]
    variant = "" if params.shown_variant == GLOBAL else f", {VARIANTS[params.shown_variant]}"
    turned = any(not row.higher_is_better for row in rows)
    lines, of_lines = _lines(document, params)
    scopes = list(dict.fromkeys(row.generalises_to for row in rows if row.generalises_to))
    return forest(
        [_forest_row(row, params, letters) for row in rows],
        figure_id=f"forest-{params.level}",
        title=f"{name} with human scores of {document.aspect}, {params.level} level{variant}",
        across=f"{name}, {params.level} level",
        ceilings=lines,
        letters=SHARED_LETTER,
        remark=" ".join(
            part
            for part in (
                f"Intervals speak of {scopes[0]}." if len(scopes) == 1 else "",
                _heavy_tails(rows, params),
                of_lines,
                "Where lower is better, the sign is turned round." if turned else "",
            )
            if part
        ),
        signature=f"{document.corpus} {document.corpus_version}, systems:{document.systems_chosen}"
        + (f", slice:{document.data_slice}" if document.data_slice else ""),
    )


def _heavy_tails(rows: Sequence[CorrelationRow], params: BoardParams) -> str:
    marked = [
        row
        for row in rows
        if chosen_estimate(row, params.coefficient, params.shown_variant).ci_remark
    ]
    if not marked:
        return ""
    names = ", ".join(label_of(row) for row in marked[:NAMED])
    more = f" and {len(marked) - NAMED} more" if len(marked) > NAMED else ""
    return (
        f"Heavy tails, so the interval of r may be too narrow: {names}{more}; that of Spearman's "
        "ρ holds."
    )


NAMED = 6
"""More names than this stand in the table, not in the caption."""


def _forest_row(row: CorrelationRow, params: BoardParams, letters: Letters | None) -> ForestRow:
    estimate = chosen_estimate(row, params.coefficient, params.shown_variant)
    return ForestRow(
        label_of(row),
        estimate if row.higher_is_better else -estimate,
        letters.of(row.metric) if letters is not None else "",
        note=" ".join(part for part in (f"n = {row.n}", *coverage_badges([row])) if part),
        link=f"metrics/?{urlencode({'metric': row.metric})}#plots",
    )


def _lines(
    document: MetricCorrelations, params: BoardParams
) -> tuple[list[tuple[str, float]], str]:
    """Upright lines with their labels, and what the caption says of them, or why there are none."""
    if params.shown_variant != GLOBAL:
        return [], ""
    ceiling = document.people(CEILING, params.level, params.coefficient)
    one_rater = document.people(LEAVE_ONE_OUT, params.level, params.coefficient)
    named = (
        ("ceiling (√reliability)", ceiling.value),
        ("one rater (leave-one-out)", one_rater.value),
    )
    lines = [(label, value) for label, value in named if value is not None]
    if ceiling.value is None:
        return lines, f"No ceiling of a perfect metric: {ceiling.reason}."
    interval = f", 95 % interval {written_interval(ceiling.ci, 2)}" if ceiling.ci else ""
    return (
        lines,
        f"The ceiling is the highest correlation that a perfect metric could reach{interval}.",
    )


def label_of(row: CorrelationRow) -> str:
    turned = () if row.higher_is_better else ("(turned round)",)
    return " ".join([name_of(row.metric, row.submitted), *turned])


def _shown_first(version: CorpusVersion) -> list[dict[str, Any]]:
    """Of the metric that the finding names, once it is known."""
    if version.main_aspect not in version.aspects:
        return []
    found = look(version, metric_leaderboard, aspect=version.main_aspect)
    if found.answer is None:
        return []
    params = parse_params({}, found.answer.systems_chosen, found.answer)
    best = best_row(found.answer, params)
    return [{"aspect": version.main_aspect, "metric": best.metric}] if best else []


@registered(
    "scatter", version=4, for_files="points", resolved=with_choice, shown_first=_shown_first
)
def scatter_documents(
    version: CorpusVersion,
    aspect: str,
    metric: str,
    systems: str | None = None,
    data_slice: str = NO_SLICE,
) -> StoredFigures:
    """The figures as they are drawn, and for files every point of those that have too many for a
    page."""
    requested = correlation_params(aspect, resolve_choice(version, systems), data_slice)
    correlations = answer_of(version, metric_leaderboard, **requested)
    standing = answer_of(version, system_leaderboard, aspect=aspect, **slice_params(data_slice))
    figures = scatter_figures(version, aspect, metric, correlations, standing)
    return StoredFigures(
        figures=tuple(document_of(figure) for figure in figures),
        points=tuple(long_points(figures)),
    )


def scatter_figures(
    version: CorpusVersion,
    aspect: str,
    metric: str,
    document: MetricCorrelations,
    standing: SystemStanding,
) -> list[Figure]:
    """Metric against human scores at each level where both exist. ``standing`` is the system
    leaderboard's answer."""
    systems = chosen_systems(version, document.systems_chosen)
    human = queries.human_side(version, aspect, systems, document.data_slice)
    scores = queries.chosen_metrics(
        queries.compared_scores(version, systems, human.order, [metric]), [metric]
    )
    points = {
        "turn": _turn_points(version, human, scores),
        "dialogue": _dialogue_points(human, scores),
        "system": _system_points(human, scores, _human_means(standing)),
    }
    rows = {row.level: row for row in document.rows_of(metric)}
    scatters = [
        metric_vs_human_scatter(
            points[level],
            figure_id=f"scatter-{level}",
            level=level,
            metric=metric,
            correlation=row.pearson,
            ceiling=document.people(CEILING, level),
            higher_is_better=row.higher_is_better,
            aspect=aspect,
            signature=row.signature,
            remark=_remark(row),
        )
        for level, row in rows.items()
    ]
    finest: Level | None = "turn" if "turn" in rows else "dialogue" if "dialogue" in rows else None
    return (
        scatters
        if finest is None
        else [*scatters, _by_human(points[finest], finest, rows[finest], metric, aspect)]
    )


def _by_human(
    points: list[Point], level: Level, row: CorrelationRow, metric: str, aspect: str
) -> Figure:
    """The same points, gathered by their human score."""
    step, groups = group_by_human(
        np.array([point.human for point in points]), np.array([point.metric for point in points])
    )
    return scores_by_human(
        groups,
        figure_id="by-human",
        metric=metric,
        aspect=aspect,
        level=level,
        step=step,
        signature=row.signature,
    )


def _remark(row: CorrelationRow) -> str:
    """What the plot must not hide: what is not on it, and what the judge is worth."""
    scope = row.generalises_to
    parts = (
        f"The interval speaks of {scope}" if scope and row.pearson.ci else "",
        _sentence(row.pearson.ci_remark),
        coverage_text(row.coverage),
        row.worth,
    )
    return " ".join(f"{part}." for part in parts if part)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _human_means(standing: SystemStanding) -> dict[str, Estimate]:
    return {system.system: system.human for system in standing.systems}


def _turn_points(
    version: CorpusVersion, human: queries.HumanSide, scores: queries.MetricScores
) -> list[Point]:
    items = human.at("turn")
    if items is None:
        return []
    means = items.human_means()
    metric = scores.turn[0, items.system, items.turn]
    texts = {
        (system, turn): text
        for system, turn, text in Response.objects.filter(
            system__version=version, system__withheld=False
        ).values_list("system_id", "turn_id", "text")
    }
    order = human.order
    return [
        Point(
            system=human.systems[items.system[item]].name,
            human=float(means[item]),
            metric=float(metric[item]),
            swatch=human.systems[items.system[item]].position,
            item=f"dialogue {order.dialogue_ids[items.dialogue[item]]}, turn "
            f"{order.numbers[items.turn[item]]}",
            hover=texts.get(
                (human.systems[items.system[item]].pk, int(order.turn_pks[items.turn[item]])), ""
            ),
            dialogue=order.position(items.dialogue[item]),
            turn=int(order.numbers[items.turn[item]]),
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
            dialogue=human.order.position(grid.dialogue[place]),
        )
        for place in np.flatnonzero(np.isfinite(grid.scores[0]) & np.isfinite(metric))
    ]


def _system_points(
    human: queries.HumanSide, scores: queries.MetricScores, human_means: dict[str, Estimate]
) -> list[Point]:
    """``human_means`` are the stored ones of the system leaderboard: drawing a chart redraws no
    dialogues for them."""
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
        if (mean := human_means[system.name]).value is not None
        and np.isfinite(scores.system[0, number])
    ]
