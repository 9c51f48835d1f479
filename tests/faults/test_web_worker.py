"""The web server's worker beside what test_slow_clients.py asks of it: one process, with few
connections."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.conftest import made_site
from tests.faults.test_proxies import made_certificate
from tests.faults.test_slow_clients import QUICK_SECONDS, SET_UP, Crowd
from tests.services import free_port
from tests.site import Site, answers, wait_until

pytestmark = pytest.mark.slow

CONNECTIONS = 60
HAND_IN = "/api/v1/challenges/cup/rounds/one/submissions"
A_LARGE_FILE = "/static/plotly/plotly.min.js"
"""Of 4.5 MB, for everybody."""


class Web:
    def __init__(self, site: Site) -> None:
        self.site, self.port = site, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        options = [
            "--workers",
            "1",
            "--worker-connections",
            str(CONNECTIONS),
            "--bind",
            f"127.0.0.1:{self.port}",
        ]
        site.start(
            "web",
            "-m",
            "gunicorn",
            "dialeval_site.wsgi",
            "--config",
            "deploy/gunicorn.conf.py",
            *options,
        )
        wait_until(lambda: answers(f"{self.address}/health/"), 240, "the web server answers")
        self.token = str(json.loads(site.python(SET_UP)))

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 60)

    def seconds_of_health(self) -> float:
        begun = time.monotonic()
        with self.connected() as connection:
            connection.sendall(asking("/health/"))
            assert b" 200 " in everything(connection)[:20]
        return time.monotonic() - begun


def asking(path: str, more: str = "Connection: close\r\n", method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n".encode()


def everything(connection: socket.socket) -> bytes:
    found = b""
    with suppress(ConnectionResetError):
        while received := connection.recv(65_536):
            found += received
    return found


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with made_site(tmp_path_factory.mktemp("web-worker")) as site:
        site.settings |= {"DIALEVAL_API_RATE": "100000"}
        yield Web(site)


def test_more_connections_than_there_are_keep_nobody_out(web: Web) -> None:
    crowd = Crowd(
        web.port,
        False,
        b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a",
        every=0.5,
    )
    try:
        for _ in range(5):
            crowd.come(CONNECTIONS)
            assert web.seconds_of_health() < QUICK_SECONDS
    finally:
        crowd.go()


def test_a_large_answer_comes_whole_to_who_reads_slowly(web: Web) -> None:
    with web.connected() as quick:
        quick.sendall(asking(A_LARGE_FILE))
        expected = everything(quick).partition(b"\r\n\r\n")[2]
    assert len(expected) > 1_000_000
    with web.connected() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        slow.sendall(asking(A_LARGE_FILE))
        received = slow.recv(1000)
        time.sleep(2)
        while piece := slow.recv(65_536):
            received += piece
            time.sleep(0.02)
    assert received.partition(b"\r\n\r\n")[2] == expected


def test_requests_that_come_together_are_answered_in_turn(web: Web) -> None:
    with web.connected() as connection:
        first, second = asking("/health/", ""), asking("/no/such/address/", "")
        connection.sendall(first + second + asking("/health/"))
        said = everything(connection)
    assert re.findall(rb"HTTP/1\.1 (\d+) ", said) == [b"200", b"404", b"200"]


def test_a_request_in_small_pieces_is_put_together(web: Web) -> None:
    form = b"username=ann&password=quiet-river"
    kind = "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
    head = f"{kind}Content-Length: {len(form)}\r\n"
    with web.connected() as connection:
        whole = asking("/accounts/login/", head, "POST") + form
        for place in range(0, len(whole), 7):
            connection.sendall(whole[place : place + 7])
            time.sleep(0.01)
        # It was read: what it lacks is the token against CSRF.
        assert everything(connection).startswith(b"HTTP/1.1 403 ")


def headers_of_file(web: Web, length: int, more: str = "") -> bytes:
    kind = "Content-Type: multipart/form-data; boundary=x\r\nConnection: close\r\n"
    return asking(
        HAND_IN,
        f"Authorization: Bearer {web.token}\r\nContent-Length: {length}\r\n{kind}{more}",
        "POST",
    )


def multipart(size: int) -> bytes:
    name = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nmine\r\n'
    file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="r.jsonl"\r\n\r\n'
    return name + file + os.urandom(8).hex().encode() + b"a" * size + b"\r\n--x--\r\n"


@pytest.mark.parametrize("size", [1000, 3_000_000])
def test_who_waits_to_be_told_to_send_is_told(web: Web, size: int) -> None:
    body = multipart(size)
    with web.connected() as connection:
        connection.sendall(headers_of_file(web, len(body), "Expect: 100-continue\r\n"))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert everything(connection).startswith(b"HTTP/1.1 201 ")


def test_who_waits_to_be_told_to_send_and_may_not_sends_nothing(web: Web) -> None:
    with web.connected() as connection:
        kind = "Content-Type: multipart/form-data; boundary=x\r\n"
        head = f"{kind}Expect: 100-continue\r\nContent-Length: 90000000\r\n"
        connection.sendall(asking(HAND_IN, head, "POST"))
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


def test_a_fifth_file_at_once_is_refused(web: Web) -> None:
    body = multipart(2_000_000)
    under_way = [web.connected() for _ in range(4)]
    try:
        for connection in under_way:
            connection.sendall(headers_of_file(web, len(body)) + body[:100_000])
        time.sleep(2)
        with web.connected() as fifth:
            fifth.sendall(headers_of_file(web, len(body)) + body)
            assert everything(fifth).startswith(b"HTTP/1.1 429 ")
        under_way[0].sendall(body[100_000:])
        assert everything(under_way[0]).startswith(b"HTTP/1.1 201 ")
        with web.connected() as another:
            another.sendall(headers_of_file(web, len(body)) + multipart(2_000_000))
            assert everything(another).startswith(b"HTTP/1.1 201 ")
    finally:
        for connection in under_way:
            connection.close()


def test_of_somebody_who_was_refused_not_all_is_read(web: Web) -> None:
    """Who sends 201 MB to an address that takes none hears it, and is hung up on: not all of it
    crosses the line."""
    sent = 0
    with web.connected() as connection:
        connection.sendall(asking("/accounts/login/", "Content-Length: 201000000\r\n", "POST"))
        with suppress(ConnectionResetError, BrokenPipeError):
            while sent < 201_000_000:
                connection.sendall(bytes(1_000_000))
                sent += 1_000_000
        assert sent < 100_000_000


def test_who_is_too_slow_is_told(web: Web) -> None:
    for path, kind in [
        ("/accounts/login/", b"text/plain"),
        ("/api/v1/tokens", b"application/problem+json"),
    ]:
        with web.connected() as connection:
            connection.sendall(asking(path, "Content-Length: 100\r\n", "POST") + b"a")
            said = everything(connection)
        assert said.startswith(b"HTTP/1.1 408 ")
        assert kind in said


def test_amade_certificate_is_refused_at_the_start(web: Web) -> None:
    (web.site.home / "both.pem").write_bytes(made_certificate())
    options = ["--certfile", str(web.site.home / "both.pem"), "--bind", f"127.0.0.1:{free_port()}"]
    process = web.site.start(
        "secure",
        "-m",
        "gunicorn",
        "dialeval_site.wsgi",
        "--config",
        "deploy/gunicorn.conf.py",
        *options,
    )
    assert process.wait(120) != 0
    assert "HTTPS ends at the proxy" in web.site.logs()
