"""How much of a body is read after the answer was decided; that an answer is heard: tests/faults/test_proxies.py."""

from __future__ import annotations

import io

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from gunicorn.http.errors import InvalidChunkSize, NoMoreData

from dialeval_site.body_limit import BESIDE_THE_FILE
from dialeval_site.unread_bodies import ReadToTheEnd


class Raising(io.BytesIO):
    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    def read(self, _size: int | None = -1, /) -> bytes:
        raise self.problem


def answered(method: str, body: io.BytesIO, is_terminated: bool = True) -> int:
    """The status of an answer that was decided without the body."""
    request = RequestFactory().generic(method, "/api/v1/tokens")
    request.META |= {"wsgi.input": body, "wsgi.input_terminated": is_terminated}
    return ReadToTheEnd(lambda _request: HttpResponse(status=401))(request).status_code


@pytest.mark.parametrize(
    ("method", "is_terminated", "read"), [("POST", True, 200_000), ("GET", True, 0), ("POST", False, 0)]
)
def test_what_is_left_of_a_body_is_read(method: str, is_terminated: bool, read: int) -> None:
    """Unless the server does not say where it ends: reading on would wait for the next request."""
    body = io.BytesIO(bytes(200_000))
    assert answered(method, body, is_terminated) == 401
    assert body.tell() == read


def test_no_more_is_read_than_an_upload_may_have(settings) -> None:
    settings.MAX_UPLOAD_BYTES = 100_000
    body = io.BytesIO(bytes(100_000 + BESIDE_THE_FILE + 1))
    answered("POST", body)
    assert body.tell() == 100_000 + BESIDE_THE_FILE


@pytest.mark.parametrize("problem", [ConnectionResetError(), InvalidChunkSize(b"zz"), NoMoreData()])
def test_a_body_that_breaks_off_or_is_none_changes_no_answer(problem: Exception) -> None:
    assert answered("POST", Raising(problem)) == 401
