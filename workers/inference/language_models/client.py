"""The one way to talk to a language model: chat with an OpenAI-compatible endpoint, on loopback or
elsewhere.

An endpoint is reached at an address that was checked, whatever its name leads to by then.
``SingleConnections`` has a pool for each connection. The pool of ``httpcore2`` looks at all of its
connections for every request, and asks the system about each idle one: with 64 of them that is a
third of what a call takes. Here the connection that was used last is used next.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpcore2
import httpx2

from common import outgoing

Role = Literal["system", "user", "assistant"]
MOST_TOKENS = 100_000_000
"""Of one call; an endpoint that reports more is not believed."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers. ``api_key`` is kept out of the representation, and so out of logs and
    tracebacks."""

    base_url: str
    model: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint replied. ``text`` is stripped and may be empty.

    The token counts are the endpoint's own; None where it reports none, or something that cannot be
    one. ``reported_model`` is what it says has answered, "" where it says nothing.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    reported_model: str


class NoAnswerError(RuntimeError):
    """The endpoint replied, but without text."""


class LanguageModel:
    """An endpoint with the settings that decide what it says.

    ``temperature`` 0 asks for the likeliest answer. ``seed`` makes sampling repeatable where the
    endpoint honours it; other hardware or another build of the same model may still answer
    differently. ``timeout_seconds`` is how long an attempt may take to connect, and then in all,
    however steadily bytes drip in. Errors of the network and of the endpoint are the ``openai``
    package's own (``openai.OpenAIError``), after its ``max_retries`` attempts.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        from openai import DefaultHttpxClient, OpenAI

        self.endpoint = endpoint
        self.temperature = temperature
        self.seed = seed
        self._client = OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            timeout=timeout_seconds,
            max_retries=max_retries,
            # What is asked goes where the organiser said, and nowhere that the endpoint sends it on
            # to.
            http_client=DefaultHttpxClient(
                transport=BoundedTransport(timeout_seconds), follow_redirects=False
            ),
        )

    def answer(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        seed: int | None = None,
        **settings: float | int | list[str],
    ) -> str:
        """The model's next message, stripped. ``settings`` go to the endpoint as they are
        (``top_p``, …).

        ``seed`` replaces the model's own for this answer. Raises ``NoAnswerError`` where the reply
        holds no text.
        """
        completion = self.complete(messages, max_tokens, seed, **settings)
        if not completion.text:
            raise NoAnswerError(
                f"{self.endpoint.model} at {self.endpoint.base_url} answered without text"
            )
        return completion.text

    def complete(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        seed: int | None = None,
        **settings: float | int | list[str],
    ) -> Completion:
        """As ``answer``, with what the endpoint counted; an empty answer is an answer.

        A reply that is no chat completion is one without text and without counts.
        """
        request: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            "max_tokens": max_tokens,
            "temperature": self.temperature,
            "seed": self.seed if seed is None else seed,
            **settings,
        }
        reply = self._client.chat.completions.create(**request)
        usage = getattr(reply, "usage", None)
        return Completion(
            text=_text_of(reply),
            input_tokens=count_of(getattr(usage, "prompt_tokens", None)),
            output_tokens=count_of(getattr(usage, "completion_tokens", None)),
            reported_model=stored_name(getattr(reply, "model", None)),
        )

    def close(self) -> None:
        """Closes the connections to the endpoint."""
        self._client.close()


def _text_of(reply: Any) -> str:
    """ "" also where the reply is no chat completion at all, such as a page that asks one to log
    in."""
    try:
        content = reply.choices[0].message.content
    except (AttributeError, IndexError, TypeError):
        return ""
    return content.strip() if isinstance(content, str) else ""


def count_of(value: object) -> int | None:
    """Endpoints are other people's code: a count is a whole number that a call can have."""
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
        else None
    )


def stored_name(value: object) -> str:
    """ "" for what is no name; cut, and without what no database keeps."""
    return _NO_TEXT.sub("", value)[:200] if isinstance(value, str) else ""


