"""Estimates as columns of a CSV file: the value, p, the interval's ends, and why one of them is
missing. No Django."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PARTS = ("", "_p", "_low", "_high", "_reason")


def estimate_columns(names: Iterable[str]) -> list[str]:
    return [f"{name}{part}" for name in names for part in PARTS]


def estimate_values(name: str, estimate: dict[str, Any]) -> dict[str, Any]:
    """By column, of an estimate in its JSON form."""
    low, high = estimate.get("ci") or (None, None)
    reasons = (estimate.get(key) for key in ("reason", "ci_reason", "p_reason"))
    reason = "; ".join(reason for reason in reasons if reason)
    return dict(
        zip(
            estimate_columns([name]),
            (estimate["value"], estimate.get("p"), low, high, reason),
            strict=True,
        )
    )
