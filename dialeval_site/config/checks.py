"""What ``manage.py check --deploy`` says beside Django's own words."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def redis_asks_for_a_password(**_: Any) -> list[CheckMessage]:
    address = urlsplit(settings.CELERY_BROKER_URL)
    is_over_network = address.scheme in ("redis", "rediss") and not is_loopback(address.hostname)
    if not is_over_network or address.password:
        return []
    return [
        Warning(
            "CELERY_BROKER_URL names a Redis on the network without a password.",
            hint="Set requirepass in redis.conf, and redis://:password@host:port/0 here. Whoever "
            "writes to Redis can have workers compute things, and reset the API's rate limit.",
            id="dialeval.W001",
        )
    ]


def is_loopback(host: str | None) -> bool:
    """Without a host it is this machine's, as for redis-py."""
    if host in (None, "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
