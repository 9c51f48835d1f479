"""Estimates back from stored answers, for figures."""

from __future__ import annotations

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
