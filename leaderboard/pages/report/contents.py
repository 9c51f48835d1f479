"""What stands in a report: sections of sentences, pictures and tables, made from the same answers
as the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotations.corpora.queries import counts_of
from annotations.models import CorpusVersion
from common.tables import Row, Table, choose_columns, sort_table
from common.tables.numerals import written
from common.tables.to_latex import table_to_latex
from leaderboard import queries
from leaderboard.answers.agreement import CorpusAgreement
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.answers.raters import RaterEffects
from leaderboard.answers.systems import SystemStanding
from leaderboard.estimate_cells import COEFFICIENTS, of_all_levels
from leaderboard.figures import Figure
from leaderboard.metric_requests import comparison_params, correlation_params
from leaderboard.pages.metrics.filters import BoardParams
from leaderboard.pages.metrics.letters import letters_by_metric
from leaderboard.pages.metrics.plots import forest_figure, scatter_documents
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.tables import metric_board, shown_columns
from leaderboard.pages.metrics.text import best_row, headline
from leaderboard.pages.raters.agreement_tables import agreement_tables
from leaderboard.pages.raters.effects_tables import corrected_table, in_one_sentence
from leaderboard.pages.raters.query import rater_effects
from leaderboard.pages.report.method import Method, method_of, reference_list
from leaderboard.pages.systems.plots import rank_figure, system_means_figure
from leaderboard.pages.systems.query import system_leaderboard
from leaderboard.pages.systems.tables import system_board
from leaderboard.pages.systems.text import headline as system_headline
from leaderboard.queries.comparisons import comparisons
from leaderboard.queries.standing import agreement
from leaderboard.results.computing import answer_of
from leaderboard.stored_figures import figure_of
from workers.metrics.common.configuration import ConfigurationError, parse

Say = Callable[[str], None]
PAIRS_SHOWN = 20
SCORES_SHOWN = 6
"""Metrics whose system scores stand in the systems' table; the site has them all."""


@dataclass(frozen=True)
class ReportTable:
    table: Table
    """As it is shown."""

    @property
    def latex(self) -> str:
        return table_to_latex(self.table)


@dataclass
class Section:
    id: str
    heading: str
    sentences: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    version: CorpusVersion
    aspect: str
    facts: list[tuple[str, str]]
    findings: list[str]
    sections: list[Section]
    method: Method
    references: list[str]
    signatures: list[str]
    software: str
    made_at: datetime


def contents_of(version: CorpusVersion, aspect: str, say: Say = lambda _line: None) -> Contents:
    """Everything is read where it is stored for the present data, else computed now. ``say`` hears
    what is at hand."""
    say("correlations")
    correlations = answer_of(version, metric_leaderboard, **correlation_params(aspect))
    levels = _levels_shown(version, correlations)
    compared: dict[str, MetricComparisons] = {}
    for level in levels:
        say(f"tests of all pairs of metrics, {level} level")
        requested = comparison_params(aspect, level)
        if requested is not None:
            compared[level] = answer_of(version, comparisons, **requested)
    say("systems and raters")
    standing = answer_of(version, system_leaderboard, aspect=aspect)
    agreements = {
        level: answer_of(version, agreement, aspect=aspect, level=level)
        for level in queries.rated_levels(version, aspect)
    }
    effects = answer_of(version, rater_effects, aspect=aspect)
    corrected = effects if effects.systems and not effects.reason else None
    scatter = _scatter(version, aspect, correlations, levels)
    sections = [
        _agreement_section(version, agreements),
        *(_metric_section(version, correlations, level, compared.get(level)) for level in levels),
        *(
            [Section("scatter", "The best metric against human ratings", figures=scatter)]
            if scatter
            else []
        ),
        _system_section(version, aspect, standing),
        _rater_section(effects, corrected),
    ]
    shown = replace(
        correlations, rows=tuple(row for row in correlations.rows if row.level in levels)
    )
    method = method_of(shown, compared, agreements, corrected)
    return Contents(
        version=version,
        aspect=aspect,
        facts=_facts(version, aspect),
        findings=_findings(correlations, compared, standing, levels),
        sections=[
            section
            for section in sections
            if section.sentences or section.figures or section.tables
        ],
        method=method,
        references=reference_list(method.cited, _citations(correlations)),
        signatures=list(dict.fromkeys(of_all_levels(row.signature) for row in correlations.rows)),
        software=f"dialeval {settings.VERSION}",
        made_at=timezone.now(),
    )


def _facts(version: CorpusVersion, aspect: str) -> list[tuple[str, str]]:
    counts = counts_of(version)
    return [
        ("Corpus", f"{version.corpus.name} ({version.corpus.slug})"),
        ("Version", f"{version.label}, read from {version.format}, {version.created_at:%Y-%m-%d}"),
        ("Holds", ", ".join(f"{written(count, 0)} {name}" for name, count in _counted(counts))),
        ("Human score", _scale_text(version, aspect)),
        *([("Described as", version.description)] if version.description else []),
    ]


def _counted(counts: Any) -> list[tuple[str, int]]:
    return [
        (name, getattr(counts, name))
        for name in ("dialogues", "turns", "systems", "responses", "raters", "ratings")
    ]


def _scale_text(version: CorpusVersion, aspect: str) -> str:
    ends = version.scales.get(aspect) or [None, None]
    scale = f", from {ends[0]:g} to {ends[1]:g}" if None not in ends else ""
    others = [name for name in version.aspects if name != aspect]
    beside = f"; also rated: {', '.join(others)}" if others else ""
    return f"{aspect}{scale}{beside}"


