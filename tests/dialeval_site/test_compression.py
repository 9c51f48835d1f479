"""Pages are sent as gzip, and what is kept of them is compressed once."""

from __future__ import annotations

import gzip
import zlib

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from common.cache import Part
from dialeval_site.middleware import compression
from dialeval_site.middleware.compression import QuickGZip, gzipped

TABLE = "".join(
    f"<tr><td>{number}</td><td>−{number / 7:.3f}</td></tr>" for number in range(4000)
).encode()
CHART = b'{"x": [1, 2, 3]}' * 1000


@pytest.mark.parametrize(
    "parts",
    [(), (TABLE,), (TABLE, CHART), (CHART, TABLE), (TABLE, TABLE), (b"not there" * 1000, TABLE)],
    ids=[
        "none",
        "one",
        "two",
        "two in the other order",
        "one named twice",
        "one that is not on the page",
    ],
)
def test_the_page_is_the_same_whatever_of_it_was_kept(parts: tuple[bytes, ...]) -> None:
    page = b"<h1>Systems</h1>" + TABLE + b"<p>between</p>" + CHART + b"</html>"
    assert gzip.decompress(gzipped(page, [Part(one) for one in parts], 100)) == page


def test_a_kept_part_is_compressed_for_its_first_reader_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compressed: list[int] = []
    whole = compression._deflate

    def counted(piece: bytes, end: int, level: int = compression.LEVEL) -> bytes:
        compressed.append(len(piece))
        return whole(piece, end, level)

    monkeypatch.setattr(compression, "_deflate", counted)
    part = Part(TABLE)
    for page in (b"one reader" + TABLE, b"another one" + TABLE + b"!"):
        assert gzip.decompress(gzipped(page, [part], 100)) == page
    assert compressed == [len(TABLE), 10, 0, 11, 1]


def test_a_small_part_is_compressed_with_what_stands_around_it() -> None:
    part = Part(b"<p>short</p>")
    assert gzip.decompress(gzipped(b"a<p>short</p>b", [part], 100)) == b"a<p>short</p>b"
    assert part.deflated == b""


def test_the_length_of_what_is_sent_varies() -> None:
    """By a file name of random length (Heal the Breach): with up to 100 letters, 20 pages are all
    alike by chance once in 100^19."""
    assert len({len(gzipped(TABLE, [], 100)) for _ in range(20)}) > 1


def test_a_large_page_goes_through_with_its_parts() -> None:
    request = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    request.kept_parts = [Part(TABLE)]  # type: ignore[attr-defined]
    response = QuickGZip(lambda _request: HttpResponse(b"<html>" + TABLE))(request)
    assert response["Content-Encoding"] == "gzip"
    assert int(response["Content-Length"]) == len(response.content)
    assert gzip.decompress(response.content) == b"<html>" + TABLE
    assert zlib.decompress(request.kept_parts[0].deflated + b"\x03\x00", -15) == TABLE  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content_type", "packed"), [("application/zip", False), ("text/csv", True)]
)
def test_an_archive_is_not_packed_again(content_type: str, packed: bool) -> None:
    request = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    answer = StreamingHttpResponse([TABLE], content_type=content_type)
    assert QuickGZip(lambda _: answer)(request).has_header("Content-Encoding") is packed
