"""Django's settings of outgoing e-mail, read from one address:
``smtp://user:password@host:port/?tls=true``."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "DIALEVAL_EMAIL_URL"
TIMEOUT_SECONDS = 10
PORTS = {"smtp": 25, "smtps": 465}


def mail_settings(address: str) -> dict[str, Any]:
    """``SENDS_EMAIL`` and, where there is an address, the ``EMAIL_…`` settings. ``smtps://`` is TLS
    from the first byte, ``?tls=true`` asks for STARTTLS. Errors never repeat the address: it holds
    a password."""
    if not address:
        return {"SENDS_EMAIL": False}
    try:
        parts = urlsplit(address)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        raise ImproperlyConfigured(
            f"{NAME} is no address such as smtp://user:password@host:587/?tls=true"
        ) from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ImproperlyConfigured(
            f"{NAME} must be an address such as smtp://user:password@host:587/?tls=true"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if set(options) - {"tls"} or options.get("tls", "false").lower() not in ("true", "false"):
        raise ImproperlyConfigured(f"{NAME} knows one option, ?tls=true or ?tls=false")
    return {
        "SENDS_EMAIL": True,
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": options.get("tls", "false").lower() == "true",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": TIMEOUT_SECONDS,
    }
