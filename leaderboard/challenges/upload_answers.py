"""How an upload that is not taken is answered, by pages and API alike."""

from __future__ import annotations

from leaderboard.challenges.actions.receiving import NotTaken

_STATUS_OF = {
    "round": 404,
    "closed": 409,
    "upcoming": 409,
    "track": 409,
    "hidden": 409,
    "limit_day": 409,
    "limit_total": 409,
    "withdrawn": 409,
    "disqualified": 403,
    "not_member": 403,
    "too_large": 413,
    "not_text": 415,
}
_OF_THE_FILE = ("empty", "not_text", "too_large")
_OF_OTHER_FIELDS = ("name", "description", "level", "link")


def status_of(refusal: NotTaken) -> int:
    """409 where the round or a limit stands against it: 429 is for rates of requests, which a limit is not. 415 and 413
    for the file; 422 for another field."""
    return _STATUS_OF.get(refusal.code, 422)


def field_of(refusal: NotTaken) -> str | None:
    """The field that is wrong; None where none is."""
    if refusal.code in _OF_THE_FILE:
        return "file"
    return refusal.code if refusal.code in _OF_OTHER_FIELDS else None
