"""``{% load model_worth %}{% model_worth configuration %}``: what its judge is worth, where that is known."""

from __future__ import annotations

from typing import Any

from django import template

from workers.judging.worth import worth_of, worth_of_model
from workers.metrics.configuration import Configuration, ConfigurationError, parse

register = template.Library()


@register.inclusion_tag("components/model_worth.html")
def model_worth(judge: Configuration | str) -> dict[str, Any]:
    """``judge``: a configuration, its text, or a model's name. Draws nothing where there is nothing to say."""
    return {"worth": _worth(judge)}


def _worth(judge: Configuration | str) -> str:
    if isinstance(judge, Configuration):
        return worth_of(judge)
    if known := worth_of_model(judge):
        return known
    try:
        return worth_of(parse(judge))
    except ConfigurationError:
        return ""
