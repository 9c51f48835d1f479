"""Two hundred clients that take their time, and what everybody else notices of them: nothing.

gunicorn as deploy/ starts it, by itself and behind the proxies of deploy/. nginx is tried where the
machine has it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.challenges.http_participant import form
from tests.conftest import made_site
from tests.faults.test_deployment import Deployed
from tests.faults.test_proxies import (
    A_START,
    ACCOUNT,
    NAME,
    PASSWORD,
    begun_caddy,
    begun_nginx,
    behind,
)
from tests.site import wait_until

pytestmark = pytest.mark.slow

CROWD = 200
A_BYTE_EVERY_SECONDS = 2
QUICK_SECONDS = 10
"""For an answer that takes milliseconds, on a machine that does much else. A thread that is held is
held for longer."""
ALL_ARE_GONE_SECONDS = 120
"""The web server gives them 20 s, and nginx waits for as long until they have heard it."""
SWALLOWED_SHARE = 0.02
"""Of those who have announced a small body. Caddy (Go's server) takes the rest of such a body even
after the answer, where a byte comes in the same moment as the answer: of some hundred connections
about one."""
ESTABLISHED = "01"
HAND_IN = "/api/v1/challenges/cup/rounds/one/submissions"
LOG_IN = "/accounts/login/"

SET_UP = """
import json
from annotations.models import Corpus
from tests.api_client import token_of
from tests.challenges.sets import open_challenge, open_round, small_version, team_with_member
version = small_version(3, 2, ("alpha", "=beta"))
Corpus.objects.update(is_public=True)
round = open_round(version, open_challenge("cup"), slug="one", daily_limit=500, total_limit=500)
team, user = team_with_member(round.challenge)
print(json.dumps(token_of(user, "read", "submit")))
"""


def posted(length: int, body: bytes, path: str = LOG_IN) -> bytes:
    kind = "multipart/form-data; boundary=x" if body else "application/x-www-form-urlencoded"
    head = f"POST {path} HTTP/1.1\r\nHost: {NAME}\r\nX-Forwarded-Proto: https\r\n"
    return f"{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode() + body


A_PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
A_FILE = A_PART + b"a" * 30_000
BEGINNINGS = {
    "150 MB announced": posted(150_000_000, b"").rstrip() + b"\r\n\r\nu",
    "a small body announced": posted(400, b"").rstrip() + b"\r\n\r\nu",
    "headers that do not end": f"POST {LOG_IN} HTTP/1.1\r\nHost: {NAME}\r\nX-Slow: a".encode(),
    "a file from nobody": posted(150_000_000, A_FILE, "/challenges/cup/rounds/one/submit/"),
    "a small file from nobody": posted(60_000, A_FILE),
}


class Crowd:
    """Connections that send a beginning, and then a byte now and then, until they are ended."""

    def __init__(
        self,
        port: int,
        is_secure: bool,
        beginning: bytes,
        every: float = A_BYTE_EVERY_SECONDS,
        reads: bool = True,
    ) -> None:
        self.port, self.beginning, self.every, self.reads = port, beginning, every, reads
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.is_secure = is_secure
        self.connections: list[socket.socket] = []
        self.told: set[socket.socket] = set()
        """Who has heard something."""
        self.stopping = threading.Event()
        self.dripping = threading.Thread(target=self._drip)

    def come(self, count: int) -> None:
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", self.port), A_START)
            if self.is_secure:
                connection = self.context.wrap_socket(connection, server_hostname=NAME)
            connection.settimeout(QUICK_SECONDS)
            with suppress(OSError):  # the site may hang up before all of it is sent
                connection.sendall(self.beginning)
            connection.setblocking(False)
            self.connections.append(connection)
        if self.reads and not self.dripping.is_alive():
            self.dripping.start()

    def _drip(self) -> None:
        while not self.stopping.wait(self.every):
            for connection in list(self.connections):
                if self._has_ended(connection):
                    self.connections.remove(connection)
                    connection.close()

    def _has_ended(self, connection: socket.socket) -> bool:
        try:
            connection.send(b"a")
            while True:
                if not connection.recv(65_536):
                    return True
                self.told.add(connection)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            return True

    def is_hung_up_on(self, swallowed: float = 0.0) -> bool:
        """All of it; but for a share that was told and goes on, see ``SWALLOWED_SHARE``."""
        left = list(self.connections)
        return len(left) <= swallowed * CROWD and self.told.issuperset(left)

    def go(self) -> None:
        self.stopping.set()
        if self.dripping.is_alive():
            self.dripping.join()
        for connection in self.connections:
            connection.close()


@contextmanager
def crowd(
    place: Place,
    beginning: bytes,
    count: int = CROWD,
    reads: bool = True,
) -> Iterator[Crowd]:
    them = Crowd(place.port, place.is_secure, beginning, reads=reads)
    try:
        them.come(count)
        yield them
    finally:
        them.go()


class Place:
    """Where visitors come in."""

    def __init__(
        self, deployed: Deployed, token: str, secure: int | None = None, few_of_one: bool = False
    ) -> None:
        self.deployed, self.token = deployed, token
        self.port, self.is_secure = (secure, True) if secure else (deployed.port, False)
        self.few_of_one = few_of_one
        """Whether it takes no more than one crowd from one address."""

    def visitor(self) -> httpx2.Client:
        address = f"http{'s' if self.is_secure else ''}://127.0.0.1:{self.port}"
        sent = {"Host": NAME, "X-Forwarded-Proto": "https", "Origin": f"https://{NAME}"}
        options: dict[str, Any] = {"verify": False, "timeout": 30, "trust_env": False}
        return httpx2.Client(base_url=address, headers=sent, **options)

    def seconds_of_health(self, times: int = 8) -> list[float]:
        """Each time a new connection, as of somebody who has just come."""
        found = []
        for _ in range(times):
            begun = time.monotonic()
            with suppress(httpx2.HTTPError), self.visitor() as visitor:
                assert visitor.get("/health/").status_code == 200
            found.append(time.monotonic() - begun)
            if found[-1] > QUICK_SECONDS:
                break  # the rest would tell no more
            time.sleep(0.2)
        print(f"health: median {statistics.median(found):.3f}, longest {max(found):.3f} s")
        return found

    def log_in(self) -> int:
        with self.visitor() as visitor:
            page = visitor.get(LOG_IN)
            (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text))
            cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in page.cookies.jar)
            headers = {"Referer": f"https://{NAME}{LOG_IN}", "Cookie": cookies}
            sent = {"username": "wren", "password": PASSWORD, "csrfmiddlewaretoken": token}
            return visitor.post(LOG_IN, data=sent, headers=headers).status_code

    def hand_in(self, size: int) -> int:
        """A file of its own each time: the same again would not count."""
        with self.visitor() as visitor:
            file = os.urandom(16).hex().encode() + b"a" * size
            sent = {"files": {"file": ("responses.jsonl", file)}, "data": {"name": "mine"}}
            visitor.headers["Authorization"] = f"Bearer {self.token}"
            return visitor.post(HAND_IN, **sent).status_code

    def connections_of_the_web_server(self) -> int:
        """Of its own, whoever the clients of a proxy are."""
        rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
        fields = [row.split() for row in rows]
        return sum(
            local.endswith(f":{self.deployed.port:04X}") and state == ESTABLISHED
            for _, local, _, state, *_ in fields
        )

    def incoming(self) -> list[Path]:
        return list((self.deployed.site.home / "files" / "incoming").glob("*"))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with made_site(tmp_path_factory.mktemp("slow-clients")) as site:
        deployed = Deployed(site)
        site.settings |= {"ALLOWED_HOSTS": NAME, "DIALEVAL_API_RATE": "100000"}
        deployed.install()
        site.python(ACCOUNT.format(PASSWORD))
        deployed.start_loaded_web()
        lives = lambda: deployed.ask("/health/", Host=NAME)[0] == 200  # noqa: E731
        wait_until(lives, A_START, "the web server answers")

        def is_warm() -> bool:
            begun = time.monotonic()
            return all(lives() for _ in range(10)) and time.monotonic() - begun < 10

        wait_until(is_warm, A_START, "each of its processes has loaded the site")
        yield deployed


@pytest.fixture(scope="module")
def token(deployed: Deployed) -> str:
    return str(json.loads(deployed.site.python(SET_UP)))


PROXIES = {"no proxy": None, "Caddy": begun_caddy, "nginx": begun_nginx}


@pytest.fixture(scope="module", params=list(PROXIES.values()), ids=list(PROXIES))
def place(
    request: pytest.FixtureRequest,
    deployed: Deployed,
    token: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    begun: Callable[..., list[str]] | None = request.param
    proxy = behind(begun, deployed, tmp_path_factory.mktemp("proxy")) if begun else nullcontext()
    with proxy as proxied:
        yield Place(
            deployed, token, proxied.secure if proxied else None, few_of_one=begun is begun_nginx
        )


def test_the_site_answers_while_two_hundred_send_a_byte_now_and_then(place: Place) -> None:
    """Two hundred of each kind. The next come while the last are still there: they are given
    twenty seconds."""
    with ExitStack() as crowds:
        them: dict[str, Crowd] = {}
        for kind, beginning in BEGINNINGS.items():
            if place.few_of_one:
                for one, crowd_of_it in them.items():
                    wait_until_hung_up_on(place, one, crowd_of_it)
            them[kind] = crowds.enter_context(crowd(place, beginning, CROWD // 2))
            assert max(place.seconds_of_health()) < QUICK_SECONDS
            them[kind].come(CROWD // 2)
            print({one: len(crowd_of_it.connections) for one, crowd_of_it in them.items()})
            assert max(place.seconds_of_health()) < QUICK_SECONDS
            assert place.log_in() == 302
            assert place.hand_in(3_000_000) == 201
            assert place.incoming() == []
        for kind, crowd_of_it in them.items():
            wait_until_hung_up_on(place, kind, crowd_of_it)
        wait_until(
            lambda: not place.connections_of_the_web_server(),
            ALL_ARE_GONE_SECONDS,
            "the web server has none of them",
        )
    assert place.incoming() == []


def wait_until_hung_up_on(place: Place, kind: str, them: Crowd) -> None:
    swallowed = SWALLOWED_SHARE if place.is_secure and "small" in kind else 0.0
    wait_until(
        lambda: them.is_hung_up_on(swallowed),
        ALL_ARE_GONE_SECONDS,
        f"the site has ended their connections: {kind}",
    )


def test_the_site_answers_while_two_hundred_do_not_read_their_answers(place: Place) -> None:
    """A file of more than a megabyte that anybody may ask for."""
    (name,) = re.findall(
        r"plotly\.min\.\w+\.js",
        (place.deployed.site.home / "static" / "staticfiles.json").read_text(),
    )
    head = f"HTTP/1.1\r\nHost: {NAME}\r\nX-Forwarded-Proto: https"
    asked = f"GET /static/plotly/{name} {head}\r\n\r\n".encode()
    with crowd(place, asked, reads=False):
        # What else a machine does holds up one answer; connections that hold threads hold up all
        wait_until(lambda: max(place.seconds_of_health()) < QUICK_SECONDS, 60, "answers in time")
        assert place.log_in() == 302
        assert place.hand_in(3_000_000) == 201


def test_an_upload_over_a_slow_line_arrives(place: Place) -> None:
    """100 kB/s for longer than the web server's window."""
    fields = {"name": "over a slow line"}
    body, kind = form(fields, "responses.jsonl", os.urandom(8).hex().encode() + b"a" * 2_500_000)

    def slowly() -> Iterator[bytes]:
        for start in range(0, len(body), 50_000):
            yield body[start : start + 50_000]
            time.sleep(0.5)

    headers = {
        "Content-Length": str(len(body)),
        "Content-Type": kind,
        "Authorization": f"Bearer {place.token}",
    }
    with place.visitor() as visitor:
        answer = visitor.post(HAND_IN, content=slowly(), headers=headers)
    assert answer.status_code == 201, answer.text


def test_the_site_answers_while_thirty_stop_after_their_first_megabytes(place: Place) -> None:
    """More than a proxy takes in before it asks the site, and more clients than it has threads."""
    with crowd(place, posted(150_000_000, bytes(5_000_000)), 30) as them:
        assert max(place.seconds_of_health()) < QUICK_SECONDS
        assert place.log_in() == 302
        wait_until(lambda: not them.connections, ALL_ARE_GONE_SECONDS, "they are hung up on")
