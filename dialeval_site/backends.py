"""Log-in and its throttle: who is let in, wherever a password is asked for (site, admin, API).

A site that began as a demo and went into production keeps the demo's users. Their passwords are
printed in the README, so there they open nothing, and the accounts may not act: no log-in, no
session. And nobody guesses: after some wrong passwords for a name no further one is looked at from
the same address for a while. Who has turned two-factor log-in on is let in by no password alone: so
a way in that nobody thought of is closed to them, not open.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model, update_session_auth_hash
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from annotations import rates
from annotations.accounts import may_act
from common.database import CompiledQuery, Given
from dialeval_site.accounts import two_factor
from dialeval_site.demo.site import is_demo_password

GUESS_SECONDS = 600
GUESSES_OF_A_NAME, GUESSES_OF_AN_ADDRESS = 10, 300
"""Within ten minutes, of one name from one address, and of one address. Where DIALEVAL_PROXIES was
forgotten all visitors have one address, so the second is no number that one visitor shuts the
others out with in passing."""


_ACCOUNT = CompiledQuery(lambda: get_user_model().objects.filter(pk=Given("pk")))


class NoDemoLogInsInProduction(ModelBackend):
    def get_user(self, user_id: int) -> Any:
        """At every request of somebody with a log-in."""
        user = _ACCOUNT.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None

    def user_can_authenticate(self, user: Any) -> bool:
        """Django asks this at the log-in and, for a session, at every request."""
        return may_act(user)

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Raises ``PermissionDenied``, which Django takes for wrong, where there were too many
        guesses; then ``request.guessed_too_often`` is set. Where the password is right and a code
        is wanted beside it, nobody is let in either, and ``request.waits_for_code`` is the user."""
        if _opens_nothing(password):
            return None
        if request is None or username is None:
            user = super().authenticate(request, username, password, **kwargs)
            return None if user is not None and two_factor.is_on(user) else user
        _count_guess(request, username)
        user = super().authenticate(request, username, password, **kwargs)
        if user is None:
            rates.counted("log-ins", rates.address_of(request), GUESS_SECONDS)
            return None
        rates.forget("log-in", _name_here(request, username), GUESS_SECONDS)
        if two_factor.is_on(user):
            request.waits_for_code = user  # type: ignore[attr-defined]
            return None
        return user


def password_is(request: HttpRequest, user: Any, password: str) -> bool:
    """Whether it is the password of who is logged in: somebody else may sit at the browser, and
    guess. Raises ``PermissionDenied`` as above."""
    _count_guess(request, user.get_username())
    stored = user.password
    is_right = not _opens_nothing(password) and bool(user.check_password(password))
    if user.password != stored:
        # Stored anew under another hasher, which ends every session of the account: this one goes
        # on.
        update_session_auth_hash(request, user)
    if is_right:
        rates.forget("log-in", _name_here(request, user.get_username()), GUESS_SECONDS)
    return is_right


def _opens_nothing(password: str | None) -> bool:
    return settings.PRODUCTION and password is not None and is_demo_password(password)


def _count_guess(request: HttpRequest, username: str) -> None:
    """Before the password is looked at: many guesses at the same instant are as many. Nothing is
    written for an address that is shut out: however many names it tries, the rows are no more."""
    address, name = rates.address_of(request), _name_here(request, username)
    is_shut_out = rates.so_far("log-ins", address, GUESS_SECONDS) >= GUESSES_OF_AN_ADDRESS
    if is_shut_out or rates.counted("log-in", name, GUESS_SECONDS) > GUESSES_OF_A_NAME:
        request.guessed_too_often = True  # type: ignore[attr-defined]
        raise PermissionDenied


def _name_here(request: HttpRequest, username: str) -> str:
    return f"{username.casefold()} {rates.address_of(request)}"
