"""ComperDial's tables with ours beneath each row, as text, CSV and LaTeX. No Django here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from common.tables.csv_text import csv_table
from common.tables.latex_text import comment, escaped
from common.tables.numerals import Dash
from leaderboard.estimate_cells import coverage_text, format_share, is_partial
from leaderboard.reproduction.output.estimate_columns import estimate_columns, estimate_values
from leaderboard.reproduction.output.latex import LATEX_SYMBOLS, tabular
from leaderboard.reproduction.published import NOT_SIGNIFICANT

SYMBOLS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
COEFFICIENTS = tuple(SYMBOLS)
PUBLISHED, NOTHING, ALPHA = "published", "–", 0.05
_CSV_COLUMNS = [
    *("table", "metric", "source", "model", "corpus", "level", "n", "coverage"),
    *estimate_columns(COEFFICIENTS),
    *(f"{name}_significant" for name in COEFFICIENTS),
    "signature",
]


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a table: the paper's figures, or ours."""

    group: str
    metric: str
    source: str
    model: str
    cells: list[dict[str, Any]]


def _lines(table: dict[str, Any]) -> Iterator[_Line]:
    """A row's published lines, then ours."""
    for row in table["rows"]:
        for printed in row["published"]:
            yield _Line(row["group"], row["metric"], PUBLISHED, printed["model"], printed["cells"])
        for ours in row["ours"]:
            models = ", ".join(dict.fromkeys(model.partition("@")[0] for model in ours["models"]))
            yield _Line(row["group"], row["metric"], ours["configuration"], models, ours["cells"])


# --- text -----------------------------------------------------------------------------------------


def text_tables(document: dict[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Title, header and lines of each."""
    for table in document["tables"]:
        yield _title(table), _header(table), _text_rows(table)


def _title(table: dict[str, Any]) -> str:
    reasons = dict.fromkeys(place["reason"] for place in table["places"] if "reason" in place)
    suffix = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{_name(table)}{suffix}"


def _name(table: dict[str, Any]) -> str:
    return (
        table["title"]
        if table["title"].startswith("As ")
        else f"Table {table['number']}. {table['title']}"
    )


def _header(table: dict[str, Any]) -> list[str]:
    columns = ["metric", "source", "model"]
    for place in table["places"]:
        first, *rest = (SYMBOLS[name] for name in table["coefficients"])
        columns += [f"{_short(table, place)} {first}", *rest, "n"]
    return columns


def _short(table: dict[str, Any], place: dict[str, Any]) -> str:
    """The corpus where the table has several, else the level."""
    several = len({one["corpus"] for one in table["places"]}) > 1
    return str(place["title"] if several else place["level"])


def _text_rows(table: dict[str, Any]) -> list[list[str]]:
    return [
        [
            line.metric,
            line.source,
            line.model,
            *(text for cell in line.cells for text in _text_cell(table, cell)),
        ]
        for line in _lines(table)
    ]


def _text_cell(table: dict[str, Any], cell: dict[str, Any]) -> list[str]:
    figures = [_figure(cell[name], NOT_SIGNIFICANT, " ", NOTHING) for name in table["coefficients"]]
    return [*figures, _pairs(cell)]


def _pairs(cell: dict[str, Any]) -> str:
    if "n" not in cell:
        return ""
    return (
        f"{cell['n']} ({format_share(cell['coverage'])} scored)"
        if is_partial(cell["coverage"])
        else str(cell["n"])
    )


def _figure(estimate: dict[str, Any], star: str, no_star: str, nothing: str) -> str:
    if estimate["value"] is None:
        return Dash(estimate.get("reason") or "the paper has no figure", nothing + no_star)
    return f"{estimate['value']:.3f}{no_star if _is_significant(estimate) else star}"


def _is_significant(estimate: dict[str, Any]) -> bool:
    """As the paper says it; of ours, whether p is below .05. Where no p is known nothing is said
    against it, and where systems are too few for a p, nothing for it."""
    if "significant" in estimate:
        return bool(estimate["significant"])
    if "p_reason" in estimate:
        return False
    p = estimate.get("p")
    return p is None or p < ALPHA


# --- files ----------------------------------------------------------------------------------------


def to_csv(document: dict[str, Any]) -> str:
    """One line for each place of each line of the tables; of published figures, the value and
    whether it is starred."""
    lines = ((table, line) for table in document["tables"] for line in _lines(table))
    rows = (_csv_row(table, line, cell) for table, line in lines for cell in line.cells)
    return csv_table(_CSV_COLUMNS, rows, "\n")


def _csv_row(table: dict[str, Any], line: _Line, cell: dict[str, Any]) -> dict[str, Any]:
    row = {
        "table": table["number"] if not table["title"].startswith("As ") else table["title"],
        "metric": line.metric,
        "source": line.source,
        "model": line.model,
        **{key: cell.get(key, "") for key in ("corpus", "level", "n", "coverage", "signature")},
    }
    for name in table["coefficients"]:
        row |= estimate_values(name, cell[name])
        row[f"{name}_significant"] = (
            "" if cell[name]["value"] is None else str(_is_significant(cell[name])).lower()
        )
    return row


def to_latex(document: dict[str, Any]) -> str:
    lines = [r"% needs \usepackage{booktabs}", comment(f"published: {document['published']}")]
    for table in document["tables"]:
        lines += _latex_table(table)
    lines += [comment(note) for note in document["notes"]]
    lines += [
        comment(f"{missing['corpus']}: {missing['reason']}") for missing in document["missing"]
    ]
    lines += [
        comment(f"{', '.join(one['configurations'])}: {one['worth']}") for one in document["worth"]
    ]
    return "\n".join(lines)


def _latex_table(table: dict[str, Any]) -> list[str]:
    width = len(table["coefficients"])
    places = [
        rf"\multicolumn{{{width}}}{{c}}{{{escaped(_short(table, place))}}}"
        for place in table["places"]
    ]
    symbols = [LATEX_SYMBOLS[name] for _ in table["places"] for name in table["coefficients"]]
    lines = [
        comment(_title(table)),
        *tabular(
            f"lll{'r' * len(symbols)}",
            [["", "", "", *places], ["Metric", "Source", "Model", *symbols]],
            ((line.group, _latex_cells(table, line)) for line in _lines(table)),
        ),
    ]
    lines += [
        comment(
            f"{line.source}, {cell['corpus']}, {cell['level']} level: "
            f"{coverage_text(cell['coverage'])}, n = {cell['n']}"
        )
        for line in _lines(table)
        for cell in line.cells
        if "coverage" in cell and is_partial(cell["coverage"])
    ]
    lines += [
        comment(cell["signature"])
        for line in _lines(table)
        for cell in line.cells
        if "signature" in cell
    ]
    return lines


def _latex_cells(table: dict[str, Any], line: _Line) -> list[str]:
    figures = [
        _figure(cell[name], "$^*$", "", "--")
        for cell in line.cells
        for name in table["coefficients"]
    ]
    names = [escaped(text) for text in (line.metric, line.source, line.model)]
    return [*names, *(figure.replace("-0", "$-$0") for figure in figures)]
