"""Every read of the audit log: a page of it, what one can ask for, and all of it for a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Q, QuerySet

from annotations.models import AuditEntry

A_PAGE = 50
AT_A_TIME = 1000


@dataclass(frozen=True, slots=True)
class Params:
    """Which entries; an empty field asks for all. ``action`` is one (``round.changed``) or all of a
    kind (``round``); ``words`` stand in the actor's name or the subject."""

    action: str = ""
    actor: str = ""
    challenge: str = ""
    campaign: str = ""
    words: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, one.name) for one in fields(self))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Entries, newest first; ``older`` and ``newer`` are keys to go on from, None where there is
    nothing there."""

    entries: list[AuditEntry]
    older: int | None
    newer: int | None


def entries(params: Params) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.order_by("-pk")
    if params.action:
        found = found.filter(Q(action=params.action) | Q(action__startswith=f"{params.action}."))
    for name in ("actor", "challenge", "campaign"):
        if wanted := getattr(params, name):
            found = found.filter(**{name: wanted})
    if params.words:
        found = found.filter(Q(subject__icontains=params.words) | Q(actor__icontains=params.words))
    return found


def stretch(
    params: Params, before: int | None = None, after: int | None = None, size: int = A_PAGE
) -> Stretch:
    """The newest entries; or those before an entry, or the nearest after one. New entries move no
    page: a page hangs on its keys, not on a count from the top."""
    found = entries(params)
    if after is not None:
        rows = list(found.filter(pk__gt=after).order_by("pk")[:size])[::-1]
    else:
        rows = list((found if before is None else found.filter(pk__lt=before))[:size])
    if not rows:
        return Stretch([], None, None)
    older = rows[-1].pk if found.filter(pk__lt=rows[-1].pk).exists() else None
    newer = rows[0].pk if found.filter(pk__gt=rows[0].pk).exists() else None
    return Stretch(rows, older, newer)


def every_entry(params: Params) -> Iterator[AuditEntry]:
    """Newest first, a thousand at a time: however long the log is, memory holds a thousand, and no
    transaction stays open while a slow reader takes the file."""
    last: int | None = None
    while True:
        found = entries(params) if last is None else entries(params).filter(pk__lt=last)
        rows = list(found[:AT_A_TIME])
        yield from rows
        if len(rows) < AT_A_TIME:
            return
        last = rows[-1].pk


@dataclass(frozen=True, slots=True)
class Choices:
    """What stands in the log, for the filters."""

    actions: list[str]
    actors: list[str]
    challenges: list[str]
    campaigns: list[str]


def choices() -> Choices:
    actions = _values("action")
    kinds = {action.partition(".")[0] for action in actions}
    return Choices(
        sorted({*actions, *kinds}), _values("actor"), _values("challenge"), _values("campaign")
    )


def _values(name: str) -> list[str]:
    return list(
        AuditEntry.objects.exclude(**{name: ""})
        .order_by(name)
        .values_list(name, flat=True)
        .distinct()
    )


def document_of(entry: AuditEntry) -> dict[str, Any]:
    """The entry as files and programs get it."""
    return {
        "id": entry.pk,
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "actor_id": entry.actor_id,
        "action": entry.action,
        "subject": entry.subject,
        "challenge": entry.challenge,
        "campaign": entry.campaign,
        "details": entry.details,
    }
