"""What the metric leaderboard says in a sentence or three, made from its stored answers, and what
keeps metrics from being held against people on a corpus."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.corpora.queries import shown_systems
from annotations.models import CorpusVersion
from common.tables.numerals import with_interval, written
from leaderboard import queries
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.estimate_cells import COEFFICIENTS
from leaderboard.pages.metrics.filters import GLOBAL, VARIANTS, BoardParams
from leaderboard.pages.metrics.letters import Letters
from leaderboard.pages.metrics.tables import CEILING, LEAVE_ONE_OUT, chosen_estimate
from workers.metrics.common.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.runs.queries import why_not_offered

SYMBOLS = dict(COEFFICIENTS)


def strength(row: CorrelationRow, params: BoardParams) -> float | None:
    """The chosen coefficient in the metric's own direction: of a distance, turned round."""
    value = chosen_estimate(row, params.coefficient, params.shown_variant).value
    return None if value is None else value * (1 if row.higher_is_better else -1)


def includes_zero(row: CorrelationRow, params: BoardParams) -> bool:
    """Whether the chosen coefficient is not significantly different from no correlation; False
    where it has no interval."""
    interval = chosen_estimate(row, params.coefficient, params.shown_variant).ci
    return interval is not None and interval[0] <= 0 <= interval[1]


def best_row(document: MetricCorrelations, params: BoardParams) -> CorrelationRow | None:
    """Of the metric that correlates best with human ratings at the chosen level; None where none is
    defined."""
    defined = [
        row
        for row in document.rows
        if row.level == params.level and strength(row, params) is not None
    ]
    return max(defined, key=lambda row: strength(row, params) or 0.0, default=None)


def tied_with_best(
    document: MetricCorrelations, params: BoardParams, letters: Letters | None
) -> list[str]:
    """The metrics that are not significantly different from the best of those shown."""
    best = best_row(document, params)
    if best is None or letters is None or params.shown_variant != GLOBAL:
        return []
    return letters.tied_with(best.metric, _others(document, params, best)) or []


def _others(document: MetricCorrelations, params: BoardParams, best: CorrelationRow) -> list[str]:
    return [row.metric for row in document.rows if row.level == params.level and row is not best]


def headline(
    document: MetricCorrelations, params: BoardParams, letters: Letters | None
) -> tuple[str, str]:
    """(who is first and how sure that is, what else there is to say); the first is "" where nothing
    can be said."""
    best = best_row(document, params)
    if best is None:
        return "", _why_nothing(document, params)
    estimate = chosen_estimate(best, params.coefficient, params.shown_variant)
    assert estimate.value is not None  # it is the best
    scope = f" for {best.generalises_to}" if estimate.ci and best.generalises_to else ""
    value = with_interval(estimate.value, estimate.ci, 2)
    how_far = f"{SYMBOLS[params.coefficient]} = {value}{scope}"
    variant = "" if params.shown_variant == GLOBAL else f", {VARIANTS[params.shown_variant]}"
    turned = "" if best.higher_is_better else "; lower is better, so a negative value is good"
    first = (
        f"{best.metric} correlates best with human ratings at {params.level} level: "
        f"{how_far}{variant}{'; the interval includes 0' * includes_zero(best, params)}{turned}."
    )
    if strength(best, params) is not None and (strength(best, params) or 0.0) <= 0:
        first = (
            f"No metric correlates positively with human ratings at {params.level} level: "
            f"the best is {best.metric}, {how_far}{variant}."
        )
    return first, " ".join(
        part
        for part in (
            _apart(document, params, letters, best),
            _baseline(document, params),
            _people(document, params),
        )
        if part
    )


def _apart(
    document: MetricCorrelations,
    params: BoardParams,
    letters: Letters | None,
    best: CorrelationRow,
) -> str:
    others = _others(document, params, best)
    if not others:
        return (
            "No other metric fits the filters."
            if params.filters
            else "No other is computed at this level."
        )
    if letters is None or params.shown_variant != GLOBAL:
        return ""
    tied = letters.tied_with(best.metric, others)
    if tied is None:
        return ""
    ahead = letters.ahead_of(best.metric, others)
    if not tied and not ahead and len(others) == 1:
        return f"{others[0]} is significantly behind it."
    if not tied and not ahead:
        return (
            "Every other metric here is significantly behind it."
            if params.filters
            else "Every other metric is significantly behind it."
        )
    text = (
        [f"{_named(tied)} {'are' if len(tied) > 1 else 'is'} not significantly different."]
        if tied
        else []
    )
    if ahead:
        are = "are" if len(ahead) > 1 else "is"
        text.append(f"On what both scored {_named(ahead)} {are} significantly ahead of it.")
    return " ".join(text)


def _named(metrics: Sequence[str]) -> str:
    return f"{len(metrics)} other metrics" if len(metrics) > 1 else metrics[0]


def _baseline(document: MetricCorrelations, params: BoardParams) -> str:
    """How many metrics the trivial baseline is above, by size: that shorter is better is a
    baseline as trivial."""
    row = document.baseline_at(params.level)
    length = None if row is None else strength(row, params)
    found = [
        value
        for one in document.rows
        if one.level == params.level and (value := strength(one, params)) is not None
    ]
    if length is None or not found:
        return ""
    below = sum(value < abs(length) for value in found)
    metrics = "metric scores" if len(found) == 1 else "metrics score"
    of_length = f"{SYMBOLS[params.coefficient]} = {written(length, 2)}"
    return (
        f"{below or 'None'} of {len(found)} {metrics} below response length ({of_length})."
        if length >= 0
        else f"{below or 'None'} of {len(found)} {metrics} below response length in size "
        f"({of_length}: shorter responses are rated higher)."
    )


def _people(document: MetricCorrelations, params: BoardParams) -> str:
    if params.shown_variant != GLOBAL:
        return ""
    ceiling = document.people(CEILING, params.level, params.coefficient)
    one_rater = document.people(LEAVE_ONE_OUT, params.level, params.coefficient)
    symbol = SYMBOLS[params.coefficient]
    if ceiling.value is None:
        text = (
            f"The highest {symbol} that a perfect metric could reach is not known: "
            f"{ceiling.reason}."
        )
    else:
        value = with_interval(ceiling.value, ceiling.ci, 2)
        text = f"A perfect metric could reach {symbol} = {value}."
    if one_rater.value is not None:
        text += (
            f" A single rater correlates at {symbol} = {written(one_rater.value, 2)} with the "
            "other raters."
        )
    return text


def _why_nothing(document: MetricCorrelations, params: BoardParams) -> str:
    rows = [row for row in document.rows if row.level == params.level]
    if not rows:
        return f"No metric has scores beside human ones at {params.level} level."
    reasons = dict.fromkeys(
        chosen_estimate(row, params.coefficient, params.shown_variant).reason for row in rows
    )
    return f"No metric has a coefficient at {params.level} level: {'; '.join(reasons)}."


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
