"""Connections to addresses that somebody else chose: resolved once, checked, and made to what was
checked (SSRF). Pure.

A name that leads to a public address when it is looked at and to a private one when it is connected
to gains nothing: it is looked at once. Redirects are the caller's, who comes here again with each.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import contextmanager, suppress
from urllib.parse import SplitResult, urlsplit

from common import outgoing
from common.outgoing import AddressNotAllowed

_looking_up = ThreadPoolExecutor(max_workers=8, thread_name_prefix="names of hosts")


class NotReached(Exception):
    """Nothing was answered, this time."""


@contextmanager
def answered(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    private_allowed: bool,
    seconds: float,
) -> Iterator[http.client.HTTPResponse]:
    """A request and its answer, whose body is read in the block.

    Args:
        method: GET or POST.
        url: ``https://``, with ``private_allowed`` also ``http://``.
        headers: of the request.
        body: of the request.
        private_allowed: let the host be on a private network or this machine.
        seconds: for all of it, reading included: then the connection is cut.

    Returns:
        Context manager for the answer, whatever its status.

    Raises:
        AddressNotAllowed: the address may not be connected to.
        NotReached: there is no answer, or the block could not read it whole; the message says why.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressNotAllowed("the address is no address") from None
    schemes = ("https", "http") if private_allowed else ("https",)
    if parts.scheme not in schemes or not parts.hostname:
        raise AddressNotAllowed("the address is not https://")
    address, port = _resolved(parts, port, private_allowed, seconds)
    kind = _PinnedHttps if parts.scheme == "https" else _PinnedHttp
    connection = kind(parts.hostname, address, port, seconds)
    late = threading.Event()
    # A socket's own time-out begins anew with each byte
    clock = threading.Timer(seconds, _cut_off, [connection, late])
    clock.daemon = True
    clock.start()
    try:
        connection.request(method, _target(parts), body, dict(headers))
        yield connection.getresponse()
    except ssl.SSLError as problem:
        raise NotReached(f"TLS failed: {problem.reason or 'no secure connection'}") from None
    except TimeoutError:
        raise NotReached(f"no answer within {seconds:g} s") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        if late.is_set():
            raise NotReached(f"no answer within {seconds:g} s") from None
        raise NotReached(f"no connection: {_as_text(problem)}") from None
    finally:
        clock.cancel()
        connection.close()


def _as_text(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or type(problem).__name__


def _resolved(
    parts: SplitResult, port: int | None, private_allowed: bool, seconds: float
) -> tuple[str, int]:
    port = port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    try:
        lookup = _looking_up.submit(outgoing.resolve, host, port, allow_private=private_allowed)
        addresses = lookup.result(timeout=seconds)
    except TookTooLong:
        raise NotReached(f"the name was not found within {seconds:g} s") from None
    except (OSError, UnicodeError):
        raise NotReached("there is no such host") from None
    if not addresses:
        raise NotReached("there is no such host")
    return addresses[0], port


class _PinnedHttp(http.client.HTTPConnection):
    """Connects to ``address``, whatever the host's name would lead to by now."""

    def __init__(self, host: str, address: str, port: int, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self.address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)


class _PinnedHttps(_PinnedHttp):
    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        super().connect()
        self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _cut_off(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    late.set()
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _target(parts: SplitResult) -> str:
    """The path as it stands in the request's first line: nothing in it can begin a second line."""
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    return "".join(
        sign if 32 < ord(sign) < 127 else "".join(f"%{byte:02X}" for byte in sign.encode())
        for sign in target
    )
