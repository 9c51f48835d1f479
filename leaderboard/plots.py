"""Estimates back from stored answers, for figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.estimates import Estimate


def estimate_of(document: dict[str, Any]) -> Estimate:
    """An estimate back from its JSON form."""
    if document["value"] is None:
        return Estimate.undefined(document["reason"])
    ci = document.get("ci")
    return Estimate(document["value"], (ci[0], ci[1]) if ci else None, document.get("p"), document.get("ci_reason", ""))


def ceiling_of(document: dict[str, Any], level: str, name: str = "pearson") -> Estimate:
    value = document["human_ceiling"][level][name]
    return Estimate.undefined(value["reason"]) if isinstance(value, dict) else Estimate(value)


def split_half_ceiling(document: Mapping[str, Any], level: str, coefficient: str) -> float | None:
    """Where raters are anonymous it is the only ceiling: halves of an item's ratings need no names."""
    found = document.get("split_half", {}).get(level, {}).get(coefficient)
    return found.get("value") if isinstance(found, dict) else found
