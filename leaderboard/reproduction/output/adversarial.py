"""The adversarial check as text, CSV and LaTeX: of each metric the accuracy on each kind of spoilt
answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotations.console import figure_with_interval
from common.tables.csv_text import csv_line
from common.tables.latex_text import comment, escaped, row_of
from common.tables.numerals import Dash

COLUMNS = ("kind", "pairs", "dialogues", "higher", "equal", "undefined")


def header(document: dict[str, Any]) -> list[str]:
    return ["metric", *_kinds(document), "pairs", "ties", "undefined"]


def _kinds(document: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["kind"] for row in document["rows"]))


def histogram_tables(document: dict[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Of each metric, for each bin of scores, which share of each kind's lies in it."""
    for one in document["histograms"]:
        if "reason" in one:
            yield f"{one['metric']}: {one['reason']}", [], []
            continue
        bins = pairwise(one["edges"])
        rows = [
            [
                f"{low:.3f} to {high:.3f}",
                *(f"{of_kind[place]:.3f}" for of_kind in one["shares"].values()),
            ]
            for place, (low, high) in enumerate(bins)
        ]
        yield one["metric"], ["scores", *one["shares"]], rows


def selection_rows(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            row["metric"],
            *(
                Dash(row["reason"]) if row[name] is None else f"{row[name]:.4f}"
                for name in ("R@1", "MRR")
            ),
            str(row["candidates"]),
            str(row["contexts"]),
            str(row["undefined"]),
        ]
        for row in rows
    ]


def text_rows(document: dict[str, Any]) -> list[list[str]]:
    """A line a metric: accuracies side by side; pairs, ties and undefined ones by kind, once where
    all are alike."""
    return [
        [metric, *(_text_cell(row["accuracy"]) for row in rows), *_counts(rows)]
        for metric, rows in _by_metric(document).items()
    ]


def _text_cell(accuracy: dict[str, Any]) -> str:
    return Dash(accuracy["reason"]) if accuracy["value"] is None else figure_with_interval(accuracy)


def undefined_text(document: dict[str, Any]) -> Iterator[str]:
    """Of each metric with pairs that have no score: why, and how many."""
    for metric, rows in _by_metric(document).items():
        reasons = Counter[str]()
        for row in rows:
            reasons.update(row.get("undefined_reasons", {}))
        if reasons:
            listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
            yield f"Pairs without a score of {metric}: {listed}."


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
    kinds = _kinds(document)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{tabular}{l" + "r" * len(kinds) + "}",
            r"\toprule",
            row_of(["Metric", *(escaped(kind.capitalize()) for kind in kinds)]),
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
    if "folder" in data:
        return Path(data["folder"]).name
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
