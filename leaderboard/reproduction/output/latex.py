"""A table of correlations for a paper: LaTeX with booktabs, the best of each column bold. No Django
here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from common.tables.latex_text import comment, escaped, row_of
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.estimate_cells import coverage_text, is_partial

COEFFICIENTS = (("pearson", "$r$"), ("spearman", escaped("ρ")), ("kendall", escaped("τ")))
LATEX_SYMBOLS = dict(COEFFICIENTS)
PEOPLE = (
    ("correlation_ceiling", r"Ceiling ($\sqrt{\mathrm{reliability}}$)"),
    ("leave_one_out_agreement", "Leave-one-out agreement"),
)


def tabular(
    columns: str, heads: Sequence[Sequence[str]], rows: Iterable[tuple[str, Sequence[str]]]
) -> list[str]:
    """Lines of a table in the style of booktabs.

    Args:
        columns: their alignment, a letter each.
        heads: header rows, of which the last has a cell for each column.
        rows: the group and the cells, as LaTeX; a new group begins with its name.
    """
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *map(row_of, heads)]
    shown = ""
    for group, cells in rows:
        if group != shown:
            shown = group
            name = rf"\textit{{{escaped(group)}}}"
            lines += [r"\midrule", rf"\multicolumn{{{len(heads[-1])}}}{{l}}{{{name}}} \\"]
        lines.append(row_of(cells))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def correlations_to_latex(document: MetricCorrelations) -> str:
    """``document`` is ``queries.meta_evaluation``'s. Values with p ≥ 0.05 carry a dagger, submitted
    metrics an asterisk, metrics that left something out a double dagger; undefined is a dash."""
    levels = list(dict.fromkeys(row.level for row in document.rows))
    metrics = list(dict.fromkeys(row.metric for row in document.rows))
    submitted = {row.metric for row in document.rows if row.submitted}
    partial = {row.metric for row in document.rows if is_partial(row.coverage)}
    worth = {row.metric: row.worth for row in document.rows if row.worth}
    by_position = {(row.metric, row.level): row for row in document.rows}
    best = {
        (level, name): _best(document.rows, level, name)
        for level in levels
        for name, _ in COEFFICIENTS
    }
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{l" + "rrr" * len(levels) + "}",
        r"\toprule",
        row_of(
            [
                "",
                *(
                    rf"\multicolumn{{3}}{{c}}{{{_level_heading(document, level)}}}"
                    for level in levels
                ),
            ]
        ),
        row_of(["Metric", *(label for _ in levels for _, label in COEFFICIENTS)]),
        r"\midrule",
    ]
    for metric in metrics:
        cells = [
            _cell(by_position.get((metric, level)), name, best[level, name])
            for level in levels
            for name, _ in COEFFICIENTS
        ]
        found = [by_position.get((metric, level)) for level in levels]
        intervals = [row.of(name).ci if row else None for row in found for name, _ in COEFFICIENTS]
        marks = ("$^*$" if metric in submitted else "") + (
            r"$^\ddagger$" if metric in partial else ""
        )
        lines += _with_intervals([escaped(metric) + marks, *cells], intervals)
    lines.append(r"\midrule")
    if baseline := {row.level: row for row in document.baseline}:
        found = [baseline.get(level) for level in levels]
        cells = [_cell(row, name, None) for row in found for name, _ in COEFFICIENTS]
        intervals = [row.of(name).ci if row else None for row in found for name, _ in COEFFICIENTS]
        lines += _with_intervals(["Response length (baseline)", *cells], intervals)
    for key, label in PEOPLE:
        if getattr(document, key):
            values, intervals = _of_people(document, key, levels)
            lines += _with_intervals([label, *values], intervals)
    lines += [r"\bottomrule", r"\end{tabular}", _note(document)]
    if submitted:
        lines.append(comment("asterisk: computed elsewhere, its scores were submitted"))
    if partial:
        lines.append(
            comment("double dagger: not all that people rated has a score; the rest is left out")
        )
    lines += [
        comment(f"{row.metric}, {row.level} level: {coverage_text(row.coverage)}, n = {row.n}")
        for row in document.rows
        if is_partial(row.coverage)
    ]
    lines += [comment(f"{metric}: {words}") for metric, words in worth.items()]
    lines += [
        comment(f"{row.metric}, {row.level} level: {row.pearson.ci_remark}")
        for row in document.rows
        if row.pearson.ci_remark
    ]
    lines += dict.fromkeys(
        comment(f"{row.level} level: no p: {row.pearson.p_reason}")
        for row in document.rows
        if row.pearson.p_reason
    )
    lines += [comment(row.signature) for row in document.rows]
    return "\n".join(lines)


def _level_heading(document: MetricCorrelations, level: str) -> str:
    """With what the intervals speak of, where all rows of the level speak of the same."""
    scopes = {row.generalises_to for row in document.rows if row.level == level}
    scope = scopes.pop() if len(scopes) == 1 else ""
    return escaped(f"{level} ({scope})" if scope else level)


def _with_intervals(cells: list[str], intervals: list[tuple[float, float] | None]) -> list[str]:
    """The row of values and, where any has one, the row of their intervals beneath it."""
    lines = [row_of(cells)]
    if any(intervals):
        small = [
            "" if ends is None else rf"{{\scriptsize [{_number(ends[0])}, {_number(ends[1])}]}}"
            for ends in intervals
        ]
        lines.append(row_of(["", *small]))
    return lines


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "$-$")


def _best(rows: Sequence[CorrelationRow], level: str, name: str) -> float | None:
    """The strongest correlation in the metric's own direction (a distance should correlate
    negatively); None where fewer than two compete."""
    strengths = [_strength(row, name) for row in rows if row.level == level]
    defined = [strength for strength in strengths if strength is not None]
    return max(defined) if len(defined) > 1 else None


def _strength(row: CorrelationRow, name: str) -> float | None:
    value = row.of(name).value
    return None if value is None else value if row.higher_is_better else -value


def _cell(row: CorrelationRow | None, name: str, best: float | None) -> str:
    value = row.of(name).value if row else None
    if row is None or value is None:
        return "--"
    text = _number(value)
    if best is not None and _strength(row, name) == best:
        text = rf"\textbf{{{text}}}"
    p = row.of(name).p
    if p is not None and p >= 0.05:
        text += r"$^\dagger$"
    return text


def _of_people(
    document: MetricCorrelations, statistic: str, levels: Sequence[str]
) -> tuple[list[str], list[tuple[float, float] | None]]:
    """(values, intervals) of each level and coefficient."""
    found = [
        document.people(statistic, level, name) for level in levels for name, _ in COEFFICIENTS
    ]
    values = ["--" if one.value is None else _number(one.value) for one in found]
    return values, [one.ci for one in found]


def _note(document: MetricCorrelations) -> str:
    return comment(
        f"{document.corpus} {document.corpus_version}, aspect {document.aspect}; dagger: "
        f"p >= 0.05; intervals: {document.ci}, {document.resamples} draws, seed "
        f"{document.seed}"
    )
