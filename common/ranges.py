"""Files that are sent whole or in part, so that a broken download goes on where it stopped
(RFC 9110, 13 and 14)."""

from __future__ import annotations

import os
import re
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class _Part:
    """The next ``count`` bytes of a file, which is closed with it."""

    def __init__(self, file: IO[bytes], count: int) -> None:
        self._file, self._left = file, count
        self.close = file.close

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def fileno(self) -> int:
        """For the web server, which sends ``Content-Length`` bytes from where this stands."""
        number = self._file.fileno()
        os.lseek(number, self._file.tell(), os.SEEK_SET)
        return number


def file_response(
    request: HttpRequest, file: IO[bytes], size: int, sha256: str, content_type: str
) -> HttpResponseBase:
    """The file, or the one range of it that the request names.

    A range is sent where ``If-Range`` is missing or names this content. Several ranges, and what
    is no range of bytes, are answered with the whole file, as the standard allows.

    Args:
        file: open, ``size`` bytes long; closed with the response.
        sha256: of the whole content, which is the strong validator (ETag).

    Returns:
        200; 206 with a part; 304 where ``If-None-Match`` names this content; 416 where the range
        begins behind the end.
    """
    etag = f'"{sha256}"'
    headers = {"ETag": etag, "Accept-Ranges": "bytes"}
    if etag in re.findall(r'"[^"]*"', request.headers.get("If-None-Match", "")):
        file.close()
        return HttpResponse(status=304, headers=headers)
    is_wanted = request.headers.get("If-Range", etag) == etag
    found = _RANGE.fullmatch(request.headers.get("Range", "").strip()) if is_wanted else None
    first, last = found.groups() if found else ("", "")
    begin, end, is_part = 0, size, bool(first or last)
    if first and last and int(first) > int(last):
        is_part = False
    elif first:
        begin, end = int(first), min(size, int(last) + 1 if last else size)
    elif last:
        begin = size - min(size, int(last))
    if is_part and begin >= size:
        file.close()
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    file.seek(begin)
    response = FileResponse(_Part(file, end - begin), content_type=content_type, headers=headers)
    response["Content-Length"] = str(end - begin)
    if is_part:
        response.status_code = 206
        response["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
    return response
