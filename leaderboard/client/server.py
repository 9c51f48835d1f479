"""Requests to the API: one error form, patience where the server asks for it, uploads and downloads
as streams."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from annotations.integers import parse_integer
from annotations.temporary import temporary_folder
from annotations.version import VERSION
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
    """One server and whom it takes us for. ``waiting`` is told, before a pause, why and for how
    many seconds."""

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
        """The document at a path below ``/api/v1/``. Raises Refused, or ClientError where no answer
        came.

        Numbers that a worker has yet to compute are waited for.
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
        """Every item of a list, page by page."""
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

    def post(self, path: str, document: Any = None) -> dict[str, Any]:
        return self._document("POST", path, repeatable=False, json=document)

    def delete(self, path: str) -> None:
        self._answer("DELETE", path, repeatable=True)

    def upload(
        self, path: str, file: Path, fields: Mapping[str, str], moved: Moved
    ) -> tuple[dict[str, Any], bool]:
        """Sends a file as a form. The server's document, and whether it is new: the same bytes
        again are not.

        That is why it is sent again where the connection broke.
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
        """Writes what stands at the path into a file, whole or not at all; its size in bytes."""
        with _whole_file(to) as unfinished:
            return self._stream(path, unfinished, moved, False, _given(query))

    def download_export(self, path: str, to: Path, moved: Moved, **query: str | int | None) -> int:
        """As ``download``, with more patience, and not asked for again after it: the site may still
        be writing."""
        with _whole_file(to) as unfinished:
            return self._stream(path, unfinished, moved, True, _given(query))

    def _stream(
        self, path: str, file: BinaryIO, moved: Moved, is_export: bool, query: dict[str, str]
    ) -> int:
        import httpx2

        request: dict[str, Any] = {
            "params": query,
            "headers": {"Accept": "*/*"},
            "timeout": _timeout(LONGEST_EXPORT if is_export else LONGEST_SILENCE),
        }
        for attempt in range(1, TRIES + 1):
            try:
                with self._http.stream("GET", path, **request) as response:
                    if response.status_code != 200:
                        response.read()
                        if self._waited(response, attempt):
                            continue
                        raise refusal(response)
                    total = int(response.headers.get("Content-Length") or 0)
                    for chunk in response.iter_bytes():
                        file.write(chunk)
                        moved(file.tell(), total)
                    return file.tell()
            except httpx2.InvalidURL as error:
                raise _no_address(error) from error
            except httpx2.HTTPError as error:
                if is_export and isinstance(error, httpx2.ReadTimeout):
                    raise ClientError(self._unreachable(error)) from error
                file.seek(0)
                file.truncate()
                self._pause_after(error, attempt)
        raise AssertionError("the last attempt returns or raises")

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
    """The server's problem document in one line."""
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
