"""SSRF through a chat system's address: it leads a worker to no keys of the machine, and no redirect leads it on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import openai
import pytest

from workers.answering import NotReachable, endpoint_of
from workers.endpoint_places import leads_to_keys
from workers.language_models.client import Endpoint, LanguageModel, Message


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
    ],
)
def test_an_address_at_which_machines_find_their_keys_is_refused(host: str) -> None:
    system = SimpleNamespace(base_url=f"http://{host}/v1", model="m", key_variable="")
    with pytest.raises(NotReachable, match="leads to no endpoint"):
        endpoint_of(system)  # type: ignore[arg-type]


def test_a_name_that_leads_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(2, 1, 6, "", ("10.0.0.1", 0)), (2, 1, 6, "", ("169.254.169.254", 0))]
    monkeypatch.setattr("workers.endpoint_places.socket.getaddrinfo", lambda *_, **__: found)
    assert leads_to_keys("https://metadata.example/v1")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "10.1.2.3", "192.168.0.9", "[::1]", "no-such-host.invalid"])
def test_a_model_on_a_private_network_may_answer(host: str) -> None:
    assert not leads_to_keys(f"http://{host}/v1")


@pytest.fixture
def onward() -> Iterator[tuple[str, list[str]]]:
    """A server that sends everybody on to another place of its own, and notes where it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(307)
            self.send_header("Location", "/latest/meta-data/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    server.shutdown()
    server.server_close()


def test_a_model_does_not_lead_on_to_another_address(onward: tuple[str, list[str]]) -> None:
    address, asked = onward
    model = LanguageModel(Endpoint(address, "m", "a-key"), timeout_seconds=5, max_retries=0)
    with pytest.raises(openai.APIStatusError):
        model.answer([Message("user", "Hello?")], 10)
    assert asked == ["/v1/chat/completions"]
