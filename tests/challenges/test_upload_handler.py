"""Uploads go to disk as they come, and nothing of them is left where nobody wants them."""

from __future__ import annotations

import gc
import hashlib
import io
import tracemalloc
from pathlib import Path

import pytest
from django.conf import settings
from django.http import UnreadablePostError
from django.test import Client, RequestFactory

from leaderboard.challenges import uploads
from tests.campaigns.sets import made_user
from tests.stored_uploads import files_below

BOUNDARY = "boundary"
ENDING = f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings) -> None:
    files_below(settings, tmp_path / "files")
    settings.FILE_UPLOAD_HANDLERS = ["leaderboard.challenges.upload_handler.ToDisk"]


def files_left() -> list[Path]:
    gc.collect()
    return [path for path in settings.UPLOAD_FOLDER.rglob("*") if path.is_file()]


def opening(name: str = "file", file_name: str = "answers.csv") -> bytes:
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
        "Content-Type: text/csv\r\n\r\n"
    ).encode()


class Body(io.RawIOBase):
    """A body of ``size`` bytes between an opening and an ending, of which no more than one chunk is
    ever in memory."""

    def __init__(self, size: int, breaks_at: int | None = None) -> None:
        self.pending, self.left, self.ended = opening(), size, False
        self.sent, self.breaks_at = 0, breaks_at
        self.length = len(opening()) + size + len(ENDING)

    def read(self, wanted: int = -1) -> bytes:
        if self.breaks_at is not None and self.sent >= self.breaks_at:
            raise OSError("the client has gone")
        if not self.pending and self.left:
            self.pending = b"x" * min(self.left, 65_536)
            self.left -= len(self.pending)
        elif not self.pending and not self.ended:
            self.pending, self.ended = ENDING, True
        given, self.pending = self.pending[:wanted], self.pending[wanted:]
        self.sent += len(given)
        return given


def request_with(body: Body):
    return RequestFactory().request(
        REQUEST_METHOD="POST",
        CONTENT_TYPE=f"multipart/form-data; boundary={BOUNDARY}",
        CONTENT_LENGTH=str(body.length),
        **{"wsgi.input": body},
    )


def test_a_large_file_is_hashed_on_its_way_to_disk_and_memory_does_not_grow() -> None:
    size = 50_000_000
    request = request_with(Body(size))
    tracemalloc.start()
    try:
        upload = uploads.uploaded(request.FILES["file"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (upload.size, upload.path.stat().st_size, upload.file_name) == (
        size,
        size,
        "answers.csv",
    )
    assert upload.sha256 == hashlib.sha256(b"x" * size).hexdigest()
    assert peak < 5_000_000


def test_a_file_that_nobody_keeps_goes_with_its_request() -> None:
    request = request_with(Body(1000))
    assert request.FILES["file"].size == 1000
    assert len(files_left()) == 1
    request.close()
    assert files_left() == []


def test_a_file_that_was_kept_stays_when_its_request_is_over() -> None:
    request = request_with(Body(1000))
    upload = uploads.uploaded(request.FILES["file"])
    request.close()
    assert files_left() == [upload.path]


@pytest.mark.parametrize("breaks_at", [1, 80, 70_000, 190_000])
def test_a_client_that_vanishes_in_the_middle_leaves_nothing(breaks_at: int) -> None:
    request = request_with(Body(200_000, breaks_at))
    with pytest.raises(UnreadablePostError):
        request.FILES  # noqa: B018  reading it reads the body
    request.close()
    del request
    assert files_left() == []


def test_a_file_may_be_read_as_any_uploaded_file() -> None:
    file = request_with(Body(10)).FILES["file"]
    assert b"".join(file.chunks()) == b"x" * 10
    assert file.read(4) == b""
    file.seek(0)
    assert file.read(4) == b"xxxx"


def test_two_files_of_one_request_are_two_files() -> None:
    body = opening("a", "a.csv") + b"aa\r\n" + opening("b", "b.csv") + b"bbb" + ENDING
    request = RequestFactory().generic(
        "POST", "/", body, f"multipart/form-data; boundary={BOUNDARY}"
    )
    assert {name: (file.size, file.sha256) for name, file in request.FILES.items()} == {
        "a": (2, hashlib.sha256(b"aa").hexdigest()),
        "b": (3, hashlib.sha256(b"bbb").hexdigest()),
    }


# --- how much a request may bring -----------------------------------------------------------------


class Unread(io.RawIOBase):
    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")


@pytest.mark.parametrize(
    "length", ["6000001", "9" * 19, "9" * 5000, "many"], ids=["long", "longer", "longest", "none"]
)
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/corpora/new/", "text/html"),
        ("/api/v1/challenges/a/rounds/b/submissions", "application/problem+json"),
    ],
)
@pytest.mark.django_db
def test_a_request_that_is_too_long_is_refused_before_a_byte_is_read(
    settings, path: str, kind: str, length: str
) -> None:
    """Django takes a length of any number of digits as it is said."""
    settings.MAX_UPLOAD_BYTES = settings.MAX_CORPUS_UPLOAD_BYTES = 5_000_000
    answer = Client().generic("POST", path, **{"wsgi.input": Unread(), "CONTENT_LENGTH": length})
    assert answer.status_code == 413
    assert answer["Content-Type"].startswith(kind)
    assert "larger than 5 MB" in answer.content.decode()
    assert files_left() == []


@pytest.mark.django_db
def test_a_request_at_the_limit_is_not(settings) -> None:
    """It is read, and its form says what is missing."""
    settings.MAX_UPLOAD_BYTES = settings.MAX_CORPUS_UPLOAD_BYTES = 5_000_000
    organiser = Client()
    organiser.force_login(made_user("ada", "organiser"))
    answer = organiser.post("/corpora/new/", {"file": io.BytesIO(b"x" * 5_000_000)})
    assert answer.status_code == 422
    assert b"This field is required" in answer.content
