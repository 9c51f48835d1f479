"""SSRF through a model's address: it leads a worker to no keys of the machine, and no redirect or
proxy leads it on."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import openai
import pytest

from common.outgoing import AddressNotAllowed
from workers.inference.language_models.asynchronous import AsyncModel, request_body
from workers.inference.language_models.client import Endpoint, LanguageModel, Message

Ask = Callable[[str], object]


def ask_as_chats_do(address: str) -> object:
    model = LanguageModel(Endpoint(address, "m", "a-key"), timeout_seconds=5, max_retries=0)
    return model.answer([Message("user", "Hello?")], 10)


def ask_as_judges_do(address: str) -> object:
    async def ask() -> object:
        model = AsyncModel(Endpoint(address, "m", "a-key"), 5)
        try:
            return await model.complete(
                request_body("m", [{"role": "user", "content": "Hello?"}], {})
            )
        finally:
            await model.close()

    return asyncio.run(ask())


@pytest.fixture(params=[ask_as_chats_do, ask_as_judges_do])
def ask(request: pytest.FixtureRequest) -> Ask:
    asks: Ask = request.param
    return asks


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "user@169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[64:ff9b::a9fe:a9fe]",
        "[fe80::1]",
        "[fec0::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
    ],
)
def test_an_address_at_which_machines_find_their_keys_is_refused(host: str, ask: Ask) -> None:
    # Or it is read as no address at all
    with pytest.raises((AddressNotAllowed, httpx2.InvalidURL)):
        ask(f"http://{host}/v1")


def test_a_model_s_name_is_looked_up_once_and_what_was_checked_is_called(
    ask: Ask, onward: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that says a private address when the name is checked and the address of keys
    from then on."""
    address, asked = onward
    port = int(address.rpartition(":")[2].removesuffix("/v1"))
    answers = iter(["127.0.0.1", "169.254.169.254", "169.254.169.254"])
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def lookup(host: Any, *arguments: Any, **options: Any) -> Any:
        if host not in ("rebinding.example", b"rebinding.example"):
            return real(host, *arguments, **options)
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(openai.APIStatusError):  # the server was reached: it sends on
        ask(f"http://rebinding.example:{port}/v1")
    assert len(looked_up) == len(asked) == 1
    with pytest.raises(AddressNotAllowed):
        ask(f"http://rebinding.example:{port}/v1")


def test_a_proxy_of_the_environment_is_not_asked(
    ask: Ask, onward: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would look the name up itself."""
    address, asked = onward
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(openai.APIStatusError):
        ask(address)
    assert asked == ["/v1/chat/completions"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
def test_a_model_on_a_private_network_may_answer(
    host: str, ask: Ask, onward: tuple[str, list[str]]
) -> None:
    address, asked = onward
    with pytest.raises(openai.APIStatusError):
        ask(address.replace("127.0.0.1", host))
    assert len(asked) == 1


@pytest.fixture
def onward() -> Iterator[tuple[str, list[str]]]:
    """A server that sends everybody on to another place of its own, and notes where it was
    asked."""
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
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    server.shutdown()
    server.server_close()


def test_a_model_does_not_lead_on_to_another_address(
    ask: Ask, onward: tuple[str, list[str]]
) -> None:
    address, asked = onward
    with pytest.raises(openai.APIStatusError):
        ask(address)
    assert asked == ["/v1/chat/completions"]
