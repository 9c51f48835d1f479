"""What tests of hidden corpora and withheld systems read: every page that anybody reads, with its
files."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from tests.dialeval_site.corpus_pages import CORPUS_PAGES, place_of
from tests.dialeval_site.small_challenges import (
    CUP,
    HIDDEN,
    OPEN,
)
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC

QUERIES = (
    "",
    "?version=1",
    "?aspect=overall",
    "?level=turn",
    "?sort=-system",
    "?metric=word_f1",
    "?turn=1",
)


def files(client: Client, place: str) -> list[str]:
    return [
        f"?download={one}"
        for one in sorted(set(re.findall(r"download=([\w.-]+)", text_of(client.get(place)))))
    ]


def pages_of_all() -> list[str]:
    """Every page that anybody reads, and one's own."""
    places = [place_of(name, PUBLIC) for name in CORPUS_PAGES]
    names = ("home", "desk", "metrics", "challenges", "my-submissions", "rate", "account", "runs")
    in_rounds = [
        reverse(name, args=[CUP, slug])
        for name in (
            "round",
            "board",
            "round-dialogues",
            "round-template",
            "prompt-new",
            "round-settings",
        )
        for slug in (OPEN, HIDDEN)
    ]
    of_cup = [reverse(name, args=[CUP]) for name in ("challenge", "challenge-rules", "team")]
    return [*places, *map(reverse, names), *in_rounds, *of_cup]


def pages_of_the_hidden_corpus() -> list[str]:
    return [place_of(name, PRIVATE) for name in CORPUS_PAGES]


def text_of(answer: Any) -> str:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{dict(answer.headers)} {body.decode('utf-8', 'replace')}"
