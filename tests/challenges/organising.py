"""What tests of the organiser's pages send and read."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse


def page_of(client: Client, page: str, /, *arguments: Any, **query: str) -> str:
    answer = client.get(reverse(page, args=arguments), query)
    assert answer.status_code == 200, answer.status_code
    return " ".join(answer.content.decode().split())


def said(client: Client, button: str, /, *arguments: Any, **data: Any) -> str:
    """What the page says after a button was pressed."""
    answer = client.post(reverse(button, args=arguments), data, follow=True)
    assert answer.status_code == 200, answer.status_code
    return " ".join(str(message) for message in answer.context["messages"])


def round_form(version: Any, /, **changes: Any) -> dict[str, Any]:
    """What the browser sends when one types a name and nothing else."""
    return {
        "name": "Round 9",
        "slug": "",
        "version": version.pk,
        "references": "public",
        "zone": "UTC",
        "opens_at": "",
        "closes_at": "",
        "release_at": "",
        "tracks": ["gpu", "prompt"],
        "daily_limit": "5",
        "total_limit": "100",
        "metrics": ["word_f1", "bleu_4"],
        "private_metrics": [],
        "ranking_metric": "word_f1",
        "more_metrics": "",
        "entry": "best",
        "public_share": "100",
        "split_seed": "7",
        "shows_corpus_baselines": "on",
        "endpoint": "",
        "calls_per_utterance": "2",
        "input_tokens_per_dialogue": "10000",
        "output_tokens_per_dialogue": "1000",
        "input_price": "",
        "output_price": "",
        **changes,
    }
