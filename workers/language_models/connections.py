"""Connections to one endpoint: to an address that was checked, whatever its name leads to by then.

``SingleConnections`` has a pool for each connection. The pool of ``httpcore2`` looks at all of its
connections for every request, and asks the system about each idle one: with 64 of them that is a
third of what a call takes. Here the connection that was used last is used next.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import httpcore2
import httpx2

from common import outgoing

LARGEST_REPLY = 2**24
"""Bytes; a chat completion has some thousands."""


class ReplyTooLarge(httpx2.ReadError):
    """The endpoint sends more than any chat completion has."""


class CheckedBackend(httpcore2.SyncBackend):
    """Resolves the host, checks all its addresses, and connects to the first that answers.

    The TLS handshake still asks for the certificate of the host.
    """

    def connect_tcp(
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


def checked_transport() -> httpx2.HTTPTransport:
    """For ``httpx2.Client``, which reads no proxy from the environment where it is given a
    transport."""
    transport = httpx2.HTTPTransport()
    transport._pool._network_backend = CheckedBackend()  # httpx2 has no argument for it
    return transport


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
