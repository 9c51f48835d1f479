"""Estimates back from stored answers, for figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.estimates import Estimate


def levels_of(document: Mapping[str, Any]) -> list[str]:
    return list(document["leave_one_out_agreement"])


def people_estimate(
    by_level: Mapping[str, Mapping[str, Any]] | None, level: str, coefficient: str
) -> Estimate:
    """A ceiling, a reliability or people's agreement back from its JSON form: bare values,
    intervals beside them.

    Args:
        by_level: ``document["correlation_ceiling"]`` or one of its kind; None where it was not
        asked for.
    """
    if by_level is None:
        return Estimate.undefined("not computed yet")
    if level not in by_level:
        return Estimate.undefined(f"nobody rated at the {level} level")
    values = by_level[level]
    value = values[coefficient]
    if isinstance(value, dict):
        return Estimate.undefined(value["reason"])
    ci = values.get("ci", {}).get(coefficient)
    reason = values.get("ci_reason", {}).get(coefficient, "")
    return Estimate(value, (ci[0], ci[1]) if ci else None, reason=reason)


def ceiling_of(document: Mapping[str, Any], level: str, coefficient: str = "pearson") -> Estimate:
    """The highest correlation with the mean human score that a perfect metric could reach."""
    return people_estimate(document.get("correlation_ceiling"), level, coefficient)
