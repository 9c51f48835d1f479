"""A small OpenAI-compatible endpoint of a test's own, on loopback: real HTTP, answers of our
choosing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str | int | bytes]
"""From what was asked to what is answered: a text, or a status that stands for an error."""


@dataclass
class StubEndpoint:
    answer: Answer
    seconds: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    base_url: str = ""
    words: str = ""
    """Said of every error."""
    location: str = ""
    """Where it sends those who ask, if anywhere."""
    usage: Callable[[dict[str, Any]], Any] | None = None
    """What it says that a call took; it says nothing where this is None."""
    calls_itself: Any = "stub"


def second_hand(asked: dict[str, Any]) -> str:
    """Says which of the rater's messages it answers, so that a test sees that none is answered
    twice."""
    said = [message["content"] for message in asked["messages"] if message["role"] == "user"]
    return f"You said: {said[-1]} That was your message number {len(said)}."


@contextmanager
def stub_endpoint(answer: Answer = second_hand, seconds: float = 0.0) -> Iterator[StubEndpoint]:
    """``seconds`` is how long each answer takes."""
    stub = StubEndpoint(answer, seconds)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stub.asked.append(asked)
            stub.keys.append(self.headers.get("Authorization", ""))
            time.sleep(stub.seconds)
            answered = stub.answer(asked)
            status = answered if isinstance(answered, int) else 200
            body: Any = {"error": {"message": f"the stub answers {answered}{stub.words}"}}
            if isinstance(answered, str):
                message = {"role": "assistant", "content": answered}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                body = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": stub.calls_itself,
                    "choices": [choice],
                }
                if stub.usage is not None:
                    body["usage"] = stub.usage(asked)
            written = answered if isinstance(answered, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if stub.location:
                self.send_header("Location", stub.location)
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