LARGEST_REPLY = 2**24
"""Bytes; a chat completion has some thousands."""


class ReplyTooLarge(httpx2.ReadError):
    """The endpoint sends more than any chat completion has."""


class _Attempt(threading.local):
    """What is left of the attempt that this thread makes."""

    ends_at = 0.0
    bytes_left = 0


class _BoundedStream(httpcore2.NetworkStream):
    """Reads for no longer, and no more, than the attempt may."""

    def __init__(self, stream: httpcore2.NetworkStream, attempt: _Attempt) -> None:
        self._stream, self._attempt = stream, attempt

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._attempt.ends_at - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("it gave no whole answer in time")
        read = self._stream.read(max_bytes, left if timeout is None else min(left, timeout))
        self._attempt.bytes_left -= len(read)
        if self._attempt.bytes_left < 0:
            raise ReplyTooLarge(f"its reply is larger than {LARGEST_REPLY // 2**20} MB")
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _BoundedStream(secured, self._attempt)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedBackend(httpcore2.SyncBackend):
    """Resolves the host, checks all its addresses, and connects to the first that answers.

    The TLS handshake still asks for the certificate of the host.
    """

    def __init__(self, attempt: _Attempt) -> None:
        self._attempt = attempt

    def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        return _BoundedStream(self._connected(host, port, *args, **options), self._attempt)

    def _connected(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        try:
            addresses = outgoing.resolve(host, port, allow_private=True)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from error
        for address in addresses[:-1]:
            with contextlib.suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return super().connect_tcp(address, port, *args, **options)
        return super().connect_tcp(addresses[-1], port, *args, **options)


class AsyncCheckedBackend(httpcore2.AnyIOBackend):
    """As ``CheckedBackend``, in an event loop."""

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await asyncio.to_thread(outgoing.resolve, host, port, allow_private=True)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from error
        for address in addresses[:-1]:
            with contextlib.suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await super().connect_tcp(address, port, *args, **options)
        return await super().connect_tcp(addresses[-1], port, *args, **options)


class BoundedTransport(httpx2.HTTPTransport):
    """For ``httpx2.Client``, which reads no proxy from the environment where it is given a
    transport. A time-out of each read alone would let a slow drip through."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds, self._attempt = seconds, _Attempt()
        # httpx2 has no argument for it
        self._pool._network_backend = CheckedBackend(self._attempt)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._attempt.ends_at = time.monotonic() + self._seconds
        self._attempt.bytes_left = LARGEST_REPLY
        return super().handle_request(request)


class SingleConnections(httpx2.AsyncBaseTransport):
    """As many as requests that are under way at once. Whole replies are read here: then the
    connection is free."""

    def __init__(self) -> None:
        self._verify = httpx2.create_ssl_context()
        self._backend = AsyncCheckedBackend()
        self._free: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        connection = self._free.pop() if self._free else self._another()
        try:
            response = await connection.handle_async_request(request)
            content = await self._read(response)
        except BaseException:
            with contextlib.suppress(Exception):
                await connection.aclose()  # in which state it was left is not known
            raise
        self._free.append(connection)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=httpx2.ByteStream(content),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        while self._free:
            await self._free.pop().aclose()

    def _another(self) -> httpx2.AsyncHTTPTransport:
        limits = httpx2.Limits(
            max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0
        )
        connection = httpx2.AsyncHTTPTransport(verify=self._verify, limits=limits)
        connection._pool._network_backend = self._backend  # httpx2 has no argument for it
        return connection

    @staticmethod
    async def _read(response: httpx2.Response) -> bytes:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts, size = [], 0
        async for part in response.stream:
            parts.append(part)
            size += len(part)
            if size > LARGEST_REPLY:
                raise ReplyTooLarge(f"its reply is larger than {LARGEST_REPLY // 2**20} MB")
        await response.stream.aclose()
        return b"".join(parts)
