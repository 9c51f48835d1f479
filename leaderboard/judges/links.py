"""Ways from other pages of a corpus to the judge inspector."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse
from django.utils.http import urlencode

from annotations.models import CorpusVersion
from leaderboard.queries.judge_items import is_judge
from workers.metrics.configuration import ConfigurationError, parse


def inspector_links(
    version: CorpusVersion, configurations: Iterable[str], aspect: str, **place: int
) -> list[tuple[str, str]]:
    """(configuration, address) of those that ask a language model; each once. ``place``:
    ``dialogue``, ``turn``."""
    address = reverse("judge-inspector", args=[version.corpus.slug])
    return [
        (
            text,
            f"{address}?"
            + urlencode({"metric": text, "aspect": aspect, "version": version.number, **place}),
        )
        for text in dict.fromkeys(configurations)
        if _asks_a_model(text)
    ]


def _asks_a_model(text: str) -> bool:
    """Not so of scores that were handed in, nor of a metric that is not installed any more."""
    try:
        return is_judge(parse(text))
    except ConfigurationError:
        return False
