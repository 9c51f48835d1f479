"""Rate limits: counting attempts and requests, so that nobody makes too many.

Attempts (guesses at passwords and codes, letters to an address, sign-ups) are rare and counted in
the database: whatever becomes of Redis, the count holds, and where it cannot be written the attempt
fails. Requests to the API are many and counted in the cache, which all processes share where it is
Redis.
"""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest

from annotations.models import AttemptCount
from common import clock


def counted(what: str, whom: str, seconds: int) -> int:
    """Count this attempt, and return how many there were in the present stretch of ``seconds``.

    Of many at the same instant each gets a number of its own. In a transaction the count is as
    lasting as the transaction.
    """
    key = _key(what, whom, seconds)
    with transaction.atomic():
        expires_at = clock.now() + timedelta(seconds=2 * seconds)
        none_yet = AttemptCount(key=key, expires_at=expires_at)
        AttemptCount.objects.bulk_create([none_yet], ignore_conflicts=True)
        AttemptCount.objects.filter(key=key).update(count=F("count") + 1)
        return AttemptCount.objects.values_list("count", flat=True).get(key=key)


def so_far(what: str, whom: str, seconds: int) -> int:
    """How many attempts there were, without counting one."""
    found = AttemptCount.objects.filter(key=_key(what, whom, seconds))
    return found.values_list("count", flat=True).first() or 0


def forget(what: str, whom: str, seconds: int) -> None:
    """As if no attempt had been counted in the present stretch."""
    AttemptCount.objects.filter(key=_key(what, whom, seconds)).delete()


def remove_expired() -> int:
    """How many rows went."""
    return AttemptCount.objects.filter(expires_at__lt=clock.now()).delete()[0]


def counted_request(what: str, whom: str, seconds: int) -> int:
    """As ``counted``, in the cache, which may forget."""
    key = _key(what, whom, seconds)
    cache.add(key, 0, timeout=2 * seconds)
    try:
        return cache.incr(key)
    except ValueError:  # it was emptied between the two lines
        return 1


def _key(what: str, whom: str, seconds: int) -> str:
    """Names of users may hold anything: a key may not."""
    who = hashlib.sha256(whom.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    return f"rate:{what}:{who}:{int(clock.seconds()) // seconds}"


def address_of(request: HttpRequest) -> str:
    """Where a request came from, so far as that can be believed; of IPv6 the network that one
    customer has."""
    came_from = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        passed = [
            part.strip()
            for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
            if part.strip()
        ]
        if len(passed) >= settings.PROXIES:
            came_from = passed[-settings.PROXIES]
    try:
        address = ipaddress.ip_address(came_from)
    except ValueError:
        return came_from[:100]
    # Of a server that listens for both at once
    address = getattr(address, "ipv4_mapped", None) or address
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
