"""The FBD paper's table beside ours, as text, CSV and LaTeX. No Django here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from common.tables.csv_text import csv_table
from common.tables.latex_text import comment, escaped
from common.tables.numerals import Dash
from leaderboard.reproduction.output.estimate_columns import estimate_values
from leaderboard.reproduction.output.latex import tabular

COEFFICIENTS = (("spearman", "Spr."), ("pearson", "Pr."))
AGAINST = "†"
_CSV_COLUMNS = [
    "metric",
    "source",
    "corpus",
    "aspect",
    "n",
    *(
        f"{name}{part}"
        for name, _ in COEFFICIENTS
        for part in ("", "_absolute", "_p", "_low", "_high", "_reason")
    ),
    "signature",
]
Line = tuple[str, str, list[str]]
"""Metric, where the figures are from, two figures a corpus."""


def header(document: dict[str, Any]) -> list[str]:
    return ["metric", "source", *(corpus["title"] for corpus in document["corpora"])]


def text_rows(document: dict[str, Any]) -> list[list[str]]:
    """A line for each published figure of a metric, then one for ours; both coefficients of a
    corpus in one column."""
    rows = [["", "", *(_two(short for _, short in COEFFICIENTS) for _ in document["corpora"])]]
    for metric, source, figures in _lines(document, AGAINST, "–"):
        rows.append(
            [
                metric,
                source,
                *(_two(pair) for pair in zip(figures[::2], figures[1::2], strict=True)),
            ]
        )
    return rows


def _two(figures: Iterable[str]) -> str:
    """Under each other's marks: a dagger stands beside the figure, or a blank does."""
    parts = [*figures]
    return Dash.joined(parts, " ".join(f"{figure:5}" for figure in parts))


def to_csv(document: dict[str, Any]) -> str:
    """One line a figure: published ones hold absolute values only."""
    return csv_table(_CSV_COLUMNS, _csv_rows(document), "\n")


def _csv_rows(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in document["rows"]:
        for cell in row["cells"]:
            for published in cell["published"]:
                printed = {f"{name}_absolute": published[name] for name, _ in COEFFICIENTS}
                source = (
                    f"published, {published['encoder']}" if published["encoder"] else "published"
                )
                yield {
                    "metric": row["metric"],
                    "source": source,
                    "corpus": cell["corpus"],
                    "aspect": cell.get("aspect"),
                    **printed,
                }
            yield {
                "metric": row["metric"],
                "source": row["configuration"],
                "corpus": cell["corpus"],
                "aspect": cell.get("aspect"),
                "n": cell.get("n"),
                "signature": cell.get("signature"),
                **_csv_estimates(cell),
            }


def _csv_estimates(cell: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, _ in COEFFICIENTS:
        found |= estimate_values(name, cell[name]) | {
            f"{name}_absolute": cell[name].get("absolute")
        }
    return found


def to_latex(document: dict[str, Any]) -> str:
    titles = [
        rf"\multicolumn{{2}}{{c}}{{{escaped(corpus['title'])}}}" for corpus in document["corpora"]
    ]
    shorts = [short for _ in document["corpora"] for _, short in COEFFICIENTS]
    groups = {row["metric"]: row["group"] for row in document["rows"]}
    lines = [
        r"% needs \usepackage{booktabs}",
        *tabular(
            "ll" + "rr" * len(document["corpora"]),
            [["", "", *titles], ["Metric", "Encoder", *shorts]],
            (
                (groups[metric], [escaped(metric), escaped(source), *figures])
                for metric, source, figures in _lines(document, r"$^\dagger$", "--")
            ),
        ),
        comment(f"published: {document['published']}"),
    ]
    lines += [comment(note.replace(AGAINST, "dagger")) for note in document["notes"]]
    lines += [
        comment(f"{missing['corpus']}: {missing['reason']}") for missing in document["missing"]
    ]
    lines += [
        comment(cell["signature"])
        for row in document["rows"]
        for cell in row["cells"]
        if "signature" in cell
    ]
    return "\n".join(lines)


def _lines(document: dict[str, Any], against: str, nothing: str) -> Iterator[Line]:
    for row in document["rows"]:
        encoders = [published["encoder"] for published in row["cells"][0]["published"]]
        for place, encoder in enumerate(encoders):
            printed = [cell["published"][place] for cell in row["cells"]]
            yield (
                row["metric"],
                encoder or "published",
                [_figure(cell[name]) for cell in printed for name, _ in COEFFICIENTS],
            )
        shown = _shown(against, nothing)
        yield (
            row["metric"],
            _our_source(row),
            [shown(cell[name]) for cell in row["cells"] for name, _ in COEFFICIENTS],
        )


def _shown(against: str, nothing: str) -> Callable[[dict[str, Any]], str]:
    def shown(estimate: dict[str, Any]) -> str:
        if estimate["value"] is None:
            return Dash(estimate["reason"], nothing)
        return f"{_figure(estimate['absolute'])}{against if estimate['against_direction'] else ''}"

    return shown


def _figure(value: float) -> str:
    """Four characters, as the paper has them: .400, 1.00."""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text[:-1]


def _our_source(row: dict[str, Any]) -> str:
    """The models that made our figures, without their revisions. Of another than the row's own
    configuration, its options."""
    if not row["cells"][0]["published"]:
        return str(row["configuration"])
    names = dict.fromkeys(model.partition("@")[0] for model in row["models"])
    return ", ".join([*names]) or "dialeval"
