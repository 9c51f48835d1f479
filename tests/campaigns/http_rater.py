"""A rater at a page, as the server sees one: a connection that is kept, a session, a CSRF token, a
POST a rating.

Used by the crowd in ``tests/faults`` and by ``bench.rating``. It needs no Django.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT_SECONDS = 60
_ITEMS = re.compile(r'<article class="item [^"]*" data-item="([^"]+)"')
_WHY_NONE = re.compile(r'<div class="end" data-why="([^"]+)"')


@dataclass(frozen=True)
class Answer:
    status: int
    content: dict[str, Any]

    @property
    def stored(self) -> bool:
        return self.status == 200 and bool(self.content.get("stored"))


class Lost(Exception):
    """The request was sent, or may have been; no answer was read."""


class HttpRater:
    """``in_hand`` holds the public ids of the items the server gave, in the order of work; the page
    has loaded them."""

    def __init__(self, address: str, slug: str, session: str) -> None:
        place = urlsplit(address)
        self._host, self._port = place.hostname or "127.0.0.1", place.port or 80
        self._base, self._session = f"/rate/{slug}", session
        self._connection: http.client.HTTPConnection | None = None
        self._token = ""
        self.in_hand: list[str] = []
        self.ended = ""

    def open(self) -> None:
        """Load the page of the work, which holds what is in hand, or says why nothing is."""
        status, headers, page = self._exchange(
            "GET", f"{self._base}/item/", None, {"Accept": "text/html"}
        )
        cookies = "; ".join(headers.get_all("Set-Cookie") or [])
        if status == 200 and "csrftoken=" in cookies:
            self._token = cookies.partition("csrftoken=")[2].partition(";")[0]
        if status != 200 or not self._token:
            raise AssertionError(
                f"the page of the work answers {status}, {headers.get('Location')}, and sets "
                f"{cookies!r}"
            )
        text = page.decode()
        self.in_hand, why = _ITEMS.findall(text), _WHY_NONE.search(text)
        self.ended = why[1] if why else ""
        if not self.in_hand and not self.ended:
            raise AssertionError("the page of the work holds no item and does not say why")

    def rate(self, score: object, item: str = "", key: str = "", **more: str) -> Answer:
        """Send a rating of ``item``, else of the first in hand, and take the next ones from the
        answer."""
        answer = self.send(self.form(score, item, key, **more))
        self.take(answer)
        return answer

    def form(self, score: object, item: str = "", key: str = "", **more: str) -> dict[str, Any]:
        rated = item or self.in_hand[0]
        return {
            "item": rated,
            "key": key or uuid.uuid4().hex,
            "score": score,
            "first_key_ms": 900,
            "active_ms": 1800,
            "submit_ms": 2000,
            "shown_ms": int(time.time() * 1000) - 2000,
            "have": [one for one in self.in_hand if one != rated],
            **more,
        }

    def send(self, form: dict[str, Any], loses_the_answer: bool = False) -> Answer:
        """Raises ``Lost`` where no answer came, or where this rater's machine dies before it reads
        one."""
        return self._post("submit", form, loses_the_answer)

    def skip(self, reason: str) -> Answer:
        answer = self._post(
            "skip", {"item": self.in_hand[0], "reason": reason, "have": self.in_hand[1:]}
        )
        self.take(answer)
        return answer

    def leave(self) -> Answer:
        """Give back what is in hand."""
        return self._post("leave", {})

    def take(self, answer: Answer) -> None:
        if "next" in answer.content:
            self.in_hand = [one["item"] for one in answer.content["next"]]
            self.ended = answer.content.get("ended", "")

    def second_tab(self) -> HttpRater:
        """The same person's session over a connection of its own."""
        other = HttpRater(
            f"http://{self._host}:{self._port}", self._base.removeprefix("/rate/"), self._session
        )
        other._token = self._token
        return other

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _post(self, action: str, form: dict[str, Any], loses_the_answer: bool = False) -> Answer:
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "X-CSRFToken": self._token,
        }
        body = urlencode(form, doseq=True).encode()
        status, _, text = self._exchange(
            "POST", f"{self._base}/{action}/", body, headers, loses_the_answer
        )
        try:
            content = json.loads(text)
        except ValueError:
            content = {"text": text.decode("utf-8", "replace")[:500]}
        return Answer(status, content)

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        loses_the_answer: bool = False,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        cookies = f"sessionid={self._session}" + (
            f"; csrftoken={self._token}" if self._token else ""
        )
        kept = self._connection is not None
        if self._connection is None:
            self._connection = self._connected()
        try:
            self._connection.request(method, path, body, {**headers, "Cookie": cookies})
            if loses_the_answer:
                self.close()
                raise Lost(path)
            with self._connection.getresponse() as answer:
                return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as problem:
            self.close()
            if kept and isinstance(problem, http.client.RemoteDisconnected | ConnectionError):
                # A server may end a kept connection at any time: a browser asks again, and so do
                # we. Keys make it safe.
                return self._exchange(method, path, body, headers, loses_the_answer)
            raise Lost(path) from problem

    def _connected(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_SECONDS)
        connection.connect()
        with suppress(OSError):
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def sessions_of(users: list[Any]) -> list[str]:
    """A session each, as after logging in: hashing fifty passwords would be most of a bench. Runs
    inside Django."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    keys = []
    for user in users:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        keys.append(session.session_key)
    return keys
