"""Connections to one endpoint, each with a pool of its own.

The pool of ``httpcore2`` looks at all of its connections for every request, and asks the system about each idle one:
with 64 of them that is a third of what a call takes. Here the connection that was used last is used next.
"""

from __future__ import annotations

import contextlib

import httpx2

LARGEST_REPLY = 2**24
"""Bytes; a chat completion has some thousands."""


class ReplyTooLarge(httpx2.ReadError):
    """The endpoint sends more than any chat completion has."""


class SingleConnections(httpx2.AsyncBaseTransport):
    """As many as requests that are under way at once. Whole replies are read here: then the connection is free."""

    def __init__(self) -> None:
        self._verify = httpx2.create_ssl_context()
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
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0)
        return httpx2.AsyncHTTPTransport(verify=self._verify, limits=limits)

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
