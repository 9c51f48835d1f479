"""What the metric leaderboards of several corpora say, each in one sentence and a small chart, for
the home page. Stored answers are read and nothing is computed; of a rated corpus without an answer
a worker is asked for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from annotations.models import CorpusVersion
from common.cache import memoize
from common.tables import Cell
from common.tables.numerals import bracketed, with_interval, written
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.models import Analysis
from leaderboard.pages.metrics.filters import BoardParams, parse_params
from leaderboard.pages.metrics.lane import metric_lane
from leaderboard.pages.metrics.letters import letters_by_metric
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.tables import CEILING
from leaderboard.pages.metrics.text import (
    SYMBOLS,
    best_row,
    includes_zero,
    strength,
    tied_with_best,
)
from leaderboard.queries.comparisons import comparisons
from leaderboard.queries.system_choice import ALL, WITHOUT_GOLD
from leaderboard.results import look, states_of, stored_answers, stored_rows

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
    includes_zero: bool
    """The interval does, so that no metric is known to correlate with human ratings."""
    tied: int | None
    ceiling: str
    metrics: int
    drawn: tuple[DrawnMetric, ...]
    axis: SafeString


class CorpusCard(NamedTuple):
    """``version`` carries its counts."""

    version: CorpusVersion
    finding: Finding | None
    is_computing: bool
    """Its leaderboard has no numbers yet, and a worker is at it or asked for it."""


def corpora_with_findings(versions: Sequence[CorpusVersion], most: int) -> list[CorpusCard]:
    """So many of the versions with what their leaderboards say: those with one come first, and of
    them those that people rated before those with simulated ratings.

    Four queries, however many versions there are; six where some have no leaderboard yet, and those
    of ``look`` once for each that nobody has asked for.
    """
    boards = _default_boards(versions)
    shown = sorted(versions, key=lambda one: (one.pk not in boards, one.simulated))[:most]
    found = _findings({one.pk: boards[one.pk] for one in shown if one.pk in boards})
    computing = _computing(one for one in shown if one.pk not in boards)
    return [CorpusCard(one, found.get(one.pk), one.pk in computing) for one in shown]


def findings(versions: Sequence[CorpusVersion]) -> dict[int, Finding]:
    """By version, of those whose leaderboard has been computed; nothing is asked for."""
    return _findings(_default_boards(versions))


def _findings(boards: Mapping[int, Analysis]) -> dict[int, Finding]:
    documents = stored_answers(metric_leaderboard, boards.values())
    default = {
        row.version_id: parse_params({}, documents[row.pk].systems_chosen, documents[row.pk])
        for row in boards.values()
        if row.pk in documents
    }
    tests = {
        row.version_id: row
        for row in stored_rows(default, comparisons)
        if row.parameters["level"] == default[row.version_id].level
        and row.parameters["aspect"] == boards[row.version_id].parameters["aspect"]
        and row.parameters.get("systems", ALL) == default[row.version_id].systems
        and not row.parameters.get("test")
        and "data_slice" not in row.parameters
    }
    compared = stored_answers(comparisons, tests.values())
    found = {}
    for version in default:
        board, test = boards[version], tests.get(version)
        tested = compared.get(test.pk) if test else None
        marks = (board.pk, board.computed_at, test.computed_at if test and tested else None)
        finding = memoize(
            ("finding", *marks),
            partial(_finding, documents[board.pk], default[version], tested),
        )
        if finding is not None:
            found[version] = finding
    return found


def _computing(versions: Iterable[CorpusVersion]) -> set[int]:
    """The rated ones of these versions without an answer whose numbers a worker makes now."""
    rated = [one for one in versions if one.main_aspect in one.aspects]
    states = states_of(rated, metric_leaderboard) if rated else {}
    at_work = {Analysis.State.PENDING, Analysis.State.RUNNING}
    return {
        one.pk
        for one in rated
        if states.get(one.pk, set()) & at_work
        or (
            Analysis.State.FAILED not in states.get(one.pk, ())
            and look(one, metric_leaderboard, aspect=one.main_aspect).is_under_way
        )
    }


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


def _finding(
    document: MetricCorrelations, params: BoardParams, compared: MetricComparisons | None
) -> Finding | None:
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
                with_interval(estimate.value or 0.0, estimate.ci, 2),
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
        includes_zero=includes_zero(best, params),
        tied=len(tied) if letters is not None else None,
        ceiling="" if ceiling is None else written(ceiling, 2),
        metrics=len(rows),
        drawn=tuple(drawn),
        axis=mark_safe(lane.header_svg()),  # noqa: S308  it escapes
    )
