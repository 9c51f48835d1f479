"""Requests and answers as rows: read, written, and cleaned of what no database keeps."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from workers.inference.language_models.client import MOST_TOKENS, Message
from workers.judges.core.calls import Answer, ChatRequest, TokenChance
from workers.judges.core.dialects import PLAIN, Dialect, merged
from workers.judges.models import EndpointDialect, StoredAnswer, StoredRequest

State = StoredAnswer.State
Place = tuple[int, int, int]
"""Of a call's row: the key of its request's row, sample, ask."""
LEAST_CHANCE = -9999.0
"""What endpoints say of a token that cannot come; JSON has no minus infinity."""
MOST_ATTEMPTS = 32_767
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_ANSWER = (
    "text", "error", "finish_reason", "reported_model", "chances", "input_tokens", "output_tokens",
    "latency_seconds", "attempts", "sent",
)  # fmt: skip
_PUT_DOWN = [*_ANSWER, "state", "holder", "lease_expires_at", "endpoint", "cost", "answered_at"]


def stored_text(text: str, longest: int | None = None) -> str:
    """Without NUL and halves of surrogate pairs."""
    return (_NO_TEXT.sub("�", text) if _NO_TEXT.search(text) else text)[:longest]


# --- requests -------------------------------------------------------------------------------------


def rows_of_requests(requests: Iterable[ChatRequest]) -> dict[str, int]:
    """By the request's key, the key of its row, which is made where it is not there."""
    wanted = {one.key: one for one in requests}
    found = _known_requests(wanted)
    if len(found) < len(wanted):
        # Sorted: nobody waits in a circle
        missing = [wanted[key] for key in sorted(wanted) if key not in found]
        # Half of a surrogate pair becomes JSON's own escape for it: it reads as the same request
        StoredRequest.objects.bulk_create(
            [
                StoredRequest(
                    key=one.key,
                    model=stored_text(one.model, 200),
                    body=one.body.encode("utf-8", "backslashreplace").decode(),
                )
                for one in missing
            ],
            ignore_conflicts=True,
        )
        found |= _known_requests(one.key for one in missing)
    return found


def _known_requests(keys: Iterable[str]) -> dict[str, int]:
    return dict(StoredRequest.objects.filter(key__in=list(keys)).values_list("key", "pk"))


def request_of(body: str) -> ChatRequest:
    """What was asked, from its stored body."""
    document = json.loads(body)
    return ChatRequest(
        document["model"],
        tuple(Message(role, text) for role, text in document["messages"]),
        tuple(sorted(document["parameters"].items())),
    )


# --- answers --------------------------------------------------------------------------------------


def rows_at(places: Iterable[Place]) -> QuerySet[StoredAnswer]:
    """Those at these places, and perhaps others of the same requests."""
    wanted = list(places)
    return StoredAnswer.objects.filter(
        request__in={request for request, _, _ in wanted},
        sample__in={sample for _, sample, _ in wanted},
        ask__in={ask for _, _, ask in wanted},
    )


def answers_at(places: Iterable[Place]) -> dict[Place, Answer]:
    """What was answered, or refused."""
    wanted = set(places)
    rows = (
        rows_at(wanted)
        .exclude(state=State.REQUESTED)
        .values_list("request_id", "sample", "ask", "state", *_ANSWER)
    )
    return {(row[0], row[1], row[2]): _answer(row[3], row[4:]) for row in rows if row[:3] in wanted}


def _answer(state: Any, columns: Sequence[Any]) -> Answer:
    row = dict(zip(_ANSWER, columns, strict=True))
    chances = row.pop("chances")
    return Answer(
        state=state,
        chances=None if chances is None else tuple(_chance(token, top) for token, top in chances),
        from_store=True,
        sent=Dialect.from_json(row.pop("sent")),
        **row,
    )


def _chance(token: str, top: Sequence[Sequence[Any]]) -> TokenChance:
    return TokenChance(token, tuple((other, chance) for other, chance in top))


def fields_of(answer: Answer) -> dict[str, Any]:
    """The columns that an answer decides."""
    refused = answer.state == "refused"
    return {
        "state": State.REFUSED if refused else State.ANSWERED,
        "text": stored_text(answer.text),
        "error": stored_text(answer.error) or ("the endpoint refuses the call" if refused else ""),
        "finish_reason": stored_text(answer.finish_reason, 40),
        "reported_model": stored_text(answer.reported_model, 200),
        "chances": None
        if answer.chances is None
        else [_chance_as_json(one) for one in answer.chances],
        "input_tokens": _count(answer.input_tokens),
        "output_tokens": _count(answer.output_tokens),
        "latency_seconds": answer.latency_seconds if math.isfinite(answer.latency_seconds) else 0.0,
        "attempts": min(answer.attempts, MOST_ATTEMPTS),
        "sent": replace(answer.sent, reasons=False).as_json(),
    }


def _chance_as_json(chance: TokenChance) -> list[Any]:
    top = [
        [stored_text(token), max(one, LEAST_CHANCE)]
        for token, one in chance.top
        if not math.isnan(one)
    ]
    return [stored_text(chance.token), top]


def _count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


def put_down(rows: Mapping[Place, StoredAnswer]) -> None:
    """Write answers over rows that wait for one, whoever holds them: they are paid for. One that
    has its answer keeps it. Inside a transaction."""
    there = (
        rows_at(rows)
        .select_for_update()
        .order_by("pk")
        .values_list("request_id", "sample", "ask", "state")
    )
    states = {(request, sample, ask): state for request, sample, ask, state in there}
    waiting = [rows[place] for place in sorted(rows) if states.get(place) == State.REQUESTED]
    gone = [rows[place] for place in sorted(rows) if place not in states]
    if waiting:
        StoredAnswer.objects.bulk_create(
            waiting,
            update_conflicts=True,
            unique_fields=["request", "sample", "ask"],
            update_fields=_PUT_DOWN,
        )
    if gone:
        StoredAnswer.objects.bulk_create(gone, ignore_conflicts=True)


# --- dialects -------------------------------------------------------------------------------------


def dialect_at(address: str, model: str) -> Dialect:
    """What is known of an endpoint; the plainest form where nothing is."""
    row = EndpointDialect.objects.filter(address=address, model=model[:200]).first()
    return Dialect.from_json(row.facts) if row else PLAIN


def keep_dialect(address: str, model: str, before: Dialect, after: Dialect) -> Dialect:
    """Store what was learned between ``before`` and ``after``; returns what all workers know then.

    The row is locked between reading and writing (SQLite: the whole database), so of two workers
    that learn at once neither takes away the other's lesson.
    """
    at = {"address": address, "model": model[:200]}
    with transaction.atomic():
        row, is_new = EndpointDialect.objects.select_for_update().get_or_create(**at)
        known = merged(before, after, Dialect.from_json(row.facts))
        row.facts = known.as_json()
        row.save(update_fields=["facts", "learned_at"])
    return after if is_new else known
