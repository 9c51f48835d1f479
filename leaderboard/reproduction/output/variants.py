"""What ``correlate`` says beside the global coefficients: averages, accuracies, corrected
coefficients."""

from __future__ import annotations

from typing import Any

from annotations.console import figure_with_interval
from leaderboard.reproduction.output.estimate_columns import estimate_columns, estimate_values

COEFFICIENTS = ("pearson", "spearman", "kendall")
GROUPED = {
    "per_dialogue": "within dialogues",
    "per_input": "within inputs",
    "per_system": "within systems",
}
CORRECTED = "attenuation_corrected"
ACCURACIES = {
    "pairwise_accuracy": "pairwise",
    "soft_pairwise_accuracy": "soft pairwise",
    "tie_calibrated_accuracy": "tie-calibrated",
}
_NAMES = [f"{key}_{name}" for key in (*GROUPED, CORRECTED) for name in COEFFICIENTS]
CSV_COLUMNS = [*estimate_columns([*_NAMES, *ACCURACIES]), *(f"{key}_groups" for key in GROUPED)]
"""A column is empty where the level has no such variant."""


def csv_values(row: dict[str, Any]) -> list[Any]:
    values: list[Any] = []
    for key in (*GROUPED, CORRECTED):
        for name in COEFFICIENTS:
            values += _estimate(f"{key}_{name}", row.get(key, {}).get(name))
    for key in ACCURACIES:
        values += _estimate(key, row.get(key))
    return values + [row.get(key, {}).get("groups", "") for key in GROUPED]


def _estimate(name: str, estimate: dict[str, Any] | None) -> list[Any]:
    if estimate is None:
        return [""] * len(estimate_columns([name]))
    return list(estimate_values(name, estimate).values())


def variant_rows(document: dict[str, Any]) -> list[list[str]]:
    """Metric and variant, level, groups with a defined Pearson's r, nothing, the three
    coefficients."""
    rows = []
    for row in document["rows"]:
        for key, words in GROUPED.items():
            if key in row:
                rows.append(
                    _table_row(
                        row, key, words, f"{row[key]['defined']['pearson']} of {row[key]['groups']}"
                    )
                )
        if CORRECTED in row:
            rows.append(
                _table_row(
                    row,
                    CORRECTED,
                    "corrected for the unreliability of the human scores",
                    str(row["n"]),
                )
            )
    return rows


def _table_row(row: dict[str, Any], key: str, words: str, n: str) -> list[str]:
    figures = [figure_with_interval(row[key][name]) for name in COEFFICIENTS]
    return [f"{row['metric']}, {words}", row["level"], n, "", *figures]


def accuracy_rows(document: dict[str, Any]) -> list[list[str]]:
    return [
        [row["metric"], row["level"], words, figure_with_interval(row[key])]
        for row in document["rows"]
        for key, words in ACCURACIES.items()
        if key in row
    ]


def undefined_variants(document: dict[str, Any]) -> list[tuple[str, str]]:
    """(what, why) of each variant's coefficient without a value."""
    variants = {**GROUPED, CORRECTED: "corrected"}
    return [
        (f"{row['metric']}, {words} ({row['level']})", row[key][name]["reason"])
        for row in document["rows"]
        for key, words in variants.items()
        for name in COEFFICIENTS
        if key in row and row[key][name]["value"] is None
    ]


def undefined_accuracies(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{row['metric']}, {words} ({row['level']})", row[key]["reason"])
        for row in document["rows"]
        for key, words in ACCURACIES.items()
        if key in row and row[key]["value"] is None
    ]
