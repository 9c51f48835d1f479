"""Requests to the API: one error form, patience where the server asks for it, uploads and downloads
as streams."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from common.temporary import temporary_folder
from common.text import parse_integer
from common.version import VERSION
from leaderboard.client.credentials import Credentials
from leaderboard.client.errors import ClientError, Refused
from leaderboard.client.texts import one_line

if TYPE_CHECKING:
    import httpx2

TRIES = 6
LONGEST_WAIT = 120.0
"""Seconds. A server that asks for more is told about, not waited for."""
COMES_LATER = 202
LONGEST_SILENCE = 60.0
"""Seconds until the next byte of an answer."""
LONGEST_EXPORT = 600.0
"""Seconds until an export's next byte: the site writes all of it before it sends the first."""
LONGEST_COMPUTING = 600.0
"""Seconds. A worker may have long work before it comes to what we asked for."""
BUSY = (429, 503)
"""The server did nothing yet and says that it may be asked again."""

Query = Mapping[str, str | int | None]
Moved = Callable[[int, int], None]
"""Hears how many bytes of how many have gone."""


class _Watched:
    """A file that tells how much of it has been read."""

    def __init__(self, file: BinaryIO, size: int, moved: Moved) -> None:
        self._file, self._size, self._moved = file, size, moved

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._moved(self._file.tell(), self._size)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()


