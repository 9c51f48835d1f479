"""What tests of participants' pages share: addresses of a round, texts of answers, handing in a
file."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from leaderboard.challenges.models import Round
from tests.challenges.sets import good_file


def address(name: str, round: Round, **query: str) -> str:
    return reverse(name, args=[round.challenge.slug, round.slug]) + (
        "?" + "&".join(f"{key}={value}" for key, value in query.items()) if query else ""
    )


def text_of(answer: Any) -> str:
    """What came. Of a page, a run of whitespace is one space, as a browser shows it."""
    text = b"".join(answer).decode() if answer.streaming else answer.content.decode()
    return " ".join(text.split()) if "html" in answer["Content-Type"] else text


def file_of(data: bytes, name: str = "responses.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def hand_in(
    client: Client, round: Round, data: bytes | None = None, name: str = "first", **changes: Any
) -> Any:
    """``accept="json"`` asks as the page's script does."""
    headers = {"accept": "application/json"} if changes.pop("json", False) else {}
    fields = {
        "file": file_of(data if data is not None else good_file(round.version)),
        "name": name,
        **changes,
    }
    return client.post(address("round-submit", round), fields, headers=headers)
