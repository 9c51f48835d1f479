"""Files from addresses, within the site's limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from annotations.sources.remote import Fetched, fetch
from common.download import Downloads

BROWSER_SECONDS = 60.0
"""At most, while a browser waits."""


def fetched(
    address: str,
    folder: Path,
    *,
    most_bytes: int,
    seconds: float,
    moved: Callable[[int, int | None], object] = lambda _there, _size: None,
) -> Fetched:
    """Download what an address names into ``folder``. Raises ``NotFetched``."""
    downloads = Downloads(
        most_bytes,
        seconds,
        private_allowed=settings.IMPORT_PRIVATE,
        token=settings.HF_TOKEN,
        token_for=settings.HF_ENDPOINT,
        moved=moved,
    )
    return fetch(address, folder, downloads, settings.HF_ENDPOINT)
