"""A file is sent whole or in part, so that a broken download goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.http import FileResponse, HttpResponse
from django.test import RequestFactory

from common.ranges import file_response
from dialeval_site.middleware.compression import QuickGZip

CONTENT = b"0123456789"
ETAG = '"abc"'


@pytest.fixture
def answer(rf: RequestFactory, tmp_path: Path) -> Any:
    def ask(**headers: str) -> Any:
        path = tmp_path / "file"
        path.write_bytes(CONTENT)
        request = rf.get("/", headers={name.replace("_", "-"): headers[name] for name in headers})
        return file_response(request, path.open("rb"), 10, "abc", "application/zip")

    return ask


def body(response: Any) -> bytes:
    return b"".join(response) if response.streaming else response.content


@pytest.mark.parametrize(
    ("range", "sent", "told"),
    [
        ("bytes=4-", b"456789", "bytes 4-9/10"),
        ("bytes=0-", CONTENT, "bytes 0-9/10"),
        ("bytes=2-4", b"234", "bytes 2-4/10"),
        ("bytes=8-99", b"89", "bytes 8-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=-99", CONTENT, "bytes 0-9/10"),
    ],
)
def test_a_range_is_sent_and_no_more(answer: Any, range: str, sent: bytes, told: str) -> None:
    response = answer(Range=range)
    assert (response.status_code, body(response)) == (206, sent)
    assert response["Content-Range"] == told
    assert response["Content-Length"] == str(len(sent))


@pytest.mark.parametrize(
    "range",
    ["", "bytes=", "bytes=-", "bytes=4-2", "bytes=1-2,4-5", "lines=1-2", "bytes=x-", "bytes=٣-"],
)
def test_what_is_no_range_gets_the_whole_file(answer: Any, range: str) -> None:
    response = answer(Range=range)
    assert (response.status_code, body(response)) == (200, CONTENT)
    assert (response["ETag"], response["Accept-Ranges"]) == (ETAG, "bytes")
    assert "Content-Range" not in response


@pytest.mark.parametrize("range", ["bytes=10-", "bytes=99-100", "bytes=-0"])
def test_a_range_behind_the_end_is_refused_with_the_length(answer: Any, range: str) -> None:
    response = answer(Range=range)
    assert (response.status_code, response["Content-Range"]) == (416, "bytes */10")


@pytest.mark.parametrize(
    ("validator", "status"),
    [(ETAG, 206), ('"other"', 200), ('W/"abc"', 200), ("Sat, 28 Nov 2026 00:00:00 GMT", 200)],
)
def test_a_range_of_what_changed_gets_the_whole_file(
    answer: Any, validator: str, status: int
) -> None:
    response = answer(Range="bytes=4-", If_Range=validator)
    assert (response.status_code, len(body(response))) == (status, 6 if status == 206 else 10)


def test_what_the_client_has_is_not_sent_again(answer: Any) -> None:
    response = answer(If_None_Match=f'"x", W/{ETAG}')
    assert (response.status_code, body(response), response["ETag"]) == (304, b"", ETAG)


def test_the_web_server_is_shown_where_the_part_begins(answer: Any) -> None:
    """It sends the file itself, from where the descriptor stands, ``Content-Length`` bytes."""
    import os

    response: FileResponse = answer(Range="bytes=6-7")
    part: Any = response.file_to_stream
    assert os.read(part.fileno(), int(response["Content-Length"])) == b"67"
    part.close()


def test_a_file_with_ranges_is_not_compressed_on_its_way(rf: RequestFactory) -> None:
    """Parts are counted in the file's own bytes."""
    headers = {"Accept-Ranges": "bytes"}
    for more, encoding in ((headers, None), ({}, "gzip")):
        made = HttpResponse(b"text " * 1000, headers=more)
        packed = QuickGZip(lambda _request, made=made: made)(
            rf.get("/", headers={"Accept-Encoding": "gzip"})
        )
        assert packed.headers.get("Content-Encoding") == encoding
