"""A real HTTP server that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None
    """What Content-Length says, where that is not the truth."""
    after: float = 0.0
    """Seconds until its first byte."""


class StandIn:
    """``answers[path]`` is a queue; its last answer is given again and again. Unknown paths are 404
    problems."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = defaultdict(list)
        self.asked: list[Asked] = []
        self.address = ""
        self.ended = threading.Event()

    def gives(self, path: str, *documents: Any) -> None:
        """Documents as JSON; an ``Answer`` as it is."""
        for one in documents:
            made = one if isinstance(one, Answer) else Answer(json.dumps(one).encode())
            self.answers[f"/api/v1/{path}"].append(made)

    def refuses(self, path: str, status: int, detail: str, times: int = 1, **headers: str) -> None:
        problem = {"type": "about:blank", "title": "No", "status": status, "detail": detail}
        kind = {
            "Content-Type": "application/problem+json",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        for _ in range(times):
            self.gives(path, Answer(json.dumps(problem).encode(), status, kind))

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        queue = self.answers.get(asked.path)
        if not queue:
            return Answer(b'{"detail": "There is nothing here."}', 404)
        return queue.pop(0) if len(queue) > 1 else queue[0]


@contextmanager
def stand_in() -> Iterator[StandIn]:
    server = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = b"".join(self.chunks())
            parts = urlsplit(self.path)
            asked = Asked(
                self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body
            )
            answer = server.answer(asked)
            server.ended.wait(answer.after)
            with suppress(ConnectionError):  # whoever asked may have gone
                self.give(answer)

        def give(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header(
                "Content-Length",
                str(len(answer.body) if answer.announced is None else answer.announced),
            )
            self.end_headers()
            self.wfile.write(answer.body)

        def chunks(self) -> Iterator[bytes]:
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()

        do_GET = do_POST = do_PATCH = do_DELETE = do_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    server.address = f"http://127.0.0.1:{http.server_address[1]}"
    try:
        yield server
    finally:
        server.ended.set()
        http.shutdown()
        thread.join()
        http.server_close()
