"""What the metric leaderboards of several corpora say, each in one sentence and a small chart, for
the home page. Stored answers are read; nothing is computed, and no worker is asked for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString, mark_safe

from annotations.models import CorpusVersion
from common.cache import memoize
from common.tables import Cell
from common.tables.numerals import bracketed, written
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.models import Analysis
from leaderboard.pages.metrics.filters import parse_params
from leaderboard.pages.metrics.lane import metric_lane
from leaderboard.pages.metrics.letters import letters_by_metric
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.tables import CEILING
from leaderboard.pages.metrics.text import SYMBOLS, best_row, strength, tied_with_best
from leaderboard.queries.comparisons import comparisons
from leaderboard.queries.system_choice import ALL, WITHOUT_GOLD
from leaderboard.results import stored_answer, stored_rows

METRICS_DRAWN = 5


@dataclass(frozen=True, slots=True)
class DrawnMetric:
    name: str
    text: str
    """Its coefficient and interval, for those who do not see the drawing."""
    svg: SafeString


@dataclass(frozen=True, slots=True)
class Finding:
    """``metric`` correlates best at ``level``. ``tied``: how many others are not significantly
    different from it; None where that was not tested. ``ceiling``: as written, "" where
    undefined."""

    metric: str
    level: str
    coefficient: str
    interval: str
    is_positive: bool
    tied: int | None
    ceiling: str
    metrics: int
    drawn: tuple[DrawnMetric, ...]
    axis: SafeString


def corpora_with_findings(
    versions: Sequence[CorpusVersion], most: int
) -> list[tuple[CorpusVersion, Finding | None]]:
    """So many of the versions with what their leaderboards say: those with one come first, and of
    them those that people rated before those with simulated ratings.

    Two questions to the database, and one more for each answer that this process has not read yet.
    """
    boards = _default_boards(versions)
    shown = sorted(versions, key=lambda one: (one.pk not in boards, one.simulated))[:most]
    compared = stored_rows([one for one in shown if one.pk in boards], comparisons)
    tests = {
        _question(row.version_id, **row.parameters): row
        for row in compared
        if "data_slice" not in row.parameters
    }
    return [
        (one, _finding_of(boards[one.pk], tests) if one.pk in boards else None) for one in shown
    ]


def _default_boards(versions: Iterable[CorpusVersion]) -> dict[int, Analysis]:
    """By version, what the leaderboard shows to a reader who chooses nothing: the main aspect,
    without the references among the systems (``resolve_choice``)."""
    aspects = {one.pk: one.main_aspect for one in versions}
    found: dict[int, Analysis] = {}
    for row in stored_rows(versions, metric_leaderboard):
        systems = row.parameters.get("systems")
        is_of_a_slice = "data_slice" in row.parameters
        if is_of_a_slice or row.parameters.get("aspect") != aspects[row.version_id]:
            continue
        if systems == WITHOUT_GOLD or (systems == ALL and row.version_id not in found):
            found[row.version_id] = row
    return found


def _question(
    version: int, aspect: str, level: str, systems: str = ALL
) -> tuple[int, str, str, str]:
    return version, aspect, level, systems


def _finding_of(
    board: Analysis, tests: dict[tuple[int, str, str, str], Analysis]
) -> Finding | None:
    document = stored_answer(metric_leaderboard, board)
    if document is None:
        return None
    level = parse_params({}, document.systems_chosen, document).level
    row = tests.get(_question(board.version_id, document.aspect, level, document.systems_chosen))
    compared = None if row is None else stored_answer(comparisons, row)
    marks = (board.pk, board.computed_at, row.computed_at if row and compared else None)
    return memoize(("finding", *marks), lambda: _finding(document, compared))


def _finding(document: MetricCorrelations, compared: MetricComparisons | None) -> Finding | None:
    params = parse_params({}, document.systems_chosen, document)
    best = best_row(document, params)
    if best is None:
        return None
    letters = letters_by_metric(compared, params.coefficient)
    tied = tied_with_best(document, params, letters)
    rows = sorted(
        (
            row
            for row in document.rows
            if row.level == params.level and strength(row, params) is not None
        ),
        key=lambda row: -(strength(row, params) or 0.0),
    )
    shown = replace(document, rows=tuple(rows[:METRICS_DRAWN]))
    lane = metric_lane(shown, params, letters, best.metric, tied)
    assert lane is not None  # the best has a value
    drawn = []
    for row in shown.rows:
        estimate = row.of(params.coefficient)
        cell = Cell(estimate.value, ci=estimate.ci)
        drawn.append(
            DrawnMetric(
                row.metric,
                _written(estimate.value, estimate.ci),
                mark_safe(lane.row_svg(f"metric-{row.metric}", cell)),  # noqa: S308  it escapes
            )
        )
    value = best.of(params.coefficient)
    ceiling = document.people(CEILING, params.level, params.coefficient).value
    return Finding(
        metric=best.metric,
        level=params.level,
        coefficient=f"{SYMBOLS[params.coefficient]} = {written(value.value or 0.0, 2)}",
        interval=bracketed(value.ci, 2) if value.ci else "",
        is_positive=(strength(best, params) or 0.0) > 0,
        tied=len(tied) if letters is not None else None,
        ceiling="" if ceiling is None else written(ceiling, 2),
        metrics=len(rows),
        drawn=tuple(drawn),
        axis=mark_safe(lane.header_svg()),  # noqa: S308  it escapes
    )


def _written(value: float | None, ci: tuple[float, float] | None) -> str:
    text = written(value or 0.0, 2)
    return f"{text} {bracketed(ci, 2)}" if ci else text
