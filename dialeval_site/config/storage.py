"""Django's storage of files, read from one address:
``s3://bucket/prefix?endpoint_url=…&region_name=…``; and whether it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "DIALEVAL_STORAGE_URL"
EXAMPLE = "s3://bucket/prefix?endpoint_url=https://s3.example.org&region_name=eu-1"
OPTIONS = ("endpoint_url", "region_name", "addressing_style")
ADDRESSING = ("auto", "path", "virtual")
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 5, 30, 3
IN_MEMORY = 1_000_000
"""Bytes of a file that is being read; what is more lies in a temporary file."""


def file_storage(address: str, folder: Path) -> dict[str, Any]:
    """The entry of ``STORAGES``: ``folder`` where there is no address, else a bucket. Keys come
    from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, never from the address. Raises
    ``ImproperlyConfigured``."""
    if not address:
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": folder},
        }
    try:
        parts = urlsplit(address)
        given = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
    except ValueError:
        raise ImproperlyConfigured(f"{NAME} is no address such as {EXAMPLE}") from None
    if parts.username or parts.password or "@" in parts.netloc:
        raise ImproperlyConfigured(
            f"{NAME} holds no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    if parts.scheme != "s3" or not parts.netloc or parts.fragment:
        raise ImproperlyConfigured(f"{NAME} must be an address such as {EXAMPLE}")
    if unknown := sorted(set(given) - set(OPTIONS)):
        raise ImproperlyConfigured(f"{NAME} knows {', '.join(OPTIONS)}, not {', '.join(unknown)}")
    endpoint, style = given.get("endpoint_url", ""), given.get("addressing_style", "auto")
    if endpoint and not (
        endpoint.startswith(("https://", "http://")) and urlsplit(endpoint).hostname
    ):
        raise ImproperlyConfigured(
            f"{NAME}: endpoint_url must begin with https:// or http:// and name a host"
        )
    if style not in ADDRESSING:
        raise ImproperlyConfigured(f"{NAME}: addressing_style must be {', '.join(ADDRESSING)}")
    prefix = unquote(parts.path).strip("/")
    if any(part in ("", ".", "..") for part in (prefix.split("/") if prefix else ())):
        raise ImproperlyConfigured(f"{NAME}: the prefix is a path such as dialeval/files")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": prefix,
            "endpoint_url": endpoint or None,
            "region_name": given.get("region_name") or None,
            "file_overwrite": True,  # names are drawn, or say what is in the file
            "max_memory_size": IN_MEMORY,
            "client_config": _client(style),
        },
    }


def _client(addressing_style: str) -> Any:
    from botocore.config import Config

    return Config(
        s3={"addressing_style": addressing_style},
        signature_version="s3v4",
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        # Trailing checksums are Amazon's own; other stores refuse a file that has one.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def storage_answers() -> bool:
    """Whether a small file can be put into the storage of files now; the log says why not. For the
    readiness check."""
    from common.storage import storage_fault

    return not storage_fault()
