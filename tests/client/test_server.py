"""Requests: patience where the server asks for it, one line where it refuses, whole files or
none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.client.credentials import Credentials
from leaderboard.client.errors import ClientError, Refused
from leaderboard.client.server import Server
from tests.client.stand_in import Answer, StandIn, stand_in


class Clock:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connection(server: StandIn, clock: Clock) -> Iterator[Server]:
    with Server(Credentials(server.address, "dial_secret"), sleep=clock.sleep) as connection:
        yield connection


def nothing(_now: int, _of: int) -> None:
    pass


def test_the_token_goes_into_the_header(server: StandIn, connection: Server) -> None:
    server.gives("me", {"username": "ada"})
    assert connection.get("me") == {"username": "ada"}
    assert server.asked[0].headers["Authorization"] == "Bearer dial_secret"
    assert server.asked[0].headers["User-Agent"].startswith("dialeval/")


@pytest.fixture
def no_exceptions_for_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_exceptions_for_proxies")
@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_no_proxy_sees_a_token_that_goes_over_plain_http(
    server: StandIn, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    server.gives("me", {"username": "ada"})
    with stand_in() as proxy:
        monkeypatch.delenv("http_proxy", raising=False)  # it goes before HTTP_PROXY
        monkeypatch.setenv(name, proxy.address)
        with Server(Credentials(server.address, "dial_secret")) as connection:
            assert connection.get("me") == {"username": "ada"}
        assert proxy.asked == []


def test_the_environments_certificates_hold_for_https(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    with pytest.raises(OSError, match="No such file"):
        Server(Credentials("https://dialeval.example.org", "dial_secret"))


@pytest.mark.usefixtures("no_exceptions_for_proxies")
@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1", "http://127.0.0.1:abc"])
def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(ClientError, match="the environment's proxy cannot be used"):
        Server(Credentials("https://dialeval.example.org", "dial_secret"))


def test_a_path_that_is_too_long_for_an_address_is_said(connection: Server, tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="URL too long"):
        connection.get("x" * 70_000)
    with pytest.raises(ClientError, match="URL too long"):
        connection.download("x" * 70_000, tmp_path / "out", nothing)


def test_lists_are_read_page_by_page(server: StandIn, connection: Server) -> None:
    server.gives(
        "things", {"items": [{"n": 1}, {"n": 2}], "next": "c2"}, {"items": [{"n": 3}], "next": None}
    )
    assert [item["n"] for item in connection.items("things", state="open")] == [1, 2, 3]
    assert [asked.query for asked in server.asked] == [
        {"state": "open"},
        {"cursor": "c2", "state": "open"},
    ]


def test_a_cursor_that_leads_nowhere_ends_the_list(server: StandIn, connection: Server) -> None:
    server.gives("things", {"items": [], "next": "again"})
    assert list(connection.items("things")) == []
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says(
    server: StandIn, connection: Server, clock: Clock, status: int
) -> None:
    server.refuses("things", status, "later", times=2, Retry_After="7")
    server.gives("things", {"ok": True})
    assert connection.get("things") == {"ok": True}
    assert clock.slept == [7.0, 7.0]


def test_without_a_time_the_pauses_grow(server: StandIn, connection: Server, clock: Clock) -> None:
    server.refuses("things", 503, "later")
    with pytest.raises(Refused, match="later"):
        connection.get("things")
    assert clock.slept == [2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_very_long_wait_is_told_and_not_waited_for(
    server: StandIn, connection: Server, clock: Clock
) -> None:
    server.refuses("tokens", 429, "Too many tries.", Retry_After="3600")
    with pytest.raises(Refused, match=r"^Too many tries\. \(again in 3600 seconds\)$"):
        connection.post("tokens", {})
    assert clock.slept == []


def test_a_post_that_was_not_answered_is_not_sent_again(connection: Server, clock: Clock) -> None:
    connection._http.base_url = "http://127.0.0.1:9/"  # nobody listens there
    with pytest.raises(ClientError, match="does not answer"):
        connection.post("challenges/c/teams", {})
    assert clock.slept == []
    with pytest.raises(ClientError, match="does not answer"):
        connection.get("me")
    assert clock.slept == [1.0, 2.0]


def test_a_refusal_is_one_safe_line(server: StandIn, connection: Server) -> None:
    server.refuses("me", 403, "No\n\x1b[31myou may not\u202e.")
    with pytest.raises(Refused) as refused:
        connection.get("me")
    assert (
        str(refused.value)
        == "No \N{REPLACEMENT CHARACTER}[31myou may not\N{REPLACEMENT CHARACTER}."
    )
    assert refused.value.status == 403


def test_wrong_fields_are_named(server: StandIn, connection: Server) -> None:
    body = b'{"detail": "Not valid.", "errors": [{"field": "body.name", "message": "too long"}]}'
    server.gives("tokens", Answer(body, 422))
    with pytest.raises(Refused, match=r"^Not valid\.; body\.name: too long$"):
        connection.post("tokens", {})


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"\xff", b"", b"[" * 100_000, b"[" + b"1" * 9_000 + b"]"]
)
def test_what_is_no_dialeval_site_is_said(server: StandIn, connection: Server, body: bytes) -> None:
    server.gives("me", Answer(body))
    with pytest.raises(ClientError, match="the server's answer is no JSON"):
        connection.get("me")


def test_an_error_without_a_problem_has_a_line_too(server: StandIn, connection: Server) -> None:
    server.gives("me", Answer(b"<h1>Bad gateway</h1>", 502))
    with pytest.raises(Refused, match="the server answered 502"):
        connection.get("me")


def test_a_redirect_does_not_take_the_token_along(server: StandIn, connection: Server) -> None:
    server.gives("me", Answer(b"", 302, {"Location": f"{server.address}/api/v1/elsewhere"}))
    with pytest.raises(Refused, match="log in with that address"):
        connection.get("me")
    assert len(server.asked) == 1


def test_an_upload_tells_its_progress_and_keeps_its_bytes(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    data = bytes(range(256)) * 1_000
    path = tmp_path / "responses.json"
    path.write_bytes(data)
    server.gives("to", Answer(b'{"id": "s1"}', 201))
    moved: list[tuple[int, int]] = []
    document, is_new = connection.upload(
        "to", path, {"name": "My system"}, lambda now, of: moved.append((now, of))
    )
    assert (document, is_new) == ({"id": "s1"}, True)
    assert moved[-1] == (len(data), len(data))
    assert [now for now, _ in moved] == sorted(now for now, _ in moved)
    assert data in server.asked[0].body
    assert b'name="name"\r\n\r\nMy system' in server.asked[0].body


def test_an_upload_is_sent_again_whole_when_the_server_is_busy(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    path = tmp_path / "responses.json"
    path.write_bytes(b"x" * 100_000)
    server.refuses("to", 503, "later")
    server.gives("to", Answer(b'{"id": "s1"}', 200))
    _, is_new = connection.upload("to", path, {}, nothing)
    assert not is_new
    assert [b"x" * 100_000 in asked.body for asked in server.asked] == [True, True]


def test_a_download_is_there_whole(server: StandIn, connection: Server, tmp_path: Path) -> None:
    server.gives("file", Answer(b"y" * 300_000))
    moved: list[tuple[int, int]] = []
    size = connection.download(
        "file", tmp_path / "out", lambda now, of: moved.append((now, of)), format="csv"
    )
    assert size == 300_000
    assert (tmp_path / "out").read_bytes() == b"y" * 300_000
    assert moved[-1] == (300_000, 300_000)
    assert server.asked[0].query == {"format": "csv"}


def test_half_a_download_is_fetched_again_and_never_left(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    server.gives("file", Answer(b"half", announced=100), Answer(b"whole"))
    assert connection.download("file", tmp_path / "out", nothing) == 5
    assert (tmp_path / "out").read_bytes() == b"whole"
    server.answers.clear()
    server.gives("file", Answer(b"half", announced=100))
    with pytest.raises(ClientError):
        connection.download("file", tmp_path / "other", nothing)
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_broken_download_goes_on_where_it_stopped(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    """4 of 9 bytes came; the part begins with the fifth."""
    part = {"ETag": '"one"', "Content-Range": "bytes 4-8/9"}
    server.gives("file", Answer(b"half", headers={"ETag": '"one"'}, announced=9))
    server.gives("file", Answer(b" more", 206, part))
    moved: list[tuple[int, int]] = []
    size = connection.download("file", tmp_path / "out", lambda now, of: moved.append((now, of)))
    assert (size, (tmp_path / "out").read_bytes(), moved[-1]) == (9, b"half more", (9, 9))
    sent = server.asked[1].headers
    assert (sent["Range"], sent["If-Range"]) == ("bytes=4-", '"one"')


def test_a_download_that_changed_meanwhile_begins_anew(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    server.gives("file", Answer(b"half", headers={"ETag": '"one"'}, announced=9))
    server.gives("file", Answer(b"another", headers={"ETag": '"two"'}))
    assert connection.download("file", tmp_path / "out", nothing) == 7
    assert (tmp_path / "out").read_bytes() == b"another"


@pytest.mark.parametrize(
    ("etag", "range"), [('"two"', "bytes 4-8/9"), ('"one"', "bytes 2-8/9"), ('"one"', "")]
)
def test_a_part_of_another_file_or_place_is_not_appended(
    server: StandIn, connection: Server, tmp_path: Path, etag: str, range: str
) -> None:
    server.gives("file", Answer(b"half", headers={"ETag": '"one"'}, announced=9))
    server.gives("file", Answer(b" more", 206, {"ETag": etag, "Content-Range": range}))
    with pytest.raises(ClientError):
        connection.download("file", tmp_path / "out", nothing)
    assert list(tmp_path.iterdir()) == []


def test_a_download_goes_on_as_often_as_it_comes_further(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    """Nine answers of a byte each, of which eight break: more than the three tries of one that
    stands still."""
    for place in range(9):
        headers = {"ETag": '"one"', "Content-Range": f"bytes {place}-8/9"}
        server.gives("file", Answer(b"x", 206 if place else 200, headers, announced=9 - place))
    assert connection.download("file", tmp_path / "out", nothing) == 9
    assert len(server.asked) == 9


def test_a_refused_download_leaves_what_was_there(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("mine")
    server.refuses("file", 403, "no")
    with pytest.raises(Refused):
        connection.download("file", tmp_path / "out", nothing)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_folder_that_is_not_there_is_said(
    server: StandIn, connection: Server, tmp_path: Path
) -> None:
    server.gives("file", Answer(b"x"))
    with pytest.raises(ClientError, match="cannot be written"):
        connection.download("file", tmp_path / "nowhere" / "out", nothing)
