"""``dialeval import``: a file is sent in parts, goes on where it stopped, and becomes a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.client.stand_in import Answer, StandIn

Run = Callable[..., tuple[int, str, str]]
CONTENT = b"0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_bytes(CONTENT)
    return path


def upload(received: int, **other: Any) -> dict[str, Any]:
    return {"id": "u1", "size": 10, "received": received, "part_bytes": 4, **other}


def ended(**other: Any) -> dict[str, Any]:
    return {"id": 7, "state": "done", "progress": {}, "error": "", "problems": [], **other}


STORED = {"slug": "chats", "version": "v1-abc", "is_new": True, "dialogues": 3}
CORPORA = [{**STORED, "responses": 6, "ratings": 0}]


def parts_of(server: StandIn) -> list[tuple[str, bytes]]:
    sent = [asked for asked in server.asked if asked.method == "PATCH"]
    return [(asked.headers["Upload-Offset"], asked.body) for asked in sent]


def test_a_file_is_sent_in_parts_and_becomes_a_corpus(
    dialeval: Run, server: StandIn, file: Path
) -> None:
    server.gives("uploads", upload(0))
    server.gives("uploads/u1", upload(4), upload(8), upload(10))
    server.gives("imports", ended(state="pending"))
    running = {"step": "checked", "records": 2}
    server.gives("imports/7", ended(state="running", progress=running), ended(corpora=CORPORA))
    status, out, err = dialeval("import", file, "--slug", "chats", "--public")
    assert (status, out) == (
        0,
        "chats: stored v1-abc with 3 dialogues, 6 responses, 0 ratings\n",
    )
    assert "the records are being checked" in err
    assert server.asked[0].document == {
        "file_name": "chats.jsonl",
        "size": 10,
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
    }
    assert parts_of(server) == [("0", b"0123"), ("4", b"4567"), ("8", b"89")]
    wanted = next(asked for asked in server.asked if asked.path.endswith("/imports")).document
    assert (wanted["upload"], wanted["slug"], wanted["seen_by"]) == ("u1", "chats", "everybody")


def test_what_is_there_from_before_is_not_sent_again(
    dialeval: Run, server: StandIn, file: Path
) -> None:
    server.gives("uploads", upload(8))
    server.gives("uploads/u1", upload(10))
    server.gives("imports", ended(state="pending"))
    assert dialeval("import", file, "--no-wait")[0] == 0
    assert parts_of(server) == [("8", b"89")]


def test_a_part_that_broke_off_is_asked_for_and_sent_again(
    dialeval: Run, server: StandIn, file: Path
) -> None:
    """The server has it: its answer was lost. And then it has not: the part was changed."""
    server.gives("uploads", upload(0))
    server.gives("uploads/u1", Answer(b"", announced=50), upload(4))
    server.refuses("uploads/u1", 422, "changed")
    server.answers["/api/v1/uploads/u1"][-1].body = b'{"detail": "changed", "code": "digest"}'
    server.gives("uploads/u1", upload(4), upload(8), upload(10))
    server.gives("imports", ended(state="pending"))
    assert dialeval("import", file, "--no-wait")[0] == 0
    assert parts_of(server) == [("0", b"0123"), ("4", b"4567"), ("4", b"4567"), ("8", b"89")]


@pytest.mark.parametrize(
    "answer",
    [upload(-1), upload(11), upload("4"), upload(0, part_bytes=10**12), {"id": "u1"}, upload(0)],
)
def test_a_server_that_makes_no_sense_is_not_asked_without_end(
    dialeval: Run, server: StandIn, file: Path, answer: dict[str, Any]
) -> None:
    """The last one takes parts and never has them."""
    server.gives("uploads", answer)
    server.gives("uploads/u1", answer)
    status, _, err = dialeval("import", file)
    assert status == 1
    assert err.startswith("dialeval: the server")
    assert len(server.asked) <= 2


def test_a_refused_file_is_told_why(dialeval: Run, server: StandIn, file: Path) -> None:
    server.refuses("uploads", 413, "The file is larger than 1 MB.")
    status, _, err = dialeval("import", file)
    assert (status, err) == (1, "dialeval: The file is larger than 1 MB.\n")


def test_problems_of_the_file_are_listed(dialeval: Run, server: StandIn, file: Path) -> None:
    server.gives("uploads", upload(10))
    server.gives("imports", ended(state="pending"))
    problem = "chats.jsonl line 3: no text"
    server.gives("imports/7", ended(state="failed", error="it has problems", problems=[problem]))
    status, _, err = dialeval("import", file)
    assert status == 1
    assert f"{problem}\ndialeval: nothing was stored: it has problems\n" in err


@pytest.mark.parametrize("content", [None, b""])
def test_what_is_no_file_is_not_sent(
    dialeval: Run, server: StandIn, file: Path, content: bytes | None
) -> None:
    file.unlink() if content is None else file.write_bytes(content)
    assert dialeval("import", file)[0] == 1
    assert server.asked == []
