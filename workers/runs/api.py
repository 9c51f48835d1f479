"""Metrics over the API."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from common.api.access import Token
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration
from workers.metrics.registry import all_metrics

router = Router()

Value = bool | int | float | str


class OptionOut(Schema):
    name: str = Field(description="As it stands in `name[key=value]`.")
    default: Value = Field(description="What holds where it is not written.")
    help: str = Field(description="What it does.")
    choices: list[Value] = Field(
        description="What it may be; empty: anything of the default's type."
    )


class MetricOut(Schema):
    name: str = Field(description="As configurations are written: `name[key=value,…]`.")
    version: str = Field(description="Results of another version are other results.")
    summary: str = Field(description="What it measures.")
    description: str = Field(
        description="What it measures and what it misses: paragraphs, blank lines between them."
    )
    equation: str = Field(
        description="In LaTeX; a blank line begins another one. Empty where none is given."
    )
    citation: str = Field(description="Where it was published.")
    higher_is_better: bool = Field(description="The direction.")
    levels: list[Literal["turn", "dialogue", "system"]] = Field(description="Where it has scores.")
    needs: list[str] = Field(description="What it looks at beside the response.")
    range: tuple[float | None, float | None] = Field(
        description="Least and greatest score; null where there is none."
    )
    options: list[OptionOut] = Field(description="What can be set.")
    obstacle: str | None = Field(description="Why it cannot be computed on this machine, or null.")


class MetricList(Schema):
    items: list[MetricOut] = Field(description="In the registry's order.")
    next: None = Field(None, description="Always null: the list is whole.")


@router.get(
    "/metrics",
    auth=Token("read", anybody=True),
    response=MetricList,
    operation_id="list_metrics",
    summary="Metrics that this site computes",
    tags=["metrics"],
)
def list_metrics(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001  ninja hands it over
    return {"items": [_metric(metric) for metric in all_metrics().values()], "next": None}


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "version": metric.version,
        "summary": metric.summary,
        "description": metric.description,
        "equation": metric.equation.strip(),
        "citation": metric.citation,
        "higher_is_better": metric.higher_is_better,
        "levels": [level for level in ("turn", "dialogue", "system") if level in metric.levels],
        "needs": sorted(metric.needs),
        "range": metric.value_range,
        "options": [
            {
                "name": one.name,
                "default": one.default,
                "help": one.help,
                "choices": list(one.choices),
            }
            for one in metric.options
        ],
        "obstacle": Configuration.of(metric).missing() or None,
    }
