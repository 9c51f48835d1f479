"""Tables of trained metrics, the paper's figures beside ours, as text, CSV and LaTeX. No Django
here.

A row of the paper is one line; what is computed of it here stands on the same line where it is one
configuration, else beneath: over seeds the mean with the lowest and the highest, then each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from common.tables.csv_text import csv_table
from common.tables.latex_text import comment, escaped
from common.tables.numerals import Dash
from leaderboard.estimate_cells import coverage_text, format_share, is_partial
from leaderboard.reproduction.output.estimate_columns import estimate_columns, estimate_values
from leaderboard.reproduction.output.latex import LATEX_SYMBOLS, tabular
from leaderboard.reproduction.published import NOT_SIGNIFICANT, paper

SYMBOLS = {"pearson": "r", "spearman": "ρ"}
NOT_RECORDED = "not recorded with the model"
WIDTH = 100
"""Of a text's titles and notes."""
ALPHAS = {name: paper(name).alpha for name in ("density", "cmn")}
"""From which p the paper, and so we, put a star."""
_CSV_COLUMNS = [
    *("table", "corpus", "level", "metric", "source", "of", "trained", "seed", "n", "coverage"),
    *estimate_columns(SYMBOLS),
    *(f"{name}_{part}" for name in SYMBOLS for part in ("lowest", "highest", "significant")),
    *("monte_carlo_error", "monte_carlo_share", "R@1", "MRR", "signature"),
]
TextTable = tuple[str, list[str], list[list[str]]]
"""Title, header, rows."""


@dataclass(frozen=True)
class Line:
    """A row's published figures with at most one of ours."""

    metric: str
    group: str
    published: list[dict[str, Any]] = field(default_factory=list)
    """Of each set; nothing where the line is only ours."""
    source: str = ""
    """What made ours, in words; "" where nothing did."""
    ours: Mapping[str, Any] = field(default_factory=dict)
    """A document with the coefficients: one configuration's, or a mean over seeds."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The group that it belongs to."""

    @property
    def is_mean(self) -> bool:
        return "configuration" not in self.ours


def lines_of(table: Mapping[str, Any]) -> Iterator[Line]:
    for row in table["rows"]:
        ours = [line for group in row["ours"] for line in _of_group(row, group)]
        alone = len(ours) == 1 and not ours[0].document["scored"][0]["trained"]
        if alone:
            yield Line(
                row["metric"],
                row["group"],
                row["published"],
                ours[0].source,
                ours[0].ours,
                ours[0].document,
            )
            continue
        yield Line(row["metric"], row["group"], row["published"])
        yield from ours


def _of_group(row: Mapping[str, Any], group: Mapping[str, Any]) -> Iterator[Line]:
    scored = group["scored"]
    what = group_label(group)
    if len(scored) > 1:
        words = f"{len(scored)} seeds: {what}" if what else f"{len(scored)} seeds"
        yield Line("", row["group"], [], words, group, group)
    for one in scored:
        yield Line("", row["group"], [], _source(one, "" if len(scored) > 1 else what), one, group)


def group_label(group: Mapping[str, Any]) -> str:
    """What tells a group from the others of its row; of the information's estimate the form
    alone."""
    options = group["options"].replace("form=", "")
    return ", ".join(part for part in (options, group["of"]) if part)


def _source(one: Mapping[str, Any], what: str) -> str:
    if not one["trained"]:
        return str(one["configuration"])
    about = what or ("" if one["seed"] is None else f"seed {one['seed']}")
    return f"{one['trained']} ({about})" if about else str(one["trained"])


# --- text -----------------------------------------------------------------------------------------


def text_tables(document: Mapping[str, Any]) -> Iterator[TextTable]:
    """Whether ours is like theirs; the tables that have something of ours, or all where none
    has."""
    yield from _findings(document)
    with_ours = [table for table in document["tables"] if _has_ours(table)]
    for table in with_ours or document["tables"]:
        yield _text_table(document, table)


