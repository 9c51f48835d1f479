"""Receivers of notices on loopback: a web server and a mail server that note what they were
sent."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class HttpReceiver:
    """Answers with ``status``, after ``seconds``; ``drip`` sends a byte of the answer's head each
    tenth of a second."""

    status: int = 200
    said: str = "thank you"
    seconds: float = 0.0
    drip: bool = False
    location: str = ""
    url: str = ""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def http_receiver(**settings: object) -> Iterator[HttpReceiver]:
    receiver = HttpReceiver(**settings)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((dict(self.headers.items()), body))
            time.sleep(receiver.seconds)
            try:
                if receiver.drip:
                    for _ in range(600):
                        self.wfile.write(b"H")
                        self.wfile.flush()
                        time.sleep(0.1)
                    return
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.end_headers()
                self.wfile.write(receiver.said.encode())
            except OSError:
                pass  # who asked has hung up

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class MailReceiver:
    """``refuses``: the code with which it refuses every recipient."""

    port: int = 0
    refuses: str = ""
    letters: list[str] = field(default_factory=list)


@contextmanager
def mail_receiver(refuses: str = "") -> Iterator[MailReceiver]:
    receiver = MailReceiver(refuses=refuses)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 receiver")
            while line := self.rfile.readline().decode("utf-8", "replace").strip():
                word = line.split()[0].upper()
                if word == "RCPT" and receiver.refuses:
                    self._say(f"{receiver.refuses} no")
                elif word == "DATA":
                    self._say("354 go on")
                    receiver.letters.append(self._letter())
                    self._say("250 taken")
                elif word == "QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 ok")

        def _letter(self) -> str:
            lines = []
            while (line := self.rfile.readline().decode("utf-8", "replace").rstrip("\r\n")) != ".":
                lines.append(line)
            return "\n".join(lines)

        def _say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        receiver.port = server.server_address[1]
        try:
            yield receiver
        finally:
            server.shutdown()


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
