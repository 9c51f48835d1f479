"""``{% load model_worth %}{% model_worth configuration %}``: what its judge is worth, where that is
known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template

from workers.judges.core.model_caveats import caveat_in_short, caveat_of, caveat_of_model
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse

register = template.Library()


@register.inclusion_tag("components/model_worth.html")
def model_worth(judge: Configuration | str) -> dict[str, Any]:
    """``judge``: a configuration, its text, or a model's name. Draws nothing where there is nothing
    to say."""
    return {"worth": _worth(judge)}


def _worth(judge: Configuration | str) -> str:
    if isinstance(judge, Configuration):
        return caveat_of(judge)
    if known := caveat_of_model(judge):
        return known
    try:
        return caveat_of(parse(judge))
    except ConfigurationError:
        return ""


@register.filter
def short_worths(judges: Iterable[tuple[str, str]]) -> list[str]:
    """What is known of the judges of (configuration, address) pairs, in few words, each once with
    its judges."""
    by_words: dict[str, list[str]] = {}
    for text, _ in judges:
        if words := _in_short(text):
            by_words.setdefault(words, []).append(text)
    return [f"{', '.join(texts)}: {words}." for words, texts in by_words.items()]


def _in_short(text: str) -> str:
    try:
        return caveat_in_short(parse(text))
    except ConfigurationError:
        return ""
