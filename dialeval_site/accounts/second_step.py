"""Between the password and the code: who has given the one is remembered for some minutes, and is
not logged in."""

from __future__ import annotations

import time
from typing import Any

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from annotations.accounts import accounts_that_may_act

KEY = "second_step"
SECONDS = 300


def begin(request: HttpRequest, user: Any, next_page: str) -> None:
    """A new session key: what somebody planted before the password was given is worth nothing after
    it."""
    request.session.cycle_key()
    request.session[KEY] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),
        "since": int(time.time()),
        "next": next_page,
    }


def waiting(request: HttpRequest) -> Any:
    """Who gave the password here; None where nobody did, it is too long ago, or the password has
    changed since."""
    noted = request.session.get(KEY)
    if not isinstance(noted, dict) or abs(int(time.time()) - noted["since"]) > SECONDS:
        return None
    user = accounts_that_may_act().filter(pk=noted["user"]).first()
    if user is None or not constant_time_compare(noted["password"], user.get_session_auth_hash()):
        return None
    return user


def next_page(request: HttpRequest) -> str:
    return str(request.session.get(KEY, {}).get("next", ""))


def end(request: HttpRequest) -> None:
    request.session.pop(KEY, None)
