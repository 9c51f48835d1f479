"""A chat-completions endpoint on loopback, real HTTP, as a process of its own, that fails on demand
and keeps a log.

    with loopback_server(seconds=0.05) as server:
        endpoint = server.endpoint("judge-a")            # Endpoint(base_url, model, api_key)
        server.control(script=[{"do": "rate_limit", "retry_after": "1"}, {"do": "garbage"}])
        ...
        assert len(server.log()) == 12

Every request takes the first of these that is there: the next step of the ``script``; the first
rule whose ``contains`` stands in the request's texts; the ``default`` (answer). ``control``
replaces what it names (``script``, ``rules``, ``default``, ``seconds``, ``allowed``, ``continues``,
``usage``, ``text``) and leaves the rest; ``reset`` sets everything back and empties the log.

A step is ``{"do": …}`` with ``seconds`` (it waits so long first; else the server's own ``seconds``)
and

* ``answer``: 200. ``text`` if given, else ``- Humanness: x`` with x from 1 to 5 by the request's
  hash (``score_of``), with log-probabilities where ``logprobs`` is asked for. Where the last
  message is the assistant's, the server goes on with it as llama.cpp does (only the number comes);
  with ``continues: false`` it answers anew, as OpenAI does.
* ``wrong_scale`` (a 9), ``no_number``, ``empty``: 200 with such a text.
* ``rate_limit``: 429, with ``retry_after`` (as it is written) or ``retry_after_ms`` if given.
* ``error``: 500, or ``status``, with ``message`` (may hold ``{key}``: the key that came), ``code``,
  ``retry_after``.
* ``context_length``, ``content_filter``: 400 in OpenAI's words. ``unauthorized``: 401 that repeats
  the key.
* ``redirect``: 307 to ``location``.
* ``garbage`` (no JSON), ``html``, ``no_choices``, ``truncated`` (JSON cut off, Content-Length as
  cut).
* ``lost`` (generates an answer and closes without a word), ``gateway`` (504 after the answer was
  generated).
* ``drop`` (closes without a word), ``half`` (closes in the middle of the body), ``drip`` (a byte
  every 50 ms), ``hang`` (never answers).

A request with another key than ``KEY`` gets 401, one above ``allowed`` at once 429; neither takes a
step.

``log()``: for every chat request in its order ``{"request": SHA-256 of the body without its seed,
"seed", "model", "do", "paid": whether a whole 200 with an answer was written, "at": seconds since
the start}``. ``stats()``: ``{"requests", "paid", "most_at_once", "input_tokens", "output_tokens",
"begun"}``; tokens are counted of what was paid, ``begun`` is the start by the machine's monotonic
clock. ``billed_calls``, ``billed_input`` and ``billed_output`` are what the endpoint would charge
for: every answer that was generated, whether or not anybody was there to read it.

By hand: ``python -m tests.judges.loopback_server [PORT] [SECONDS]``; it ends when its standard
input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.inference.language_models.client import Endpoint

KEY = "sk-loopback-7c1e"
_TOKENS = re.compile(r"\s?\w+|\s?[^\w\s]|\s")


class Loopback:
    """The running server, as a test sees it."""

    def __init__(self, process: subprocess.Popen[str], base_url: str) -> None:
        self.process, self.base_url = process, base_url

    def endpoint(self, model: str = "judge-a", key: str = KEY) -> Endpoint:
        return Endpoint(self.base_url, model, key)

    def control(self, **wishes: Any) -> None:
        self._ask("/control", json.dumps(wishes).encode())

    def reset(self) -> None:
        """As it was at its start, with an empty log."""
        fresh = State()
        names = (
            "seconds",
            "script",
            "rules",
            "default",
            "allowed",
            "continues",
            "usage",
            "text",
            "log",
        )
        counts = (
            "most_at_once",
            "input_tokens",
            "output_tokens",
            "billed_calls",
            "billed_input",
            "billed_output",
        )
        self.control(**dict.fromkeys(counts, 0), **{name: getattr(fresh, name) for name in names})

    def log(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self._ask("/log")
        return entries

    def stats(self) -> dict[str, Any]:
        counts: dict[str, Any] = self._ask("/stats")
        return counts

    def _ask(self, path: str, body: bytes | None = None) -> Any:
        root = self.base_url.removesuffix("/v1")
        with urllib.request.urlopen(urllib.request.Request(root + path, body), timeout=10) as reply:
            return json.load(reply)


@contextmanager
def loopback_server(seconds: float = 0.0, port: int = 0, **wishes: Any) -> Iterator[Loopback]:
    """``wishes``: as ``control`` takes them. ``port``: that of a server that was there before, for
    one that returns."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.judges.loopback_server", str(port), str(seconds)],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        server = Loopback(process, json.loads(process.stdout.readline())["base_url"])
        if wishes:
            server.control(**wishes)
        yield server
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def score_of(request_hash: str) -> int:
    """The score that the server gives, from 1 to 5."""
    return int(request_hash[:8], 16) % 5 + 1


