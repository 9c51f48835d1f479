"""Who may do what: three groups. Organisers run things, raters rate, participants hand in
systems."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django_otp import user_has_device

from common.database import CompiledQuery, Given

ORGANISER, RATER, PARTICIPANT = "organiser", "rater", "participant"
ROLES = (ORGANISER, RATER, PARTICIPANT)


def _groups_of_account() -> Any:
    from django.contrib.auth.models import Group

    return Group.objects.filter(user=Given("user")).values_list("name")


_ROLE_NAMES: CompiledQuery[Any] = CompiledQuery(_groups_of_account)


def is_organiser(user: Any) -> bool:
    """Where the site wants two-factor log-in of organisers, who has not set it up is none, by
    whatever way one asks."""
    return has_organisers_role(user) and (
        not settings.ORGANISERS_NEED_TWO_FACTOR or _has_second_factor(user)
    )


def has_organisers_role(user: Any) -> bool:
    return has_role(user, ORGANISER) or (user.is_authenticated and user.is_superuser)


def has_role(user: Any, role: str) -> bool:
    """Whether the account is in the group of this name."""
    return user.is_authenticated and role in _group_names(user)


def _has_second_factor(user: Any) -> bool:
    if not hasattr(user, "_second_factor"):
        user._second_factor = user_has_device(user)
    return user._second_factor


def _group_names(user: Any) -> set[str]:
    """Asked several times a page, read once a request: the user object lives as long as the
    request."""
    if not hasattr(user, "_role_names"):
        user._role_names = {name for (name,) in _ROLE_NAMES.tuples(user=user.pk)}
    return user._role_names
