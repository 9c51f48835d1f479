"""Writes of accounts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from annotations import audit
from common.roles import ORGANISER
from dialeval_site.accounts import address_letter


def change_email(user: Any, email: str) -> None:
    """ "" takes the address away. The one that was there is told: its owner may not be who changed
    it."""
    before, user.email = user.email, email
    get_user_model().objects.filter(pk=user.pk).update(email=email)
    if before not in ("", email):
        address_letter.ask_for(user, before)


def make_organiser(user: Any, by: Any = None) -> bool:
    """Give an account the organisers' role. Returns whether it had it not before."""
    with transaction.atomic():
        if user.groups.filter(name=ORGANISER).exists():
            return False
        user.groups.add(Group.objects.get(name=ORGANISER))
        audit.record(by, "account.organiser", user.get_username())
        return True