@dataclass
class State:
    seconds: float = 0.0
    script: list[dict[str, Any]] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    default: dict[str, Any] = field(default_factory=lambda: {"do": "answer"})
    allowed: int = 10_000
    continues: bool = True
    usage: bool = True
    text: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    billed_calls: int = 0
    billed_input: int = 0
    billed_output: int = 0
    begun: float = field(default_factory=time.monotonic)

    def stats(self) -> dict[str, float]:
        return {
            "begun": self.begun,
            "requests": len(self.log),
            "paid": sum(entry["paid"] for entry in self.log),
            "most_at_once": self.most_at_once,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "billed_calls": self.billed_calls,
            "billed_input": self.billed_input,
            "billed_output": self.billed_output,
        }


@dataclass(frozen=True)
class Written:
    """What goes over the wire. ``paid``: with an answer and whole."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    paid: bool = False
    cut_at: int | None = None
    """Bytes of the body that go before the connection is closed."""
    drips: bool = False

    def head(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status} X",
            "Content-Type: application/json",
            f"Content-Length: {len(self.body)}",
        ]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def serve_connection(
    state: State, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines[1:])
            }
            body = await reader.readexactly(int(headers.get("content-length") or 0))
            if not await serve_request(state, lines[0].split()[1], headers, body, (reader, writer)):
                break
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def serve_request(
    state: State,
    path: str,
    headers: dict[str, str],
    body: bytes,
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> bool:
    """Whether the connection stays open."""
    reader, writer = streams
    if not path.endswith("/chat/completions"):
        written = json.dumps(of_the_test(state, path, body)).encode()
        return await write(writer, Written(200, written, (("Connection", "close"),))) and False
    asked = json.loads(body)
    seed = asked.pop("seed", None)
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    key = headers.get("authorization", "").removeprefix("Bearer ")
    state.at_once += 1
    state.most_at_once = max(state.most_at_once, state.at_once)
    try:
        step = step_for(state, asked, key)
        entry = {
            "request": digest,
            "seed": seed,
            "model": asked.get("model"),
            "do": step["do"],
            "paid": False,
        }
        entry["at"] = round(time.monotonic() - state.begun, 4)
        state.log.append(entry)
        if step["do"] == "hang":
            return bool(await reader.read(1))  # until the client has had enough
        await asyncio.sleep(step.get("seconds", state.seconds))
        made = reply_to(state, step, asked, digest, key)
        if made is None:
            return False
        is_open = await write(writer, made)
        if made.paid and is_open:
            count(state, entry, made)
        return is_open
    finally:
        state.at_once -= 1


def of_the_test(state: State, path: str, body: bytes) -> Any:
    if path == "/control":
        for name, value in json.loads(body).items():
            if not hasattr(state, name):
                raise ValueError(name)
            setattr(state, name, value)
        return {}
    return state.log if path == "/log" else state.stats()


def step_for(state: State, asked: dict[str, Any], key: str) -> dict[str, Any]:
    if key != KEY:
        return {"do": "unauthorized", "seconds": 0}
    if state.at_once > state.allowed:
        return {"do": "rate_limit", "seconds": 0}
    if state.script:
        return state.script.pop(0)
    if state.rules:
        texts = "\n".join(message["content"] for message in asked["messages"])
        for rule in state.rules:
            if rule["contains"] in texts:
                return rule
    return state.default


def reply_to(
    state: State, step: dict[str, Any], asked: dict[str, Any], digest: str, key: str
) -> Written | None:
    """None: the connection is closed without a word."""
    do = step["do"]
    params = (("Retry-After", step["retry_after"]),) if "retry_after" in step else ()
    if "retry_after_ms" in step:
        params = (*params, ("retry-after-ms", str(step["retry_after_ms"])))
    if do == "drop":
        return None
    if do == "rate_limit":
        return error(
            429,
            step.get("message", "Rate limit reached"),
            step.get("code", "rate_limit_exceeded"),
            params,
        )
    if do == "error":
        message = step.get("message", "the server had an error").replace("{key}", key)
        return error(step.get("status", 500), message, step.get("code", "server_error"), params)
    if do == "context_length":
        words = (
            "This model's maximum context length is 2048 tokens. Please reduce the length of the "
            "messages."
        )
        return error(400, words, "context_length_exceeded")
    if do == "content_filter":
        return error(
            400, "The response was filtered by the content management policy.", "content_filter"
        )
    if do == "unauthorized":
        return error(401, f"Incorrect API key provided: {key}", "invalid_api_key")
    if do == "redirect":
        return Written(307, b"", (("Location", step["location"]),))
    if do == "garbage":
        return Written(200, b"\x00\xffnot json at all{")
    if do == "html":
        return Written(200, b"<html><body>Please log in</body></html>")
    if do == "no_choices":
        return Written(200, b'{"object": "chat.completion", "choices": []}')
    whole = completion(state, text_of(state, step, asked, digest), asked, digest)
    usage = json.loads(whole).get("usage", {})
    state.billed_calls += 1
    state.billed_input += usage.get("prompt_tokens", 0)
    state.billed_output += usage.get("completion_tokens", 0)
    if do == "lost":
        return None
    if do == "gateway":
        return error(504, "upstream request timeout", "timeout")
    if do == "truncated":
        return Written(200, whole[: len(whole) // 2])
    if do == "half":
        return Written(200, whole, cut_at=len(whole) // 2)
    return Written(200, whole, paid=True, drips=do == "drip")


def error(
    status: int, message: str, code: str, headers: tuple[tuple[str, str], ...] = ()
) -> Written:
    return Written(
        status,
        json.dumps({"error": {"message": message, "type": code, "code": code}}).encode(),
        headers,
    )


def text_of(state: State, step: dict[str, Any], asked: dict[str, Any], digest: str) -> str:
    if step["do"] == "wrong_scale":
        return "- Humanness: 9"
    if step["do"] == "no_number":
        return "I would rather not say."
    if step["do"] == "empty":
        return ""
    last = asked["messages"][-1]
    goes_on = state.continues and last["role"] == "assistant"
    given = str(step.get("text", state.text))
    return given or (f" {score_of(digest)}" if goes_on else f"- Humanness: {score_of(digest)}")


def completion(state: State, text: str, asked: dict[str, Any], digest: str) -> bytes:
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    if asked.get("logprobs"):
        choice["logprobs"] = {"content": [place(token, digest) for token in _TOKENS.findall(text)]}
    made = {
        "id": f"chatcmpl-{digest[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{asked.get('model')}-loopback",
        "choices": [choice],
    }
    if state.usage:
        entered = sum(len(message["content"]) for message in asked["messages"]) // 4 + 1
        left = max(1, len(text) // 4)
        made["usage"] = {
            "prompt_tokens": entered,
            "completion_tokens": left,
            "total_tokens": entered + left,
        }
    return json.dumps(made).encode()


def place(token: str, digest: str) -> dict[str, Any]:
    """At a number's place the numbers 1 to 5 have the shares 1 / (1 + distance from the score), as
    they are counted together, of 90 %; a word has the rest. Elsewhere the token itself is
    certain."""
    top = [(token, 0.0)]
    if token.strip().isdigit():
        shares = [1 / (1 + abs(number - score_of(digest))) for number in range(1, 6)]
        blank = token[: len(token) - len(token.lstrip())]
        top = [
            (f"{blank}{number}", math.log(0.9 * share / sum(shares)))
            for number, share in enumerate(shares, 1)
        ]
        top = sorted([*top, (" a", math.log(0.1))], key=lambda one: -one[1])
    listed = [
        {"token": text, "logprob": logarithm, "bytes": list(text.encode())}
        for text, logarithm in top
    ]
    return {
        "token": token,
        "logprob": listed[0]["logprob"],
        "bytes": list(token.encode()),
        "top_logprobs": listed,
    }


def count(state: State, entry: dict[str, Any], made: Written) -> None:
    entry["paid"] = True
    usage = json.loads(made.body).get("usage", {}) if state.usage else {}
    state.input_tokens += usage.get("prompt_tokens", 0)
    state.output_tokens += usage.get("completion_tokens", 0)


async def write(writer: asyncio.StreamWriter, made: Written) -> bool:
    """Whether all of it went, and the connection stays open."""
    if made.drips:
        writer.write(made.head())
        for byte in made.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)
        return True
    writer.write(made.head() + made.body[: made.cut_at])
    await writer.drain()
    return made.cut_at is None


async def main(port: int, seconds: float) -> None:
    state = State(seconds)
    server = await asyncio.start_server(
        lambda reader, writer: serve_connection(state, reader, writer),
        "127.0.0.1",
        port,
        limit=2**24,
        backlog=512,
    )
    sys.stdout.write(
        json.dumps({"base_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"}) + "\n"
    )
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):
        asyncio.run(main(int((sys.argv[1:] or ["0"])[0]), float((sys.argv[2:] or ["0"])[0])))