def text_head(document: Mapping[str, Any]) -> list[str]:
    """How the paper's models were made and how ours: the first of the notes."""
    return [*wrap(document["notes"][0], WIDTH), ""]


def text_notes(document: Mapping[str, Any]) -> list[str]:
    """The others, and what is not shown."""
    left_out = [title_of(document, table) for table in document["tables"] if not _has_ours(table)]
    more_notes = []
    if left_out and len(left_out) < len(document["tables"]):
        more_notes = [
            "Nothing is computed here of these; the paper's figures are in --format json and csv:",
            *left_out,
        ]
    return [line for note in (*document["notes"][1:], *more_notes) for line in wrap(note, WIDTH)]


def _has_ours(table: Mapping[str, Any]) -> bool:
    return any(row["ours"] for row in table["rows"])


def _text_table(document: Mapping[str, Any], table: Mapping[str, Any]) -> TextTable:
    alpha, names = ALPHAS[document["table"]], table["coefficients"]
    symbols = " ".join(SYMBOLS[name] for name in names)
    sets = ["paper"] if len(table["published_sets"]) == 1 else table["published_sets"]
    header = ["", *(f"{name} {symbols}" for name in sets), "here"]
    header += [SYMBOLS[name] for name in names]
    rows, group = [], ""
    for line in lines_of(table):
        if line.group != group:
            group = line.group
            rows.append([f"{group}:", *[""] * (len(header) - 1)])
        rows.append(
            [
                f"  {line.metric}" if line.metric else "",
                *(
                    _theirs(one, names)
                    for one in line.published or [{}] * len(table["published_sets"])
                ),
                line.source + _scored_text(line.ours),
                *(_ours(line.ours.get(name), alpha) for name in names),
            ]
        )
    return "\n".join(wrap(title_of(document, table), WIDTH)), header, rows


def title_of(document: Mapping[str, Any], table: Mapping[str, Any]) -> str:
    corpus = next(one for one in document["corpora"] if one["corpus"] == table["corpus"])
    rated = f", {corpus['published_rated']}" if "published_rated" in corpus else ""
    several = "s" if "," in table["number"] else ""
    theirs = f"Table{several} {table['number']}: {table['title']}. {corpus['title']}{rated}"
    if "reason" in table:
        return f"{theirs}; here: {table['reason']}"
    counts = {one["n"] for row in table["rows"] for group in row["ours"] for one in group["scored"]}
    of = f", {max(counts)} responses" if counts and table["level"] == "turn" else ""
    return (
        f"{theirs}; here {corpus['corpus']} {corpus['corpus_version']}, {corpus['aspect']}{of} of "
        f"{_systems(corpus)}"
    )


def _systems(corpus: Mapping[str, Any]) -> str:
    count = len(corpus["systems"])
    return f"{count} system{'' if count == 1 else 's'}"


def _theirs(one: Mapping[str, Any], names: list[str]) -> str:
    """Under each other's marks: a star stands beside the figure, or a blank does."""
    return (
        " ".join(_starred(one[name]["value"], one[name]["significant"]) for name in names)
        if one
        else ""
    )


def _starred(value: float, significant: bool) -> str:
    return f"{short(value)}{' ' if significant else NOT_SIGNIFICANT}"


def _ours(estimate: Mapping[str, Any] | None, alpha: float) -> str:
    if estimate is None:
        return ""
    if estimate["value"] is None:
        return Dash(estimate["reason"])
    text = _starred(estimate["value"], _is_significant(estimate, alpha))
    if "lowest" in estimate:
        return f"{text} {short(estimate['lowest'])} to {short(estimate['highest'])}"
    ends = estimate.get("ci")
    return f"{text} [{_end(ends[0])}, {_end(ends[1])}]" if ends else text


