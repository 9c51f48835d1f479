"""The audit log: who did what to what. An entry is written in the transaction of the deed: neither is without the
other."""

from __future__ import annotations

from typing import Any

from annotations.models import AuditEntry


def record(actor: Any, action: str, subject: Any, *, challenge: str = "", campaign: str = "", **details: Any) -> None:
    """``actor``: a user, or None where a worker or a command acted. ``action``: what kind of thing, a dot, and what was
    done to it, as in ``round.changed``. ``details``: what an organiser would want to know later (before and after, the
    reason given); they hold no secrets and must be JSON."""
    AuditEntry.objects.create(
        actor_id=actor.pk if actor is not None else None,
        actor=actor.get_username() if actor is not None else "",
        action=action,
        subject=str(subject)[:200],
        challenge=challenge,
        campaign=campaign,
        details=details,
    )
