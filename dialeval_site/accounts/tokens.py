"""Tokens: made, found by their digest, revoked. The token itself is nowhere kept."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.accounts import may_act
from common.api.access import SCOPES, Caller
from common.read_only import optional_write
from common.roles import is_organiser
from common.text import text_fault
from dialeval_site.models import ApiToken

PREFIX = "dial_"
SHOWN = 10
"""So many first characters are kept, so that one token can be told from another."""
LONGEST_NAME = 80
MOST_DAYS, USUAL_DAYS = 365, 90
MOST_TOKENS = 50
"""Living ones of one person."""
NOTED_EVERY = timedelta(minutes=1)


class NotMade(Exception):
    """No token was made; ``field`` names what is wrong."""

    def __init__(self, field: str, message: str) -> None:
        self.field, self.message = field, message
        super().__init__(message)


def make(user: Any, name: str, scopes: Collection[str], days: int) -> tuple[ApiToken, str]:
    """The row, and the token: this is the only time that it is known. Raises NotMade."""
    return _stored(user, *_sound(user, name, scopes, days))


def check(user: Any, name: str, scopes: Collection[str], days: int) -> None:
    """Raises NotMade where ``make`` would, as things stand: whoever asks first uses up no code of a
    second factor for nothing. That there are not too many is counted again when it is made."""
    _sound(user, name, scopes, days)
    _refuse_too_many(user)


def _sound(user: Any, name: str, scopes: Collection[str], days: int) -> tuple[str, list[str], int]:
    name = name.strip()
    if fault := text_fault(name, LONGEST_NAME):
        raise NotMade("name", _("The name %(fault)s.") % {"fault": fault})
    wanted = [scope for scope in SCOPES if scope in scopes]
    if unknown := sorted(set(scopes) - set(SCOPES)):
        raise NotMade("scopes", _("There is no scope %(name)s.") % {"name": unknown[0][:40]})
    if not wanted:
        raise NotMade("scopes", _("Choose at least one scope."))
    if "organise" in wanted and not is_organiser(user):
        raise NotMade("scopes", _("Only organisers may have the scope organise."))
    if not 1 <= days <= MOST_DAYS:
        raise NotMade("days", _("A token lives for 1 to %(most)d days.") % {"most": MOST_DAYS})
    return name, wanted, days


def _refuse_too_many(user: Any) -> None:
    if living(user).count() >= MOST_TOKENS:
        raise NotMade(
            "name",
            _("You have %(most)d tokens, and that is the most. Revoke one.")
            % {"most": MOST_TOKENS},
        )


def _stored(user: Any, name: str, scopes: list[str], days: int) -> tuple[ApiToken, str]:
    token = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        # Two at once must not pass the count
        get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
        _refuse_too_many(user)
        row = ApiToken.objects.create(
            user=user,
            name=name,
            digest=digest_of(token),
            start=token[:SHOWN],
            scopes=scopes,
            expires_at=timezone.now() + timedelta(days=days),
        )
        if "organise" in scopes:
            audit.record(user, "token.made", name, scopes=scopes, start=row.start)
    return row, token


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


def of(user: Any) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user).order_by("-created_at", "-pk")


def living(user: Any) -> QuerySet[ApiToken]:
    return of(user).filter(revoked_at__isnull=True, expires_at__gt=timezone.now())


def revoke(token: ApiToken) -> bool:
    """False where it was revoked before."""
    return bool(
        ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(
            revoked_at=timezone.now()
        )
    )


def caller_of(request: HttpRequest) -> Caller:
    """Whose token the request carries. Never who is logged in with the browser."""
    header = request.headers.get("Authorization", "")
    if not header:
        return Caller()
    kind, _space, token = header.partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        return Caller(fault=_("Authorization must be: Bearer dial_…"))
    row = ApiToken.objects.select_related("user").filter(digest=digest_of(token.strip())).first()
    now = timezone.now()
    if row is None or not may_act(row.user):
        return Caller(fault=_("This token is not known here."))
    if row.revoked_at is not None:
        return Caller(fault=_("This token was revoked."))
    if row.expires_at <= now:
        return Caller(fault=_("This token has expired. Make a new one."))
    _note_use(row, now)
    return Caller(row.user, row.pk, row.name, row.start, frozenset(row.scopes), row.expires_at)


def _note_use(row: ApiToken, now: datetime) -> None:
    """At most once a minute: a program that polls must not write with each look."""
    stale = Q(used_at__isnull=True) | Q(used_at__lt=now - NOTED_EVERY)
    if row.used_at is None or row.used_at < now - NOTED_EVERY:
        with optional_write("noting that a token was used"):
            ApiToken.objects.filter(stale, pk=row.pk).update(used_at=now)
