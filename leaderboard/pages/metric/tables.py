"""The tables of a metric's page, from stored answers and counts; no statistics are computed here.
What some metrics store beside a score is shown as tables and figures: FBD's normality, PRD's curves
and their spread. Other details stay in the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotations.models import CorpusVersion
from common.tables import Cell, Column, Row, Table, estimate_cell
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.estimate_cells import (
    COEFFICIENT_NAMES,
    COEFFICIENTS,
    coverage_badges,
    coverage_cell,
    coverage_column,
    coverage_note,
    of_all_levels,
)
from leaderboard.figures import Figure
from leaderboard.pages.metric.figures import Curve, precision_recall_figure
from leaderboard.pages.metric.query import Judged
from leaderboard.queries import DetailsOf, MadeWith
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from workers.metrics.base import Option
from workers.metrics.common.configuration import Configuration, written_value


def detail_tables(details: Sequence[DetailsOf], corpus: str, signature: str) -> list[Table]:
    tested = [
        (one, one.details["normality"])
        for one in details
        if _is_normality(one.details.get("normality"))
    ]
    return [_normality_table(tested, corpus, signature)] if tested else []


def detail_figures(
    details: Sequence[DetailsOf], metric: str, corpus: str, signature: str
) -> list[Figure]:
    curves = [_curve(one) for one in details if _is_curve(one.details.get("curve"))]
    if not curves:
        return []
    named = {"figure_id": "curves", "metric": metric, "corpus": corpus, "signature": signature}
    return [precision_recall_figure(curves, **named)]


# --- FBD: how normal the features are -------------------------------------------------------------


def _is_normality(found: Any) -> bool:
    return isinstance(found, Mapping) and all(
        isinstance(found.get(side), Mapping) for side in ("system", "human")
    )


def _normality_table(
    tested: Sequence[tuple[DetailsOf, Mapping[str, Any]]], corpus: str, signature: str
) -> Table:
    columns = (
        Column("side", "Answers of"),
        Column("points", "n", "number", decimals=0, help="Pairs of a context and an answer."),
        Column(
            "dimensions", "Dimensions", "number", decimals=0, help="Those that have any spread."
        ),
        Column(
            "w_mean",
            "W",
            "number",
            group="mean over dimensions",
            help="Shapiro and Wilk's W; 1 is normal.",
        ),
        Column("p_mean", "p", "p", group="mean over dimensions"),
        Column("w_sd", "sd of W", "number", detail=True),
        Column("p_sd", "sd of p", "number", detail=True),
        Column(
            "share_normal",
            "Share not refuted",
            "number",
            help="Of the dimensions, those with p of 0.05 or more.",
        ),
    )
    people = Row(
        "normality-people", _normality_cells("people", tested[0][1]["human"]), badges=("people",)
    )
    systems = [
        Row(
            f"normality-{one.swatch}",
            _normality_cells(one.system, found["system"]),
            swatch=one.swatch,
        )
        for one, found in tested
    ]
    return Table(
        "normality",
        f"How normal the features are on {corpus} (Shapiro–Wilk in each dimension)",
        columns,
        (people, *systems),
        notes=(
            "FBD takes the features as Gaussian. With many points the test refutes small "
            "departures, too; with few it refutes little: compare sides of equal n.",
        ),
        signature=signature,
    )


def _normality_cells(name: str, found: Mapping[str, Any]) -> dict[str, Cell]:
    reason = str(found.get("reason") or "not available")
    keys = ("points", "dimensions", "w_mean", "p_mean", "w_sd", "p_sd", "share_normal")
    return {"side": Cell(name), **{key: Cell(found.get(key), reason=reason) for key in keys}}


# --- PRD: the curves, and how far the score moves between seeds -----------------------------------


def _is_curve(found: Any) -> bool:
    if not isinstance(found, Mapping):
        return False
    precision, recall = found.get("precision"), found.get("recall")
    return (
        isinstance(precision, list) and isinstance(recall, list) and len(precision) == len(recall)
    )


def _curve(one: DetailsOf) -> Curve:
    found = one.details["curve"]
    return Curve(
        system=one.system,
        swatch=one.swatch,
        recall=tuple(found["recall"]),
        precision=tuple(found["precision"]),
        score=one.score,
        spread=one.details.get("sd_between_seeds"),
        spread_from=str(one.details.get("sd_from", "")),
    )


LEVELS = ("turn", "dialogue", "system")
OnCorpus = tuple[CorpusVersion, MetricCorrelations]
"""A corpus version and its stored ``meta_evaluation``."""


def agreement_table(configuration: Configuration, answers: Sequence[OnCorpus]) -> Table:
    """One row a corpus: at each level the coefficients with their intervals, the ceiling of r
    beside them."""
    found = [
        (
            version,
            document,
            {row.level: row for row in document.rows_of(configuration.text)},
        )
        for version, document in answers
    ]
    found = [one for one in found if one[2]]
    levels = [level for level in LEVELS if any(level in by_level for _, _, by_level in found)]
    columns = [Column("corpus", "Corpus", "link")]
    for level in levels:
        columns += _level_columns(level)
    columns.append(
        Column(
            "aspect",
            "Aspect",
            help="The corpus's main human score; its leaderboard has the others.",
            detail=True,
        )
    )
    return Table(
        "metric-agreement",
        f"Correlation of {configuration.text} with human ratings",
        tuple(columns),
        tuple(_agreement_row(*one) for one in found),
        notes=_agreement_notes(configuration, [document for _, document, _ in found]),
    )


def _level_columns(level: str) -> list[Column]:
    group = f"{level} level"
    coefficients = [
        Column(
            f"{level}-{name}",
            symbol,
            "estimate",
            group=group,
            help=f"{COEFFICIENT_NAMES[name]} with human ratings at {level} level, 95 % interval "
            f"over dialogues.{f' {OF_SYSTEMS}' if level == 'system' else ''}",
            detail=name != "pearson",
        )
        for name, symbol in COEFFICIENTS
    ]
    ceiling = Column(
        f"{level}-ceiling",
        "ceiling",
        "number",
        group=group,
        help="The highest Pearson's r that a perfect metric could reach with the mean of these "
        "ratings: the root of their reliability (split halves, Spearman–Brown).",
    )
    pairs = Column(f"{level}-n", "n", "number", 0, "Pairs of scores.", group, detail=True)
    return [*coefficients, ceiling, pairs, coverage_column(level)]


OF_SYSTEMS = "It holds for these systems in new dialogues, and says nothing of other systems."
_HIDDEN = ("-kendall", "-n", "-coverage", "aspect")


def agreement_columns(table: Table) -> str:
    """The columns that the page shows at first."""
    return ",".join(column.key for column in table.columns if not column.key.endswith(_HIDDEN))


def _agreement_row(
    version: CorpusVersion,
    document: MetricCorrelations,
    by_level: Mapping[CeilingLevel, CorrelationRow],
) -> Row:
    first = next(iter(by_level.values()))
    address = reverse("metric-leaderboard", args=[version.corpus.slug])
    link = f"{address}?{urlencode({'metric': first.metric, 'aspect': document.aspect})}#plots"
    cells = {"corpus": Cell(version.corpus.name, href=link), "aspect": Cell(document.aspect)}
    for level, row in by_level.items():
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = estimate_cell(
                row.of(name), note=coverage_note(row), generalises_to=row.generalises_to
            )
        cells[f"{level}-ceiling"] = estimate_cell(document.people("correlation_ceiling", level))
        cells[f"{level}-n"] = Cell(row.n)
        cells[f"{level}-coverage"] = coverage_cell(row)
    badges = (*(("simulated",) if version.simulated else ()), *coverage_badges(by_level.values()))
    return Row(
        f"on-{version.corpus.slug}",
        cells,
        badges=badges,
        signature=of_all_levels(first.signature),
    )


def _agreement_notes(
    configuration: Configuration, documents: Sequence[MetricCorrelations]
) -> tuple[str, ...]:
    if not documents:
        return ()
    made = sorted(
        {f"over dialogues ({one.ci}, {one.resamples} draws, seed {one.seed})" for one in documents}
    )
    signs = (
        ""
        if configuration.higher_is_better
        else " Signs are kept: lower is better, so the strongest is near −1."
    )
    return (f"Intervals: 95 %, {'; '.join(made)}.{signs}",)


def options_table(configuration: Configuration) -> Table:
    """What can be set, and what is set on this page."""
    columns = (
        Column("option", "Option"),
        Column("help", "What it does"),
        Column("default", "Default"),
        Column("here", "Here"),
        Column("choices", "May be"),
    )
    values = configuration.options
    rows = tuple(
        Row(
            f"option-{one.name}",
            {
                "option": Cell(one.name),
                "help": Cell(one.help),
                "default": Cell(written_value(one.default) or EMPTY),
                "here": Cell(written_value(values[one.name]) or EMPTY),
                "choices": Cell(_choices(one)),
            },
        )
        for one in configuration.metric.options
    )
    return Table("metric-options", f"Options of {configuration.metric.name}", columns, rows)


EMPTY = "(empty)"
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


def _choices(option: Option) -> str:
    return (
        ", ".join(written_value(one) or EMPTY for one in option.choices)
        or _KINDS[type(option.default)]
    )


def made_with_table(rows: Iterable[MadeWith]) -> Table:
    columns = (
        Column("model", "Model and revision"),
        Column("device", "Computed on"),
        Column("runs", "Runs", "number", decimals=0, help="One run is one system of one corpus."),
    )
    found = tuple(
        Row(
            f"made-{number}",
            {
                "model": Cell(row.model or None, reason="it needs no model"),
                "device": Cell(row.device or None, reason="not recorded"),
                "runs": Cell(row.runs),
            },
        )
        for number, row in enumerate(rows)
    )
    return Table("metric-models", "Models and machines that its runs used", columns, found)


def judged_table(side: str, rows: Sequence[Judged], caption: str, signature: str) -> Table:
    """The widest gaps as a file: the page shows them as cards."""
    columns = (
        Column("system", "System"),
        Column("dialogue", "Dialogue"),
        Column("turn", "Turn", "number", decimals=0),
        Column("response", "Response"),
        Column("metric", "Metric", "number"),
        Column("human", "Human", "number"),
        Column("metric_z", "z of the metric", "number"),
        Column("human_z", "z of people", "number"),
        Column("gap", "Gap", "number"),
    )
    found = tuple(
        Row(
            f"{side}-{number}",
            {
                "system": Cell(row.system),
                "dialogue": Cell(
                    row.dialogue.external_id if row.dialogue else None, reason="of the whole system"
                ),
                "turn": Cell(row.turn, reason="of no single turn"),
                "response": Cell(row.response or None, reason="of no single response"),
                "metric": Cell(row.metric),
                "human": Cell(row.human),
                "metric_z": Cell(row.metric_z),
                "human_z": Cell(row.human_z),
                "gap": Cell(row.gap),
            },
            swatch=row.swatch,
        )
        for number, row in enumerate(rows)
    )
    return Table(side, caption, columns, found, signature=signature)