def _findings(
    correlations: MetricCorrelations,
    comparisons: Mapping[str, MetricComparisons],
    standing: SystemStanding,
    levels: list[str],
) -> list[str]:
    found = []
    for level in levels:
        params = BoardParams(level=level)
        first, rest = headline(
            correlations, params, letters_by_metric(comparisons.get(level), params.coefficient)
        )
        found.append(" ".join(part for part in (first, rest) if part))
    best, beside = system_headline(standing.systems)
    return [words for words in (*found, " ".join(part for part in (best, beside) if part)) if words]


# --- sections -------------------------------------------------------------------------------------


def _agreement_section(version: CorpusVersion, agreement: Mapping[str, CorpusAgreement]) -> Section:
    section = Section("ratings", "Human ratings")
    pseudonyms = {rater.name: rater.pseudonym for rater in version.raters.all()}
    for level, document in agreement.items():
        coefficients, *_ = agreement_tables(document, None, pseudonyms, 0)
        section.tables.append(_shown(replace(coefficients, id=f"agreement-{level}")))
    if not agreement:
        section.sentences.append(
            "Nobody has rated: nothing here can be compared with human ratings."
        )
    return section


def _levels_shown(version: CorpusVersion, correlations: MetricCorrelations) -> list[str]:
    """Without the dialogue level where every dialogue is one turn: it would say everything
    twice."""
    levels = list(dict.fromkeys(row.level for row in correlations.rows))
    return [
        level
        for level in levels
        if level != "dialogue" or "turn" not in levels or not _is_one_turn_each(version)
    ]


def _is_one_turn_each(version: CorpusVersion) -> bool:
    counts = counts_of(version)
    return counts.turns == counts.dialogues and "dialogue" not in queries.rated_levels(
        version, version.main_aspect
    )


def _metric_section(
    version: CorpusVersion,
    document: MetricCorrelations,
    level: str,
    compared: MetricComparisons | None,
) -> Section:
    params = BoardParams(level=level)
    letters = letters_by_metric(compared, params.coefficient)
    figure = forest_figure(document, params, letters)
    table = metric_board(document, None, params, letters)
    columns = [
        column
        for column in shown_columns(table, params, document).split(",")
        if not column.endswith("about")
    ]
    columns = [column for column in columns if column.startswith((level, "seconds", "usd"))]
    section = Section(
        f"metrics-{level}", f"Metrics and human ratings, {level} level", figures=[figure]
    )
    section.tables.append(_shown(replace(table, id=f"metrics-{level}"), columns))
    if level == "turn" and _is_one_turn_each(version):
        section.sentences.append(
            "Every dialogue has one turn, so the dialogue level says the same and is left out."
        )
    if compared is not None:
        section.sentences.append(_differences(compared))
    return section


def _differences(compared: MetricComparisons) -> str:
    sentences = []
    for name, symbol in COEFFICIENTS:
        found = compared.coefficients.get(name)
        tested = [pair.p_holm for pair in found.pairs if pair.p_holm is not None] if found else []
        if tested:
            sentences.append(
                f"{written(sum(p < 0.05 for p in tested), 0)} of {written(len(tested), 0)} by "
                f"{symbol}"
            )
    if not sentences:
        return "No two metrics could be compared at this level."
    return f"Pairs of metrics that differ at 5 % after Holm's adjustment: {', '.join(sentences)}."


def _scatter(
    version: CorpusVersion, aspect: str, correlations: MetricCorrelations, levels: list[str]
) -> list[Figure]:
    """Of the metric that follows people best at the finest level that has one; none where no metric
    does."""
    for level in levels:
        best = best_row(correlations, BoardParams(level=level))
        if best is not None:
            drawn = answer_of(version, scatter_documents, aspect=aspect, metric=best.metric)
            wanted = [f"scatter-{one}" for one in levels]
            return [figure_of(document) for document in drawn.figures if document["id"] in wanted]
    return []


def _system_section(version: CorpusVersion, aspect: str, standing: SystemStanding) -> Section:
    if not standing.systems:
        return Section("systems", "Systems", ["The corpus holds no system's responses."])
    table = system_board(standing, None)
    metrics = [column.key for column in table.columns if column.group == "metrics"]
    left_out = set(metrics[SCORES_SHOWN:])
    section = Section(
        "systems",
        "Systems",
        figures=[
            rank_figure(standing, ()),
            system_means_figure(standing, version.scales.get(aspect), ()),
        ],
    )
    section.tables.append(
        _shown(table, [column.key for column in table.columns if column.key not in left_out])
    )
    if left_out:
        section.sentences.append(
            f"The table holds the scores of {SCORES_SHOWN} of {len(metrics)} metrics; the site "
            "has all of them."
        )
    return section


def _rater_section(effects: RaterEffects, corrected: RaterEffects | None) -> Section:
    if corrected is None:
        reason = effects.reason or "nobody rated"
        return Section(
            "raters",
            "Strict and lenient raters",
            [f"Means are not corrected for severity: {reason}."],
        )
    return Section(
        "raters",
        "Strict and lenient raters",
        [in_one_sentence(effects)],
        [],
        [_shown(corrected_table(effects, None))],
    )


def _shown(table: Table, columns: list[str] | None = None) -> ReportTable:
    """As it stands in a file: in its own order, with nothing to tick and no address of the site."""
    arranged = sort_table(
        replace(table, pick_form="", updated=None, rows=tuple(map(_without_links, table.rows)))
    )
    return ReportTable(choose_columns(arranged, columns) if columns else arranged)


def _without_links(row: Row) -> Row:
    return replace(row, cells={key: replace(cell, href="") for key, cell in row.cells.items()})


def _citations(correlations: MetricCorrelations) -> list[str]:
    found = []
    for text in dict.fromkeys(row.metric for row in correlations.rows):
        try:
            found.append(parse(text).metric.citation)
        except ConfigurationError:
            continue  # handed in as scores: its sender knows
    return found
