"""Downloads from addresses that somebody else chose: redirects are checked one by one, size and
time are limited, and a body that breaks off is taken up again where it did. Pure."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from common.outgoing import AddressNotAllowed
from common.pinned_http import NotReached, answered

MOST_REDIRECTS = 5
MOST_TRIES = 4
"""Of one file whose body breaks off."""
CHUNK = 256 * 1024
LARGEST_JSON = 16 * 1024 * 1024
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PAGE = re.compile(rb"\s*(<!--.*?-->\s*)?<(!doctype html|html)\b", re.IGNORECASE | re.DOTALL)


class DownloadFailed(Exception):
    """Nothing was stored; the message says why, as a predicate (``is a web page, …``)."""


class LimitReached(DownloadFailed):
    """It is too large, or takes too long."""


class Refused(DownloadFailed):
    """The server answered with an error.

    Attributes:
        status: of HTTP.
        headers: of the answer, by lower-case name.
    """

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(_REASONS.get(status, f"is answered with the HTTP status {status}"))
        self.status = status
        self.headers = headers


_REASONS = {
    401: "needs a log-in (HTTP 401)",
    403: "is not open to everybody (HTTP 403)",
    404: "is not there (HTTP 404)",
    410: "is not there any more (HTTP 410)",
    429: "is asked for too often (HTTP 429); try again later",
}


@dataclass
class Downloads:
    """One after another, with common limits.

    Attributes:
        most_bytes: of all files together.
        seconds: for everything.
        private_allowed: let hosts be on private networks and this machine, and addresses
            ``http://``.
        token: sent to ``token_for`` alone, never to where that leads on.
        token_for: scheme and host, such as ``https://huggingface.co``.
        moved: gets the bytes of a file that are there and, where that is known, its size.
    """

    most_bytes: int
    seconds: float
    private_allowed: bool = False
    token: str = field(default="", repr=False)
    token_for: str = ""
    moved: Callable[[int, int | None], object] = lambda _there, _size: None

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds
        self._left = self.most_bytes

    def json(self, url: str) -> Any:
        """What an address says in JSON.

        Args:
            url: the address.

        Returns:
            The parsed document.

        Raises:
            Refused: the server says no.
            DownloadFailed: it cannot be reached, or says something else.
        """
        with self._answer(url, {"Accept": "application/json"}) as response:
            if response.status != 200:
                raise Refused(response.status, _headers(response))
            body = response.read(LARGEST_JSON + 1)
        try:
            return json.loads(body) if len(body) <= LARGEST_JSON else None
        except (ValueError, RecursionError):
            raise DownloadFailed("is not answered with JSON") from None

    def file(self, url: str, target: Path) -> None:
        """Download a file.

        Args:
            url: the address.
            target: to be written.

        Raises:
            Refused: the server says no.
            LimitReached: it is too large, or takes too long.
            DownloadFailed: it cannot be reached, is a web page, breaks off, or is empty. What was
                written is of no use then.
        """
        there, size, version = 0, None, ""
        for _ in range(MOST_TRIES):
            headers = {"Accept-Encoding": "identity"}
            if there:
                headers |= {"Range": f"bytes={there}-", "If-Range": version}
            begun = there
            try:
                with self._answer(url, headers) as response:
                    there = self._start(response, there)
                    size = None if response.length is None else there + response.length
                    version = _version_of(response)
                    if (size or 0) > self._left:
                        raise LimitReached(self._too_large())
                    with target.open("r+b" if there else "wb") as file:
                        file.seek(there)
                        file.truncate()
                        while chunk := response.read(CHUNK):
                            if not there and _PAGE.match(chunk):
                                raise DownloadFailed(_WEB_PAGE)
                            file.write(chunk)
                            there += len(chunk)
                            if there > self._left:
                                raise LimitReached(self._too_large())
                            self.moved(there, size)
            except NotReached as problem:
                if time.monotonic() >= self._end:
                    raise LimitReached(f"takes longer than {self.seconds:g} s") from None
                if there == begun:
                    raise DownloadFailed(f"cannot be downloaded: {problem}") from None
            else:
                if size is None or there == size:
                    break
            if not version:
                there = 0
        else:
            of_all = f" of {size:,}" if size else ""
            raise DownloadFailed(f"breaks off after {there:,}{of_all} bytes; try again later")
        if not there:
            raise DownloadFailed("is empty")
        self._left -= there

    def _start(self, response: http.client.HTTPResponse, there: int) -> int:
        """Where the body goes on in the file."""
        headers = _headers(response)
        if response.status not in (200, 206):
            raise Refused(response.status, headers)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("text/html", "application/xhtml+xml"):
            raise DownloadFailed(_WEB_PAGE)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise DownloadFailed("comes compressed, which was not asked for")
        if response.status == 200:
            return 0
        found = _RANGE.fullmatch(headers.get("content-range", ""))
        if not there or found is None or int(found[1]) != there:
            raise DownloadFailed("is answered with another part than was asked for")
        return there

    @contextmanager
    def _answer(self, url: str, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
        for _ in range(MOST_REDIRECTS + 1):
            seconds = self._end - time.monotonic()
            if seconds <= 0:
                raise LimitReached(f"takes longer than {self.seconds:g} s")
            sent = {"User-Agent": "dialeval", **headers}
            if self.token and _origin(url) == _origin(self.token_for):
                sent["Authorization"] = f"Bearer {self.token}"
            try:
                with answered(
                    "GET", url, sent, private_allowed=self.private_allowed, seconds=seconds
                ) as response:
                    location = response.headers.get("Location")
                    if response.status not in (301, 302, 303, 307, 308) or not location:
                        yield response
                        return
                    url = urljoin(url, location)
            except AddressNotAllowed as problem:
                raise DownloadFailed(f"may not be downloaded: {problem}") from None
            except NotReached as problem:
                if time.monotonic() >= self._end:
                    raise LimitReached(f"takes longer than {self.seconds:g} s") from None
                raise problem
        raise DownloadFailed(f"is redirected more than {MOST_REDIRECTS} times")

    def _too_large(self) -> str:
        return f"is larger than {self.most_bytes / 1_000_000:g} MB"


_WEB_PAGE = "is a web page, not a file of data: give the address of the file itself"


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _version_of(response: http.client.HTTPResponse) -> str:
    """For ``If-Range``: a weak validator does not promise the same bytes."""
    etag = response.headers.get("ETag", "")
    return "" if etag.startswith("W/") else etag
