"""Cells of correlations, made from their JSON form; what boards and the pages of metrics share."""

from __future__ import annotations

from typing import Any

from annotations.tables import Cell

COEFFICIENTS = (("pearson", "r"), ("spearman", "ρ"), ("kendall", "τ"))
COEFFICIENT_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ-b"}


def cell_of(estimate: dict[str, Any], note: str = "") -> Cell:
    """The cell of an estimate in its JSON form."""
    if estimate["value"] is None:
        return Cell(reason=estimate["reason"])
    if estimate.get("ci_reason"):
        note = "; ".join(part for part in (note, f"no interval: {estimate['ci_reason']}") if part)
    return Cell(estimate["value"], ci=_interval(estimate.get("ci")), p=estimate.get("p"), note=note)


def _interval(ends: list[float] | None) -> tuple[float, float] | None:
    return (ends[0], ends[1]) if ends else None


def ceiling_cell(values: dict[str, Any], name: str) -> Cell:
    value = values[name]
    if isinstance(value, dict):
        return Cell(reason=value["reason"])
    estimate = {"value": value, "ci": values.get("ci", {}).get(name)}
    return cell_of({**estimate, "ci_reason": values.get("ci_reason", {}).get(name)})


def coverage_note(row: dict[str, Any]) -> str:
    parts = [row["note"]] if row.get("note") else []
    if row["coverage"] is not None and row["coverage"] < 1:
        parts.append(f"{row['coverage']:.0%} of what people rated has a score")
    return "; ".join(parts)


def of_all_levels(signature: str) -> str:
    """Level and n differ from column to column and stand there; the rest of the signature is one for the row."""
    return "|".join(fact for fact in signature.split("|") if fact.partition(":")[0] not in ("level", "n"))