@dataclass
class Server:
    """Connection to the API of one server, for use in a ``with`` block.

    Unless the method says otherwise, a request is tried up to three times where the connection
    breaks. Where the server is busy (``BUSY``), it is tried up to ``TRIES`` times, after the time
    that the server asks for, if that is at most ``LONGEST_WAIT`` seconds.

    Args:
        credentials: server and token.
        waiting: called before a pause with the reason and its length in seconds.
        sleep: pauses for so many seconds.

    Raises:
        ClientError: the proxy that the environment names cannot be used.
    """

    credentials: Credentials
    waiting: Callable[[str, float], None] = lambda _why, _seconds: None
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        import httpx2

        headers = {"User-Agent": f"dialeval/{VERSION}", "Accept": "application/json"}
        if self.credentials.token:
            headers["Authorization"] = f"Bearer {self.credentials.token}"
        try:
            self._http = httpx2.Client(
                base_url=f"{self.credentials.server}/api/v1/",
                headers=headers,
                timeout=_timeout(LONGEST_SILENCE),
                follow_redirects=False,  # the token goes to the server that it is for
                # A proxy of the environment would read what goes over plain http, the token too.
                trust_env=self.credentials.server.lower().startswith("https:"),
            )
        # No such kind of proxy, no such address
        except (httpx2.InvalidURL, ImportError, ValueError) as error:
            raise ClientError(
                f"the environment's proxy cannot be used: {one_line(error, 200)}"
            ) from error

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, **query: str | int | None) -> dict[str, Any]:
        """Fetch the document at a path.

        Results that a worker has yet to compute are waited for, up to ``LONGEST_COMPUTING``
        seconds.

        Args:
            path: below ``/api/v1/``.
            query: query parameters; those that are None are left out.

        Returns:
            The parsed JSON object; empty where the answer has no content.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came, it is no JSON object, or the results are not computed in
                time.
        """
        waited = 0.0
        while True:
            response = self._answer("GET", path, repeatable=True, params=_given(query))
            if response.status_code != COMES_LATER:
                return _parsed(response)
            if waited >= LONGEST_COMPUTING:
                detail = one_line(_problem(response).get("detail"), 200)
                raise ClientError(f"the numbers are not computed yet. {detail}".rstrip())
            seconds = min(_retry_after(response.headers.get("Retry-After"), 1), LONGEST_WAIT)
            self.waiting("the server computes the numbers", seconds)
            self.sleep(seconds)
            waited += seconds

    def items(self, path: str, **query: str | int | None) -> Iterator[dict[str, Any]]:
        """Iterate over every item of a list, page by page.

        Args:
            path: below ``/api/v1/``.
            query: query parameters of every page, without the cursor.

        Returns:
            Iterator over the items; a page is fetched when its first item is reached.

        Raises:
            Refused: as in ``get``.
            ClientError: as in ``get``, and where the answer is no list.
        """
        cursor: str | None = None
        while True:
            page = self.get(path, cursor=cursor, **query)
            items = page.get("items")
            if not isinstance(items, list):
                raise ClientError(f"{path}: the server's answer is no list")
            yield from (item for item in items if isinstance(item, dict))
            following = page.get("next")
            if not following or following == cursor:
                return
            cursor = str(following)

    def post(self, path: str, document: Any = None, repeatable: bool = False) -> dict[str, Any]:
        """Send a document.

        Args:
            path: below ``/api/v1/``.
            document: the body, as JSON; None for no body.
            repeatable: whether it may be sent again where the connection broke.

        Returns:
            The parsed JSON object; empty where the answer has no content.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came, or it is no JSON object.
        """
        return self._document("POST", path, repeatable=repeatable, json=document)

    def delete(self, path: str) -> None:
        """Delete what is at a path.

        Args:
            path: below ``/api/v1/``.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came.
        """
        self._answer("DELETE", path, repeatable=True)

    def send_part(self, path: str, offset: int, data: bytes) -> dict[str, Any]:
        """Send the next part of a file. It is not sent again where the connection broke.

        Args:
            path: of the upload, below ``/api/v1/``.
            offset: where the part begins.
            data: the part.

        Returns:
            The upload's document, as it is then.

        Raises:
            Refused: the server refused the part.
            ClientError: no answer came, or it is no JSON object.
        """
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        headers = {
            "Content-Type": "application/partial-upload",
            "Upload-Offset": str(offset),
            "Content-Digest": f"sha-256=:{digest}:",
        }
        return self._document("PATCH", path, repeatable=False, content=data, headers=headers)

    def upload(
        self, path: str, file: Path, fields: Mapping[str, str], moved: Moved
    ) -> tuple[dict[str, Any], bool]:
        """Upload a file as a form.

        The server recognises the same bytes, which is why the file is sent again where the
        connection broke.

        Args:
            path: below ``/api/v1/``.
            file: to be uploaded.
            fields: further fields of the form.
            moved: called with the bytes sent so far and the file's size.

        Returns:
            (document, is_new): the parsed JSON object, and False where the server had these bytes
            before.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came, or it is no JSON object.
            OSError: the file cannot be read.
        """
        size = file.stat().st_size
        with file.open("rb") as opened:
            response = self._answer(
                "POST",
                path,
                repeatable=True,
                data=dict(fields),
                files={
                    "file": (file.name, _Watched(opened, size, moved), "application/octet-stream")
                },
            )
        return _parsed(response), response.status_code == 201

    def download(self, path: str, to: Path, moved: Moved, **query: str | int | None) -> int:
        """Download what is at a path into a file, whole or not at all.

        Where the connection breaks, the download goes on where it stopped, if the server can.

        Args:
            path: below ``/api/v1/``.
            to: file to be written; one that exists is replaced.
            moved: called with the bytes received so far and the total, 0 where it is unknown.
            query: query parameters; those that are None are left out.

        Returns:
            Size in bytes.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came, or the file cannot be written.
        """
        with _whole_file(to) as unfinished:
            return self._stream(path, unfinished, moved, False, _given(query))

    def download_export(self, path: str, to: Path, moved: Moved, **query: str | int | None) -> int:
        """Download an export into a file, whole or not at all.

        As ``download``, but it waits up to ``LONGEST_EXPORT`` seconds for the next byte and is not
        requested again after that: the site may still be writing.

        Args:
            path: below ``/api/v1/``.
            to: file to be written; one that exists is replaced.
            moved: called with the bytes received so far and the total, 0 where it is unknown.
            query: query parameters; those that are None are left out.

        Returns:
            Size in bytes.

        Raises:
            Refused: the server refused the request.
            ClientError: no answer came in time, or the file cannot be written.
        """
        with _whole_file(to) as unfinished:
            return self._stream(path, unfinished, moved, True, _given(query))

    def download_items(self, path: str, to: Path, **query: str | int | None) -> int:
        """Download every item of a list into a file of JSON lines, whole or not at all.

        Args:
            path: below ``/api/v1/``.
            to: file to be written; one that exists is replaced.
            query: query parameters of every page, without the cursor.

        Returns:
            Number of items.

        Raises:
            Refused: as in ``get``.
            ClientError: as in ``items``, and where the file cannot be written.
        """
        count = 0
        with _whole_file(to) as unfinished:
            for item in self.items(path, **query):
                unfinished.write(json.dumps(item, ensure_ascii=False).encode() + b"\n")
                count += 1
        return count

    def _stream(
        self, path: str, file: BinaryIO, moved: Moved, is_export: bool, query: dict[str, str]
    ) -> int:
        import httpx2

        request: dict[str, Any] = {
            "params": query,
            "headers": {"Accept": "*/*"},
            "timeout": _timeout(LONGEST_EXPORT if is_export else LONGEST_SILENCE),
        }
        etag, attempt = "", 0
        while True:
            attempt, offset = attempt + 1, file.tell()
            if etag and offset:
                request["headers"] |= {"Range": f"bytes={offset}-", "If-Range": etag}
            try:
                with self._http.stream("GET", path, **request) as response:
                    range = response.headers.get("Content-Range", "")
                    is_part = (
                        response.status_code == 206
                        and response.headers.get("ETag") == etag
                        and range.startswith(f"bytes {offset}-")
                    )
                    if response.status_code != 200 and not is_part:
                        response.read()
                        if self._waited(response, attempt):
                            continue
                        raise refusal(response)
                    if not is_part:
                        file.seek(0)
                        file.truncate()
                    etag = _strong_etag(response)
                    length = int(response.headers.get("Content-Length") or 0)
                    total = length and file.tell() + length
                    for chunk in response.iter_bytes():
                        file.write(chunk)
                        moved(file.tell(), total)
                    return file.tell()
            except httpx2.InvalidURL as error:
                raise _no_address(error) from error
            except httpx2.HTTPError as error:
                if is_export and isinstance(error, httpx2.ReadTimeout):
                    raise ClientError(self._unreachable(error)) from error
                if etag and file.tell() > offset:
                    attempt = 1
                self._pause_after(error, attempt)

    def _document(self, method: str, path: str, repeatable: bool, **request: Any) -> dict[str, Any]:
        return _parsed(self._answer(method, path, repeatable, **request))

    def _answer(self, method: str, path: str, repeatable: bool, **request: Any) -> httpx2.Response:
        import httpx2

        for attempt in range(1, TRIES + 1):
            try:
                response = self._http.request(method, path, **request)
            except httpx2.InvalidURL as error:
                raise _no_address(error) from error
            except httpx2.HTTPError as error:
                if not repeatable:
                    raise ClientError(self._unreachable(error)) from error
                self._pause_after(error, attempt)
                continue
            if not self._waited(response, attempt):
                if response.is_success:
                    return response
                raise refusal(response)
        raise AssertionError("the last attempt returns or raises")

    def _waited(self, response: httpx2.Response, attempt: int) -> bool:
        """Whether the server asked for patience, and got it."""
        if response.status_code not in BUSY or attempt == TRIES:
            return False
        seconds = _retry_after(response.headers.get("Retry-After"), attempt)
        if seconds > LONGEST_WAIT:
            return False
        self.waiting("the server is busy", seconds)
        self.sleep(seconds)
        return True

    def _pause_after(self, error: Exception, attempt: int) -> None:
        if attempt >= 3:
            raise ClientError(self._unreachable(error)) from error
        self.waiting(self._unreachable(error), float(attempt))
        self.sleep(float(attempt))

    def _unreachable(self, error: Exception) -> str:
        return (
            f"{self.credentials.server} does not answer: "
            f"{one_line(error, 200) or type(error).__name__}"
        )


