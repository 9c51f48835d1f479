"""The audit log: who did what to what. An entry is written in the transaction of the deed: neither
is without the other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Manager, Model

from annotations.models import AuditEntry


def record(
    actor: Any,
    action: str,
    subject: Any,
    *,
    challenge: str = "",
    campaign: str = "",
    **details: Any,
) -> None:
    """``actor``: a user, or None where a worker or a command acted. ``action``: what kind of thing,
    a dot, and what was done to it, as in ``round.changed``. ``details``: what an organiser would
    want to know later (before and after, the reason given); they hold no secrets and must be
    JSON."""
    AuditEntry.objects.create(
        actor_id=actor.pk if actor is not None else None,
        actor=actor.get_username() if actor is not None else "",
        action=action,
        subject=str(subject)[:200],
        challenge=challenge,
        campaign=campaign,
        details=details,
    )


def noted(row: Model, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a row as the log keeps them: JSON, other rows by what they are called."""
    return {name: _noted(getattr(row, name)) for name in names}


def _noted(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"  # a form's 0.5 and a row's 0.5000 are one price
    if isinstance(value, Manager):
        return sorted(str(one) for one in value.all())
    return str(value) if isinstance(value, Model) else value


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    """{field: [before, after]} of those that differ."""
    return {name: [before[name], after[name]] for name in after if before[name] != after[name]}
