"""The adversarial check as text, CSV and LaTeX: of each metric the accuracy on each kind of spoilt
answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotations.console import figure_with_interval
from common.tables.csv_text import csv_line
from common.tables.dash import Dash
from common.tables.latex_text import comment, escaped, row_of
from workers.training.core.adversarial import KINDS

COLUMNS = ("kind", "pairs", "dialogues", "higher", "equal", "undefined")


def header() -> list[str]:
    return ["metric", *KINDS, "pairs", "ties", "undefined"]


def text_rows(document: dict[str, Any]) -> list[list[str]]:
    """A line a metric: accuracies side by side; pairs, ties and undefined ones by kind, once where
    all are alike."""
    return [
        [metric, *(_text_cell(row["accuracy"]) for row in rows), *_counts(rows)]
        for metric, rows in _by_metric(document).items()
    ]


def _text_cell(accuracy: dict[str, Any]) -> str:
    return Dash(accuracy["reason"]) if accuracy["value"] is None else figure_with_interval(accuracy)


def to_csv(document: dict[str, Any]) -> str:
    of_accuracy = ["accuracy", "ci_low", "ci_high", "reason"]
    lines = [csv_line(["metric", *COLUMNS, *of_accuracy, "seed", "model", "signature"], "\n")]
    for row in document["rows"]:
        accuracy = row["accuracy"]
        low, high = accuracy.get("ci") or (None, None)
        reason = accuracy.get("reason", accuracy.get("ci_reason", ""))
        cells = [row["metric"], *map(row.get, COLUMNS), accuracy["value"], low, high, reason]
        lines.append(csv_line([*cells, document["seed"], row["model"], row["signature"]], "\n"))
    return "".join(lines)


def to_latex(document: dict[str, Any]) -> str:
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{tabular}{l" + "r" * len(KINDS) + "}",
            r"\toprule",
            row_of(["Metric", *(kind.capitalize() for kind in KINDS)]),
            r"\midrule",
            *(
                row_of([escaped(metric), *(_latex_cell(row["accuracy"]) for row in rows)])
                for metric, rows in _by_metric(document).items()
            ),
            r"\bottomrule",
            r"\end{tabular}",
            comment(
                "share of answers that score above what was made of them, 95 % interval over "
                f"dialogues; {document['pairs']} pairs of {document['dialogues']} dialogues, seed "
                f"{document['seed']}; {data_text(document)}"
            ),
            comment(document["published"]),
            *dict.fromkeys(comment(row["signature"]) for row in document["rows"]),
        ]
    )


def data_text(document: dict[str, Any]) -> str:
    data: dict[str, str] = document["data"]
    if "corpus" in data:
        return f"{data['corpus']} {data['version']}"
    return f"{Path(data['file']).name} (SHA-256 {data['sha256'][:12]}…)"


def _by_metric(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in document["rows"]:
        found.setdefault(row["metric"], []).append(row)
    return found


def _counts(rows: list[dict[str, Any]]) -> list[str]:
    return [_once([str(row[name]) for row in rows]) for name in ("pairs", "equal", "undefined")]


def _once(cells: list[str]) -> str:
    return cells[0] if len(set(cells)) == 1 else "/".join(cells)


def _latex_cell(accuracy: dict[str, Any]) -> str:
    if accuracy["value"] is None:
        return "--"
    text = f"{accuracy['value']:.3f}"
    if accuracy.get("ci"):
        low, high = accuracy["ci"]
        text += f" [{low:.3f}, {high:.3f}]"
    return text
