"""The metric leaderboard's table, made from stored answers. No statistics are computed
here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from leaderboard.answers.metrics import (
    BASELINE,
    Averages,
    Coefficients,
    CorrelationRow,
    Cost,
    MetricCorrelations,
)
from leaderboard.board_text import board_signature, design_text, who_handed_in
from leaderboard.estimate_cells import (
    COEFFICIENT_NAMES,
    COEFFICIENTS,
    LEFT_OUT,
    coverage_badges,
    coverage_cell,
    coverage_column,
    coverage_note,
    is_partial,
    of_all_levels,
)
from leaderboard.pages.metrics.filters import (
    GLOBAL,
    METHODS,
    VARIANT_HELP,
    VARIANTS,
    BoardParams,
    method_of,
)
from leaderboard.pages.metrics.letters import Letters
from workers.runs.metric_list import page_of

CEILING, RELIABILITY, LEAVE_ONE_OUT = (
    "correlation_ceiling",
    "reliability",
    "leave_one_out_agreement",
)
COMPARE_FORM = "compare"
BASELINE_ROW = "response-length"
RESPONSE_LENGTH = (
    "Trivial baseline: the number of words of a response, as the metric response_length counts "
    "them. It is neither ranked nor tested."
)
TIED = "tied with the best"
HARD_TO_READ = "cannot read all of the text"
PLAIN = BoardParams()
ACCURACIES = {
    "turn": (
        (
            "tie_calibrated_accuracy",
            "acc. (ties)",
            (
                "Tie-calibrated accuracy (Deutsch, Foster & Freitag 2023): of the pairs of "
                "responses, the share that the metric orders as people do, ties included, with "
                "the threshold for ties that suits the metric best."
            ),
        ),
    ),
    "system": (
        (
            "pairwise_accuracy",
            "pairwise acc.",
            (
                "Pairwise accuracy (Kocmi et al. 2021): of the pairs of systems, the share that "
                "the metric orders as people do."
            ),
        ),
        (
            "soft_pairwise_accuracy",
            "soft acc.",
            (
                "Soft pairwise accuracy (Thompson et al. 2024): how near the metric's certainty "
                "about each pair of systems comes to people's."
            ),
        ),
    ),
}
COSTS = (
    (
        "seconds_per_1000",
        "seconds",
        1,
        "Seconds of computing for 1,000 responses, the loading of a model included.",
    ),
    (
        "tokens_per_1000",
        "tokens",
        0,
        "Tokens that judging 1,000 responses took, question and answer together.",
    ),
    (
        "usd_per_1000",
        "USD",
        3,
        "What judging 1,000 responses cost at the prices of the judge's settings.",
    ),
)


def metric_board(
    document: MetricCorrelations,
    updated: datetime | None,
    params: BoardParams = PLAIN,
    letters: Letters | None = None,
    no_letters: str = "",
    tied: Collection[str] = (),
) -> Table:
    """One row a metric: coefficients × levels with intervals, accuracies, coverage, cost; response
    length, ceiling, reliability and people's agreement as rows that do not compete. ``letters`` are
    of the chosen level and coefficient; ``no_letters`` says why there are none. ``tied``: metrics
    that are not significantly different from the best one."""
    levels = document.levels
    columns = _columns(document, levels, params)
    by_metric: dict[str, dict[str, CorrelationRow]] = {}
    for row in document.rows:
        by_metric.setdefault(row.metric, {})[row.level] = row
    rows = [
        _metric_row(document, metric, by_level, params, letters, tied)
        for metric, by_level in by_metric.items()
    ]
    rows = [
        *_strongest_marked(rows, columns, by_metric),
        *_baseline_rows(document, params),
        *_people_rows(document, params),
    ]
    sort = params.column if params != PLAIN else f"{levels[0]}-pearson"
    return Table(
        id="metric-leaderboard",
        caption=f"Correlation of metrics with human ratings, {document.corpus}, aspect "
        f"{document.aspect}",
        columns=tuple(columns),
        rows=tuple(rows),
        sort=(sort, True),
        notes=_metric_notes(document, params, letters, no_letters, bool(tied)),
        signature=board_signature(document, document.aspect),
        updated=updated,
        pick_form=COMPARE_FORM,
    )


def shown_columns(table: Table, params: BoardParams, document: MetricCorrelations) -> str:
    """The columns that show until the reader chooses: what is said of the chosen level, and what it
    takes. n only where it differs, coverage where something is left out, tokens without a price."""
    keys = {f"{params.level}-{name}" for name, _ in COEFFICIENTS}
    keys |= {f"{params.level}-{key}" for key, _, _ in ACCURACIES.get(params.level, ())}
    keys |= {"about", "seconds_per_1000"}
    if len({row.n for row in document.rows if row.level == params.level and row.n}) > 1:
        keys.add(f"{params.level}-n")
    if any(is_partial(row.coverage) for row in document.rows if row.level == params.level):
        keys.add(f"{params.level}-coverage")
    for price in ("usd_per_1000", "tokens_per_1000"):
        if any(row.cell(price).is_defined for row in table.rows):
            keys.add(price)
            break
    return ",".join(column.key for column in table.columns if column.key in keys)


# --- columns --------------------------------------------------------------------------------------


def _columns(
    document: MetricCorrelations, levels: Sequence[str], params: BoardParams
) -> list[Column]:
    columns = [
        Column("metric", "Metric", "link"),
        Column(
            "about",
            "Type",
            "link",
            help="Leads to what it measures, and how it does elsewhere.",
            detail=True,
        ),
    ]
    for level in levels:
        columns += _level_columns(document, level, params)
    if document.cost:
        columns += [
            Column(
                key,
                label,
                "number",
                decimals,
                help,
                "for 1,000 responses",
                False,
                detail=key != "seconds_per_1000",
            )
            for key, label, decimals, help in COSTS
        ]
        columns.append(
            Column(
                "device",
                "on",
                help="Where it was computed.",
                group="for 1,000 responses",
                detail=True,
            )
        )
    return columns


def _level_columns(document: MetricCorrelations, level: str, params: BoardParams) -> list[Column]:
    group = f"{level} level"
    interval = document.interval[level]
    variant = VARIANT_HELP[params.variant_at(level)]
    columns = [
        Column(
            f"{level}-{name}",
            symbol,
            "estimate",
            group=group,
            help=(
                f"{COEFFICIENT_NAMES[name]} with human ratings at {level} level. {variant} "
                f"{_sentence(interval)}"
            ).replace("  ", " "),
            higher_is_better=True,
            detail=name != params.coefficient,
        )
        for name, symbol in COEFFICIENTS
    ]
    columns += [
        Column(
            f"{level}-{key}",
            label,
            "estimate",
            group=group,
            help=help,
            higher_is_better=True,
            detail=True,
        )
        for key, label, help in ACCURACIES.get(level, ())
        if any(row.accuracy(key) for row in document.rows)
    ]
    pairs = Column(f"{level}-n", "n", "number", 0, f"Pairs at {level} level.", group, detail=True)
    return [*columns, pairs, coverage_column(level)]


# --- rows -----------------------------------------------------------------------------------------


def chosen_estimate(row: CorrelationRow, coefficient: str, variant: str) -> Estimate:
    """The coefficient in the chosen variant; undefined with a reason where it was not computed."""
    found = row if variant == GLOBAL else row.variant(variant)
    return (
        found.of(coefficient) if found else Estimate.undefined(f"not computed {VARIANTS[variant]}")
    )


def _metric_row(
    document: MetricCorrelations,
    metric: str,
    by_level: dict[str, CorrelationRow],
    params: BoardParams,
    letters: Letters | None,
    tied: Collection[str],
) -> Row:
    link = "?" + urlencode({"metric": metric, "aspect": document.aspect}) + "#plots"
    first = next(iter(by_level.values()))
    submitted = first.submitted
    notes = [who_handed_in(submitted) if submitted else first.worth, first.warning]
    cells = {"metric": Cell(metric, href=link, note="; ".join(filter(None, notes)))}
    cells |= _number_cells(by_level.values(), params)
    if letters is not None and params.column in cells:
        cells[params.column] = replace(cells[params.column], letters=letters.of(metric))
    cells["about"] = (
        Cell(reason="it was submitted as scores")
        if submitted
        else Cell(METHODS[method_of(metric)], href=page_of(metric))
    )
    cells |= _cost_cells(document.cost.get(metric))
    badges = (
        *(("submitted",) if submitted else ()),
        *(() if first.higher_is_better else ("lower is better",)),
        *((TIED,) if metric in tied else ()),
        *((HARD_TO_READ,) if first.warning else ()),
        *coverage_badges(by_level.values()),
    )
    signature = of_all_levels(first.signature)
    return Row(f"metric-{metric}", cells, badges=badges, signature=signature, pick=metric)


def _number_cells(rows: Iterable[CorrelationRow], params: BoardParams) -> dict[str, Cell]:
    """Coefficients, accuracies, n and coverage at each level."""
    cells: dict[str, Cell] = {}
    for row in rows:
        level = row.level
        variant = params.variant_at(level)
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = estimate_cell(
                chosen_estimate(row, name, variant),
                note=_note(row, variant, name),
                generalises_to=row.generalises_to,
            )
        for key, _, _ in ACCURACIES.get(level, ()):
            if accuracy := row.accuracy(key):
                cells[f"{level}-{key}"] = estimate_cell(accuracy, note=_ties_text(row, key))
        cells[f"{level}-n"] = Cell(row.n)
        cells[f"{level}-coverage"] = coverage_cell(row)
    return cells


def _baseline_rows(document: MetricCorrelations, params: BoardParams) -> list[Row]:
    """Response length: a row that is neither ranked nor tested."""
    if not document.baseline:
        return []
    first = document.baseline[0]
    cells = {"metric": Cell(first.metric, href=page_of(BASELINE), note=RESPONSE_LENGTH)}
    cells |= _number_cells(document.baseline, params)
    for column in ("about", "device", *(key for key, _, _, _ in COSTS)):
        cells[column] = Cell(reason="it is no metric")
    return [
        Row(BASELINE_ROW, cells, badges=("baseline",), signature=of_all_levels(first.signature))
    ]


def _note(row: CorrelationRow, variant: str, coefficient: str) -> str:
    """What was left out; of an average, of how many groups it is."""
    average = None if variant == GLOBAL else row.variant(variant)
    parts = (coverage_note(row), _groups_text(average, coefficient))
    return "; ".join(part for part in parts if part)


def _groups_text(average: Coefficients | None, coefficient: str) -> str:
    if not isinstance(average, Averages) or average.defined[coefficient] >= average.groups:
        return ""
    return (
        f"an average of the {average.defined[coefficient]} of {average.groups} in which it is "
        "defined"
    )


def _ties_text(row: CorrelationRow, accuracy: str) -> str:
    calibrated = row.tie_calibrated_accuracy
    if accuracy != "tie_calibrated_accuracy" or calibrated is None or calibrated.epsilon is None:
        return ""
    return f"ties: differences of up to {calibrated.epsilon:.3g}"


def _cost_cells(cost: Cost | None) -> dict[str, Cell]:
    if cost is None:
        return {}
    cells = {key: estimate_cell(cost.of(key)) for key, _, _, _ in COSTS}
    return cells | {"device": Cell(cost.device or None, reason="not recorded")}


PEOPLE = (
    (
        CEILING,
        "human ceiling",
        (
            "√reliability: the highest correlation that a perfect metric could reach with the mean "
            "of these ratings (Spearman 1904)"
        ),
    ),
    (
        RELIABILITY,
        "reliability of the mean rating",
        "split halves of the raters of each response, stepped up to all raters (Spearman–Brown)",
    ),
    (
        LEAVE_ONE_OUT,
        "single rater with the others",
        "one rater against the mean of the others, averaged over raters",
    ),
)


def _people_rows(document: MetricCorrelations, params: BoardParams) -> list[Row]:
    """What bounds every metric, and how far people agree: rows that do not compete."""
    return [
        _people_row(document, params, key, name, note)
        for key, name, note in PEOPLE
        if getattr(document, key)
    ]


def _people_row(
    document: MetricCorrelations,
    params: BoardParams,
    key: str,
    name: str,
    note: str,
) -> Row:
    cells = {"metric": Cell(name, note=note)}
    for level in document.levels:
        variant = params.variant_at(level)
        for coefficient, _ in COEFFICIENTS:
            cells[f"{level}-{coefficient}"] = (
                estimate_cell(document.people(key, level, coefficient))
                if variant == GLOBAL
                else Cell(
                    reason=_OF_ALL_PAIRS.get(
                        variant, "it is pooled, and does not compare with averages"
                    )
                )
            )
        for accuracy, _, _ in ACCURACIES.get(level, ()):
            cells[f"{level}-{accuracy}"] = Cell(reason="it is of correlations")
        cells[f"{level}-n"] = Cell(reason="it is of raters, not of pairs of scores")
        cells[f"{level}-coverage"] = Cell(reason="people's own scores")
    for column in ("about", "device", *(key for key, _, _, _ in COSTS)):
        cells[column] = Cell(reason="it is no metric")
    return Row(key.replace("_", "-"), cells, badges=("people",))


_OF_ALL_PAIRS = {
    "attenuation_corrected": (
        "corrected for the human scores' own unreliability, a perfect metric would reach 1"
    ),
}


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _strongest_marked(
    rows: Sequence[Row],
    columns: Sequence[Column],
    by_metric: Mapping[str, Mapping[str, CorrelationRow]],
) -> list[Row]:
    """Best is the strongest agreement in the metric's own direction: of a distance, the most
    negative coefficient. Accuracies know the direction already."""
    direction = {
        f"metric-{metric}": 1 if next(iter(by_level.values())).higher_is_better else -1
        for metric, by_level in by_metric.items()
    }
    signed = {
        f"{level}-{name}" for level in ("turn", "dialogue", "system") for name, _ in COEFFICIENTS
    }

    def strength(row: Row, key: str) -> float | None:
        number = row.cell(key).number
        return None if number is None else number * (direction[row.id] if key in signed else 1)

    best: dict[str, float] = {}
    for column in columns:
        if column.kind == "estimate":
            strengths = [found for row in rows if (found := strength(row, column.key)) is not None]
            if len(strengths) > 1:
                best[column.key] = max(strengths)
    return [
        replace(
            row,
            cells={
                key: replace(cell, best=True)
                if key in best and strength(row, key) == best[key]
                else cell
                for key, cell in row.cells.items()
            },
        )
        for row in rows
    ]


def _metric_notes(
    document: MetricCorrelations,
    params: BoardParams,
    letters: Letters | None,
    no_letters: str,
    some_are_tied: bool,
) -> tuple[str, ...]:
    interval = document.interval.get(params.level)
    how = (
        f"At {params.level} level, {interval}"
        if interval
        else (
            f"Intervals: 95 %, from {document.resamples} draws of dialogues (seed {document.seed})"
        )
    )
    notes = []
    name = f"{COEFFICIENT_NAMES[params.coefficient]} at {params.level} level"
    if letters is not None:
        filled = " Filled dots: not significantly different from the best." if some_are_tied else ""
        notes.append(f"{name}: {letters.description}{filled}")
    elif no_letters:
        notes.append(f"No letters on {name}: {no_letters}.")
    elif params.shown_variant != GLOBAL:
        notes.append("No letters: the tests of differences are of pooled coefficients.")
    notes += [
        f"{how}. Undefined values say why. {LEFT_OUT}",
        (
            "Ceiling: the highest correlation that a perfect metric could reach with the mean of "
            "these ratings, the root of their reliability; of ρ it is an approximation. One rater "
            "against the others is no ceiling: a metric may be less noisy than one person. Bold: "
            "the strongest agreement of the column; it is not said to differ from the next."
        ),
    ]
    if document.baseline:
        notes.append(f"Response length. {RESPONSE_LENGTH}")
    if design := design_text(document.design):
        notes.append(f"{design}.")
    return tuple(notes)
