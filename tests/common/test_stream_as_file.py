"""Files that are written while they are sent."""

from __future__ import annotations

from collections.abc import Iterator

from common.web import stream_as_file


def test_the_lines_come_whole_in_order_and_many_at_a_time() -> None:
    """1,000 lines of 100 characters: 640 of them are the first piece of 64,000, the rest the
    second."""
    lines = [f"{number:099d}\n" for number in range(1000)]
    response = stream_as_file(lines, "ratings.csv", "text/csv; charset=utf-8")
    pieces = [piece.decode() for piece in response.streaming_content]
    assert "".join(pieces) == "".join(lines)
    assert [len(piece) for piece in pieces] == [64_000, 36_000]
    assert response.headers["Content-Disposition"] == 'attachment; filename="ratings.csv"'
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"


def test_no_more_is_made_than_is_sent() -> None:
    made = []

    def lines() -> Iterator[str]:
        for number in range(10_000):
            made.append(number)
            yield "x" * 99 + "\n"

    assert len(next(iter(stream_as_file(lines(), "x.csv", "text/csv").streaming_content))) == 64_000
    assert len(made) == 640
