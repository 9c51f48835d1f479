"""How often somebody did something of late. Counted in the cache: shared by all processes where it is Redis."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

log = logging.getLogger(__name__)


def counted(what: str, whom: str, seconds: int) -> int:
    """Count this time, and say how many there were in the present stretch of ``seconds``. Where the cache cannot be
    reached nobody is counted, and nobody is refused."""
    key = _key(what, whom, seconds)
    try:
        cache.add(key, 0, timeout=2 * seconds)
        return cache.incr(key)
    except Exception as problem:  # a cache may be any package, with errors of its own
        if isinstance(problem, ValueError):  # it was emptied between the two lines
            return 1
        log.warning("requests are not counted: the cache cannot be reached (%s)", problem)
        return 0


def so_far(what: str, whom: str, seconds: int) -> int:
    """How many there were, without counting this one."""
    try:
        return int(cache.get(_key(what, whom, seconds), 0))
    except Exception as problem:
        log.warning("requests are not counted: the cache cannot be reached (%s)", problem)
        return 0


def forget(what: str, whom: str, seconds: int) -> None:
    """As if nothing had been counted in the present stretch."""
    try:
        cache.delete(_key(what, whom, seconds))
    except Exception as problem:
        log.warning("requests are not counted: the cache cannot be reached (%s)", problem)


def _key(what: str, whom: str, seconds: int) -> str:
    """Names of users may hold anything: a cache's key may not."""
    who = hashlib.sha256(whom.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    return f"rate:{what}:{who}:{int(time.time()) // seconds}"


def address_of(request: HttpRequest) -> str:
    """Where a request came from, so far as that can be believed; of IPv6 the network that one customer has."""
    came_from = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        passed = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
        if len(passed) >= settings.PROXIES:
            came_from = passed[-settings.PROXIES]
    try:
        address = ipaddress.ip_address(came_from)
    except ValueError:
        return came_from[:100]
    address = getattr(address, "ipv4_mapped", None) or address  # of a server that listens for both at once
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
