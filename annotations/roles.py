"""Who may do what: three groups. Organisers run things, raters rate, participants hand in systems."""

from __future__ import annotations

from typing import Any

ORGANISER, RATER, PARTICIPANT = "organiser", "rater", "participant"
ROLES = (ORGANISER, RATER, PARTICIPANT)


def is_organiser(user: Any) -> bool:
    if not user.is_authenticated:
        return False
    return user.is_superuser or ORGANISER in _group_names(user)


def _group_names(user: Any) -> set[str]:
    """Asked several times a page, read once a request: the user object lives as long as the request."""
    if not hasattr(user, "_role_names"):
        user._role_names = set(user.groups.values_list("name", flat=True))
    return user._role_names
