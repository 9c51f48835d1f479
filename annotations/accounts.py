"""Accounts: which of them may act, and making a new one (sign-up, invitation, command)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotations.models import DemoAccount
from common.roles import PARTICIPANT


def accounts_that_may_act() -> QuerySet[Any]:
    """Active accounts; in production without those of a demo, whose passwords are public.

    Every credential and everything done later on behalf of an account asks this: session, log-in,
    token, password reset, invitation, webhook, e-mail, worker.
    """
    accounts = get_user_model().objects.filter(is_active=True)
    return accounts.filter(demo_account__isnull=True) if settings.PRODUCTION else accounts


def may_act(user: Any) -> bool:
    """Whether ``accounts_that_may_act`` has this account. The mark is read from the database; in
    development ``user.is_active`` decides without a query."""
    if not settings.PRODUCTION or not user.is_active:
        return bool(user.is_active)
    return not is_demo_account(user)


def is_demo_account(user: Any) -> bool:
    """Whether the demo made this account: all visitors of the demo share it."""
    return DemoAccount.objects.filter(pk=user.pk).exists()


class NameTaken(Exception):
    pass


def open_account(username: str, password: str, email: str = "") -> Any:
    """A new user without a role: who makes or joins a team becomes a participant.

    The form has checked name and password. Raises ``NameTaken`` where a user has this name in
    whatever case.
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
