"""What ``correlate`` says beside the global coefficients: averages, accuracies, corrected
coefficients."""

from __future__ import annotations

from typing import Any

from annotations.console import figure_with_interval
from common.estimates import Estimate
from leaderboard.answers.metrics import Averages, CorrelationRow, MetricCorrelations
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


def csv_values(row: CorrelationRow) -> list[Any]:
    values: list[Any] = []
    for key in (*GROUPED, CORRECTED):
        variant = row.variant(key)
        for name in COEFFICIENTS:
            values += _estimate(f"{key}_{name}", variant.of(name) if variant else None)
    for key in ACCURACIES:
        values += _estimate(key, row.accuracy(key))
    grouped = [row.variant(key) for key in GROUPED]
    return values + [one.groups if isinstance(one, Averages) else "" for one in grouped]


def _estimate(name: str, estimate: Estimate | None) -> list[Any]:
    if estimate is None:
        return [""] * len(estimate_columns([name]))
    return list(estimate_values(name, estimate.as_json()).values())


def variant_rows(document: MetricCorrelations) -> list[list[str]]:
    """Metric and variant, level, groups with a defined Pearson's r, nothing, the three
    coefficients."""
    rows = []
    for row in document.rows:
        for key, words in {
            **GROUPED,
            CORRECTED: "corrected for the unreliability of the human scores",
        }.items():
            variant = row.variant(key)
            if variant is None:
                continue
            n = (
                f"{variant.defined['pearson']} of {variant.groups}"
                if isinstance(variant, Averages)
                else str(row.n)
            )
            figures = [figure_with_interval(variant.of(name).as_json()) for name in COEFFICIENTS]
            rows.append([f"{row.metric}, {words}", row.level, n, "", *figures])
    return rows


def accuracy_rows(document: MetricCorrelations) -> list[list[str]]:
    return [
        [row.metric, row.level, words, figure_with_interval(accuracy.as_json())]
        for row in document.rows
        for key, words in ACCURACIES.items()
        if (accuracy := row.accuracy(key))
    ]


def undefined_variants(document: MetricCorrelations) -> list[tuple[str, str]]:
    """(what, why) of each variant's coefficient without a value."""
    return [
        (f"{row.metric}, {words} ({row.level})", variant.of(name).reason)
        for row in document.rows
        for key, words in {**GROUPED, CORRECTED: "corrected"}.items()
        if (variant := row.variant(key))
        for name in COEFFICIENTS
        if not variant.of(name).is_defined
    ]


def undefined_accuracies(document: MetricCorrelations) -> list[tuple[str, str]]:
    return [
        (f"{row.metric}, {words} ({row.level})", accuracy.reason)
        for row in document.rows
        for key, words in ACCURACIES.items()
        if (accuracy := row.accuracy(key)) and not accuracy.is_defined
    ]
