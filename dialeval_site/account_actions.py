"""Writes of accounts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from annotations import audit
from annotations.roles import ORGANISER, PARTICIPANT


class NameTaken(Exception):
    pass


def open_account(username: str, password: str, email: str = "") -> Any:
    """A new user without a role: who makes or joins a team becomes a participant.

    The form has checked name and password. Raises ``NameTaken`` where a user has this name in whatever case.
    """
    users = get_user_model().objects
    with transaction.atomic():
        # One account at a time: the database alone would let bob and Bob in at the same instant.
        Group.objects.select_for_update(no_key=True).filter(name=PARTICIPANT).first()
        if users.filter(username__iexact=username).exists():
            raise NameTaken(username)
        try:
            with transaction.atomic():
                return users.create_user(username=username, password=password, email=email)
        except IntegrityError:
            raise NameTaken(username) from None


def change_email(user: Any, email: str) -> None:
    """ "" takes the address away."""
    get_user_model().objects.filter(pk=user.pk).update(email=email)
    user.email = email


def make_organiser(user: Any, by: Any = None) -> bool:
    """Give an account the organisers' role. Returns whether it had it not before."""
    with transaction.atomic():
        if user.groups.filter(name=ORGANISER).exists():
            return False
        user.groups.add(Group.objects.get(name=ORGANISER))
        audit.record(by, "account.organiser", user.get_username())
        return True
