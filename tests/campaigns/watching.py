"""A browser that keeps all it receives, and the search through it for what a rater must not
know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model
from django.test import Client

FIRST_KEY = 2_100_000_000
"""Ten digits, as many as a user's key can have: no number on a page is as long, but for times of
thirteen."""
KEYS_APART = 1_000_003
MODELS = [
    model
    for model in (
        *apps.get_app_config("annotations").get_models(),
        *apps.get_app_config("campaigns").get_models(),
        apps.get_model("auth", "User"),
    )
    if model._meta.pk.name == "id"  # a demo account's key is its user's
]


@dataclass(frozen=True)
class Received:
    """One answer: where it came from, and every byte of it: status, headers, cookies, body."""

    address: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def everything(self) -> str:
        head = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        return f"{self.address}\n{self.status}\n{head}\n\n{self.body.decode('utf-8')}"


class WatchedBrowser(Client):
    """``received`` also has each answer on the way to a page that one was led to."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.received: list[Received] = []

    def request(self, **request: Any) -> Any:
        answer = super().request(**request)
        headers = dict(answer.headers) | {
            f"Set-Cookie {name}": one.output() for name, one in answer.cookies.items()
        }
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        address = (
            f"{request['REQUEST_METHOD']} {request['PATH_INFO']}?{request.get('QUERY_STRING', '')}"
        )
        self.received.append(Received(address, answer.status_code, headers, body))
        return answer


@contextmanager
def unmistakable_keys() -> Iterator[None]:
    """From now on rows get primary keys of ten digits, another range for each model. Put back at
    the end: PostgreSQL counts on though the test's rows are rolled back."""
    before = {model: _last_key(model) for model in MODELS}
    for place, model in enumerate(MODELS):
        _count_from(model, FIRST_KEY + place * KEYS_APART)
    try:
        yield
    finally:
        for model, last in before.items():
            _count_from(model, last)


def _last_key(model: type[Model]) -> int:
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT last_value FROM pg_sequences WHERE sequencename = %s", [f"{table}_id_seq"]
            )
        else:
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        row = cursor.fetchone()
    return row[0] if row and row[0] else 1


def _count_from(model: type[Model], key: int) -> None:
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, key])
            return
        cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
        cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, key])


def all_keys() -> dict[str, str]:
    """Every primary key that there is, in figures and in hexadecimal → what it is the key of."""
    keys = {}
    for model in MODELS:
        for key in model.objects.values_list("pk", flat=True):
            keys[str(key)] = keys[format(key, "x")] = f"{model._meta.model_name} {key}"
    return keys


def leaks(received: list[Received], names: Mapping[str, str]) -> list[str]:
    """Every place of a forbidden name (kind → name), in any case, and of a primary key standing by
    itself."""
    keys = all_keys()
    found = []
    for one in received:
        text = one.everything
        low = text.casefold()
        found += [
            f"{kind} {name!r} in {one.address}"
            for kind, name in names.items()
            if name.casefold() in low
        ]
        words = set(re.findall(r"[0-9a-f]{9,}", low)) | set(re.findall(r"\d{9,}", low))
        found += [f"the key of {keys[word]} in {one.address}" for word in words if word in keys]
    return found
