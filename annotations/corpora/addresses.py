"""Files from addresses, within the site's limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import make_archive

from django.conf import settings

from annotations.sources.remote import Fetched, fetch
from common.download import Downloads

BROWSER_BYTES, BROWSER_SECONDS = 5_000_000, 10.0
"""At most, while a browser waits; more is downloaded by a worker."""


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


def fetched_file(
    address: str,
    folder: Path,
    *,
    most_bytes: int,
    seconds: float,
    moved: Callable[[int, int | None], object] = lambda _there, _size: None,
) -> tuple[Path, str, str]:
    """As ``fetched``, with a folder as a zip archive: the file, its name, where it comes from."""
    found = fetched(address, folder, most_bytes=most_bytes, seconds=seconds, moved=moved)
    path = found.path
    if path.is_dir():
        path = Path(make_archive(str(folder / "packed"), "zip", folder, path.name))
    return path, f"{found.name}{path.suffix}", found.source