def _timeout(longest_silence: float) -> httpx2.Timeout:
    import httpx2

    return httpx2.Timeout(60.0, connect=15.0, read=longest_silence)


def _no_address(error: Exception) -> ClientError:
    """Of a name that is too long for one, or of a cursor."""
    return ClientError(f"this leads to no address: {one_line(error, 200)}")


def refusal(response: httpx2.Response) -> Refused:
    """The error for a response that refuses a request.

    Args:
        response: answer of the server, with its body read; any status but success.

    Returns:
        An exception whose message is the problem document in one line, with up to five faults in
        fields, what to do about it, and in how many seconds a busy server may be asked again.
    """
    problem = _problem(response)
    detail = "; ".join([one_line(problem.get("detail") or problem.get("title")), *_fields(problem)])
    if response.is_redirect:
        detail = (
            f"the server sends us on to {one_line(response.headers.get('Location'))}: log in with "
            "that address"
        )
    elif response.status_code == 401:
        detail = f"{detail.rstrip('.') or 'not logged in'}: run dialeval login"
    elif not detail:
        detail = f"the server answered {response.status_code} without saying why"
    wait = parse_integer(response.headers.get("Retry-After", ""))
    if response.status_code in BUSY and wait is not None:
        detail += f" (again in {wait} seconds)"
    return Refused(detail, response.status_code, problem)


def _fields(problem: dict[str, Any]) -> list[str]:
    """What is wrong with single fields, where the summary does not say it already."""
    errors = problem.get("errors")
    problems = (
        [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    )
    return [
        f"{one_line(error.get('field'), 60)}: {one_line(error.get('message'), 200)}"
        for error in problems[:5]
        if error.get("message") != problem.get("detail")
    ]


def _problem(response: httpx2.Response) -> dict[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        document = response.json()
        if isinstance(document, dict):
            return document
    return {}


def _strong_etag(response: httpx2.Response) -> str:
    """Of an answer that may be continued; "" where it says of none, or is compressed on its way."""
    etag = str(response.headers.get("ETag", ""))
    is_plain = "Content-Encoding" not in response.headers
    return etag if is_plain and etag.startswith('"') else ""


def _parsed(response: httpx2.Response) -> dict[str, Any]:
    if response.status_code == 204:
        return {}
    try:
        document = response.json()
    # No JSON, no UTF-8, numbers of thousands of digits
    except (ValueError, RecursionError) as error:
        raise ClientError(
            "the server's answer is no JSON: is this the address of a dialeval site?"
        ) from error
    if not isinstance(document, dict):
        raise ClientError("the server's answer is no JSON object")
    return document


def _retry_after(header: str | None, attempt: int) -> float:
    seconds = parse_integer(header or "")
    return float(2**attempt) if seconds is None else max(1.0, float(seconds))


def _given(query: Query) -> dict[str, str]:
    return {name: str(value) for name, value in query.items() if value is not None}


@contextlib.contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name when the block ends well, and vanishes otherwise."""
    try:
        with temporary_folder(beside=path) as folder:
            unfinished = folder / "download"
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(path)
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from error