def _is_significant(estimate: Mapping[str, Any], alpha: float) -> bool:
    """Of a mean over seeds nothing is said; few systems, which have no p, show nothing."""
    if "p_reason" in estimate:
        return False
    p = estimate.get("p")
    return p is None or p < alpha


def short(value: float) -> str:
    """Four or five characters, as the paper's hundredths are: .568, -.073."""
    text = f"{value:.3f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def recorded(value: object) -> str:
    """A setting of a trained model; of an encoder without its revision."""
    return Dash(NOT_RECORDED) if value is None else str(value).partition("@")[0]


def _end(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def _scored_text(ours: Mapping[str, Any]) -> str:
    return (
        f", {format_share(ours['coverage'])} scored"
        if "coverage" in ours and is_partial(ours["coverage"])
        else ""
    )


def _findings(document: Mapping[str, Any]) -> Iterator[TextTable]:
    """A table for each corpus and what was trained."""
    places = dict.fromkeys((one["corpus"], one["of"]) for one in document["findings"])
    for corpus, of in places:
        rows = [
            [
                one["claim"],
                SYMBOLS[one["coefficient"]],
                " ".join(_signed(value, one["difference"]) for value in one["published"].values()),
                _found(one["ours"], one["difference"]),
                one["said"],
            ]
            for one in document["findings"]
            if (one["corpus"], one["of"]) == (corpus, of)
        ]
        about = f" ({of})" if of else ""
        yield f"Is ours like theirs? {corpus}{about}", ["finding", "", "theirs", "here", "so"], rows


def _found(ours: Mapping[str, Any], is_difference: bool) -> str:
    if ours["value"] is None:
        return Dash(ours["reason"])
    if ours["seeds"] == 1:
        return _signed(ours["value"], is_difference)
    ends = " to ".join(_signed(ours[end], is_difference) for end in ("lowest", "highest"))
    return f"{_signed(ours['value'], is_difference)} ({ends})"


def _signed(value: float, is_difference: bool) -> str:
    """Differences always have a sign."""
    text = short(value)
    return f"+{text}" if is_difference and not text.startswith("-") else text


# --- files ----------------------------------------------------------------------------------------


def to_csv(document: Mapping[str, Any]) -> str:
    """A line for each published figure of a set, each configuration and each mean over seeds."""
    return csv_table(_CSV_COLUMNS, [*_figure_rows(document), *_selection_rows(document)], "\n")


def _figure_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    alpha = ALPHAS[document["table"]]
    for table in document["tables"]:
        metric = ""
        for line in lines_of(table):
            metric = line.metric or metric
            place = {key: table[key] for key in ("corpus", "level")} | {
                "table": table["number"],
                "metric": metric,
            }
            for one in line.published:
                figures = {name: one[name] for name in table["coefficients"]}
                source = f"published, {one['set']}"
                yield {**place, "source": source, **_csv_figures(figures, alpha)}
            if line.ours:
                yield {**place, **_csv_ours(line, table["coefficients"], alpha)}


def _csv_figures(figures: Mapping[str, Mapping[str, Any]], alpha: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, figure in figures.items():
        found |= estimate_values(name, dict(figure))
        found |= {f"{name}_{end}": figure[end] for end in ("lowest", "highest") if end in figure}
        if figure["value"] is not None and "lowest" not in figure:
            is_it = figure.get("significant", _is_significant(figure, alpha))
            found[f"{name}_significant"] = str(is_it).lower()
    return found


def _csv_ours(line: Line, names: list[str], alpha: float) -> dict[str, Any]:
    what = ", ".join(part for part in (line.document["options"], line.document["of"]) if part)
    source = (
        f"mean of {line.document['seeds']} seeds" if line.is_mean else line.ours["configuration"]
    )
    drawn = line.ours.get("monte_carlo", {})
    return {
        "source": source,
        "of": what,
        "trained": "" if line.is_mean else line.ours["trained"] or "",
        "seed": "" if line.is_mean or line.ours["seed"] is None else line.ours["seed"],
        **{key: line.ours.get(key, "") for key in ("n", "coverage", "signature")},
        **_csv_figures({name: line.ours[name] for name in names}, alpha),
        "monte_carlo_error": drawn.get("error", ""),
        "monte_carlo_share": drawn.get("share") or "",
    }


def _selection_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in document["selection"]:
        for corpus, figures in row["published"].items():
            yield {"table": "5", "metric": row["loss"], "source": f"published, {corpus}", **figures}
        for ours in row["ours"]:
            figures = {name: ours[name]["value"] for name in ("R@1", "MRR")}
            source = (
                f"mean of {len(ours['models'])} seeds"
                if len(ours["models"]) > 1
                else ours["models"][0]
            )
            yield {
                "table": "5",
                "metric": row["loss"],
                "source": source,
                "of": ours["of"],
                **figures,
            }


def to_latex(document: Mapping[str, Any]) -> str:
    lines = [r"% needs \usepackage{booktabs}", comment(f"published: {document['published']}")]
    for table in document["tables"]:
        lines += _latex_table(document, table)
    for one in document["findings"]:
        theirs = ", ".join(short(value) for value in one["published"].values())
        here = _found(one["ours"], one["difference"])
        what = f"{one['claim']} ({one['of']})" if one["of"] else one["claim"]
        note = (
            f"{what}, {one['corpus']}, {one['coefficient']}: theirs {theirs}, here {here}, "
            f"{one['said']}"
        )
        lines.append(comment(note))
    lines += [comment(note) for note in document["notes"]]
    lines += [
        comment(f"{missing['corpus']}: {missing['reason']}") for missing in document["missing"]
    ]
    return "\n".join(lines)


def _latex_table(document: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    alpha, names = ALPHAS[document["table"]], table["coefficients"]
    symbols = [LATEX_SYMBOLS[name] for name in names]
    sets, width = table["published_sets"], len(names)
    heads = [rf"\multicolumn{{{width}}}{{c}}{{{escaped(words)}}}" for words in sets]
    lines = [
        comment(title_of(document, table)),
        *tabular(
            f"l{'r' * (width * len(sets))}l{'r' * width}",
            [
                ["", *heads, "", rf"\multicolumn{{{width}}}{{c}}{{{escaped(table['corpus'])}}}"],
                ["Metric", *symbols * len(sets), "Here", *symbols],
            ],
            ((line.group, _latex_cells(line, names, len(sets), alpha)) for line in lines_of(table)),
        ),
    ]
    scored = [one for row in table["rows"] for group in row["ours"] for one in group["scored"]]
    lines += [
        comment(
            f"{one['configuration']}, {table['corpus']}: {coverage_text(one['coverage'])}, "
            f"n = {one['n']}"
        )
        for one in scored
        if is_partial(one["coverage"])
    ]
    return [*lines, *(comment(one["signature"]) for one in scored)]


def _latex_cells(line: Line, names: list[str], sets: int, alpha: float) -> list[str]:
    theirs = [
        _latex_figure(one[name]["value"], one[name]["significant"]) if one else ""
        for one in line.published or [{}] * sets
        for name in names
    ]
    ours = [_latex_ours(line.ours.get(name), alpha) for name in names]
    return [escaped(line.metric), *theirs, escaped(line.source), *ours]


def _latex_ours(estimate: Mapping[str, Any] | None, alpha: float) -> str:
    if estimate is None:
        return ""
    if estimate["value"] is None:
        return "--"
    figure = _latex_figure(estimate["value"], _is_significant(estimate, alpha))
    if "lowest" not in estimate:
        return figure
    low, high = (_latex_figure(estimate[end], True) for end in ("lowest", "highest"))
    return rf"{figure} {{\scriptsize ({low} to {high})}}"


def _latex_figure(value: float, significant: bool) -> str:
    return f"{value:.3f}".replace("-", "$-$") + ("" if significant else "$^*$")
