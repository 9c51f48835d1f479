"""Making an account, by whatever way somebody comes: signing up, an invitation, a command of the operator."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from annotations.roles import PARTICIPANT


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
