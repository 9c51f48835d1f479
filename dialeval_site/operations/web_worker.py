"""gunicorn's worker with threads, changed in one thing: no client, however slow, holds a thread.

gunicorn's own reads a request and writes its answer in the thread that runs Django, for as long as
the client takes. Here the worker's loop reads requests, and sends what a client does not take at
once; a thread gets a request that is whole, and gives its answer away. A body that is larger than a
form is read only where ``body_limit`` says that its sender may send a file there. It goes to a file
without a name beside the uploads, which ends with the request.

Every wait on a client has an end. The constants say when; docs/operators.md tells them.
"""

from __future__ import annotations

import errno
import io
import json
import os
import selectors
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Hashable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from gunicorn.errors import ConfigError
from gunicorn.http import wsgi
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

HEAD_SECONDS = 10
"""For a request's line and headers, counted from a connection's first moment, or the first byte
after a rest."""
LARGEST_HEAD = 65_536
WINDOW_SECONDS, LEAST_RATE = 20, 4_000
"""At least so many bytes a second of a body, or of an answer, move in each window. What ends within
one may be slower."""
LONGEST_SECONDS = 3_600
"""For one body, or one answer."""
HELD_BYTES = 128_000_000
"""Of requests that are not whole. Where there would be more, or more connections than gunicorn's
``worker_connections``, who has been sending for longest makes way."""
FILES_AT_ONCE = 4
"""Bodies with files that one sender may have under way."""
REFUSED_SECONDS, REFUSED_BYTES = 30, 64_000_000
"""What a refused client goes on sending is read and forgotten, so that it hears why: many send all
before they listen."""
CLOSING_SECONDS, CLOSING_BYTES = 2, 65_536
IN_MEMORY, MEMORY_BYTES = 131_072, 1_000_000_000
"""Of one answer that its client does not take, more of which goes to a file; and of all answers.
Where these would be more, the largest makes way."""
READ_AT_ONCE, SENT_AT_ONCE, PIECE = 262_144, 1_048_576, 65_536

COLLECT, KEEP, CLOSE = "collect", "keep", "close"
TOO_SLOW = "The request did not arrive in time. Nothing of it was stored."
NOT_STORED = "The site cannot store the file now. Nothing of it was stored."
TOO_MANY = "Too many of your files are on their way. Send this one when they have arrived."


class Outgoing(socket.socket):
    """A client's connection, never blocking: what the client does not take waits for ``flush``."""

    def __init__(self, accepted: socket.socket) -> None:
        number = accepted.detach()
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=number)
        self.setblocking(False)
        self.sent = self.stored = 0
        self._parts: list[list[Any]] = []
        """Each a file, where to go on, where to end."""

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        data = memoryview(data).cast("B")
        if self.flush():
            with suppress(BlockingIOError):
                sent = self.send(data, flags)
                self.sent += sent
                data = data[sent:]
        if not data:
            return
        if self.stored + len(data) > MEMORY_BYTES:
            raise ConnectionResetError(errno.ECONNRESET, "the client does not take its answer")
        if not self._parts or not isinstance(self._parts[-1][0], tempfile.SpooledTemporaryFile):
            file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=_folder())  # noqa: SIM115
            self._parts.append([file, 0, 0])
        part = self._parts[-1]
        part[0].seek(part[2])
        part[0].write(data)
        part[2] += len(data)
        self.stored += len(data)

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        """The view closes the file; a copy of its descriptor stays."""
        end = os.fstat(file.fileno()).st_size if count is None else offset + count
        self._parts.append([os.fdopen(os.dup(file.fileno()), "rb", buffering=0), offset, end])
        self.flush()
        return end - offset

    def flush(self) -> bool:
        """Send what the client takes now; of much only some, for others wait.

        Returns:
            Whether nothing is left.

        Raises:
            OSError: the client is gone.
        """
        most = self.sent + SENT_AT_ONCE
        while self._parts and self.sent < most:
            file, place, end = self._parts[0]
            file.seek(place)
            piece = file.read(min(PIECE, end - place))
            if not piece:
                file.close()
                del self._parts[0]
                self.stored = self.stored if self._parts else 0
                continue
            try:
                sent = self.send(piece)
            except BlockingIOError:
                return False
            self.sent += sent
            self._parts[0][1] += sent
        return not self._parts

    def close(self) -> None:
        for file, _position, _end in self._parts:
            file.close()
        self._parts.clear()
        super().close()


class Connection(TConn):  # type: ignore[misc]
    """``stage`` is what its client is waited for: "head" and "body" of a request, to take an
    "answer", or to close the connection ("farewell")."""

    sock: Outgoing

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, Outgoing(sock), client, server)
        self.received = bytearray()
        self.requests = 0
        self.request: Any = None
        self.length = 0
        self.waits_for_word = False
        self.asks_first = False
        self.body: Any = None
        self.sender: Hashable = None
        self.held = 0
        self.outcome = CLOSE
        self.most_after_refusal = CLOSING_BYTES
        self.enter("head")

    def enter(self, stage: str) -> None:
        self.stage, self.moved = stage, 0
        self.began = self.window_began = time.monotonic()


class Unread(io.RawIOBase):
    """The body of a request that is answered without it."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        raise OSError("the body of this request is not read")


class Worker(ThreadWorker):  # type: ignore[misc]
    """For ``worker_class`` of ``deploy/gunicorn.conf.py``. All but ``handle`` runs in the loop."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.waiting: dict[Connection, None] = {}
        """The oldest first."""
        self.held = 0
        self.files_under_way: Counter[Hashable] = Counter()
        self.next_look = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError("HTTPS ends at the proxy: this worker takes no certificate")

    def load_wsgi(self) -> None:
        super().load_wsgi()
        from django.conf import settings  # it is set up now
        from django.db import close_old_connections

        from dialeval_site.middleware.body_limit import file_sender

        self.most_of_a_form = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        self.file_sender = file_sender
        self.close_old_connections = close_old_connections

    # --- reading a request -----------------------------------------------------------------------

    def accept(self, listener: socket.socket) -> None:
        try:
            client_sock, client_addr = listener.accept()
        except OSError as fault:
            if fault.errno in (errno.EMFILE, errno.ENFILE):
                self._make_way()
            elif fault.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        self.nr_conns += 1
        self._receive(Connection(self.cfg, client_sock, client_addr, listener.getsockname()))
        if self.nr_conns >= self.worker_connections:
            self._make_way()

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """The next request on a connection that was kept."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        conn.enter("head")
        self._receive(conn)

    def _receive(self, conn: Connection) -> None:
        try:
            data = conn.sock.recv(READ_AT_ONCE)
        except BlockingIOError:
            self._wait(conn)
            return
        except OSError:
            data = b""
        conn.moved += len(data)
        if not data or (conn.stage == "farewell" and conn.moved > conn.most_after_refusal):
            self._drop(conn)
        elif conn.stage == "head":
            self._read_head(conn, data)
        elif conn.stage == "body":
            self._read_body(conn, data)

    def _read_head(self, conn: Connection, data: bytes) -> None:
        known = max(0, len(conn.received) - 3)
        conn.received += data
        if conn.received.find(b"\r\n\r\n", known) < 0:
            if len(conn.received) > LARGEST_HEAD:
                self._refuse(conn, LimitRequestHeaders("the headers are too long"))
            else:
                self._hold(conn, len(data))
                self._wait(conn)
            return
        unreader = IterUnreader([bytes(conn.received)])
        conn.requests += 1
        try:
            request = Request(self.cfg, unreader, conn.client, conn.requests)
        except Exception as fault:
            self._refuse(conn, fault)
            return
        begun, conn.received = unreader.take_buffered(), bytearray()
        conn.request, reader = request, request.body.reader
        # gunicorn would say "100 Continue" when a thread has the request, which is too late here.
        conn.waits_for_word, request._expected_100_continue = request._expected_100_continue, False
        conn.length = -1 if isinstance(reader, ChunkedReader) else reader.length
        conn.asks_first = not 0 <= conn.length <= self.most_of_a_form
        if conn.asks_first:
            conn.received += begun
            self._hand_over(conn)
        else:
            self._collect(conn, io.BytesIO(), begun)

    def _collect(self, conn: Connection, body: Any, begun: bytes) -> None:
        conn.enter("body")
        conn.body = body
        if conn.waits_for_word and len(begun) < conn.length:
            conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._read_body(conn, begun)

    def _read_body(self, conn: Connection, data: bytes) -> None:
        mine = data[: conn.length - conn.body.tell()]
        try:
            conn.body.write(mine)
        except OSError:
            self.log.exception("a body could not be stored")
            self._say(conn, HTTPStatus.SERVICE_UNAVAILABLE, NOT_STORED, REFUSED_BYTES)
            return
        if conn.body.tell() == conn.length:
            conn.body.seek(0)
            conn.request.body = conn.body
            conn.received += data[len(mine) :]  # of the next request
            self._hand_over(conn)
            return
        if isinstance(conn.body, io.BytesIO):
            self._hold(conn, len(mine))
        self._wait(conn)

    def _hold(self, conn: Connection, count: int) -> None:
        conn.held += count
        self.held += count
        while self.held > HELD_BYTES and self._make_way():
            pass

    # --- waiting for a client, and the end of it -------------------------------------------------

    def _wait(self, conn: Connection) -> None:
        if conn in self.waiting or conn.sock.fileno() < 0:
            return
        self.waiting[conn] = None
        is_sending = conn.stage == "answer"
        event = selectors.EVENT_WRITE if is_sending else selectors.EVENT_READ
        go_on = self._send if is_sending else self._receive
        self.poller.register(conn.sock, event, lambda _sock: go_on(conn))

    def _leave(self, conn: Connection) -> None:
        if conn in self.waiting:
            del self.waiting[conn]
            self.poller.unregister(conn.sock)

    def murder_pending(self) -> None:
        """gunicorn's loop calls it after every event, also while the worker is stopping."""
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + 0.5
        for conn in list(self.waiting):
            if not self._is_late(conn, now):
                continue
            if conn.stage == "body" or (conn.stage == "head" and conn.received):
                self.log.info("a request came too slowly, from %s", conn.client)
                self._say(conn, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
            else:
                self._drop(conn)
        answers = sorted(self.waiting, key=lambda conn: conn.sock.stored)
        stored = sum(conn.sock.stored for conn in answers)
        while stored > MEMORY_BYTES:
            largest = answers.pop()
            stored -= largest.sock.stored
            self._drop(largest)

    def _is_late(self, conn: Connection, now: float) -> bool:
        since = now - conn.began
        is_stopping = not self.alive and since > STOP_KEEPALIVE_LINGER
        if conn.stage == "head":
            return since > HEAD_SECONDS or (is_stopping and not conn.moved)
        if conn.stage == "farewell":
            was_refused = conn.most_after_refusal > CLOSING_BYTES
            return is_stopping or since > (REFUSED_SECONDS if was_refused else CLOSING_SECONDS)
        if now - conn.window_began >= WINDOW_SECONDS:
            if conn.moved < WINDOW_SECONDS * LEAST_RATE:
                return True
            conn.window_began, conn.moved = now, 0
        return since > LONGEST_SECONDS

    def _make_way(self) -> bool:
        """Drop who has been sending for longest; who may send a file only never, and who takes an
        answer only where there is nobody else. Whether there was somebody."""
        may_go = [conn for conn in self.waiting if conn.sender is None]
        is_answered = [conn for conn in may_go if conn.stage == "answer"]
        chosen = next((conn for conn in may_go if conn.stage != "answer"), None)
        chosen = chosen or next(iter(is_answered), None)
        if chosen is not None:
            self._drop(chosen)
        return chosen is not None

    def _say(
        self,
        conn: Connection,
        status: HTTPStatus,
        words: str,
        most: int = CLOSING_BYTES,
    ) -> None:
        """An answer for which no thread is needed; a problem, where a program asks the API."""
        body, kind = words.encode(), "text/plain; charset=utf-8"
        if conn.request is not None and conn.request.path.startswith("/api/"):
            problem = {"type": "about:blank", "title": status.phrase, "status": status}
            body = json.dumps({**problem, "detail": words, "code": None, "errors": []}).encode()
            kind = "application/problem+json"
        head = f"HTTP/1.1 {status} {status.phrase}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
        try:
            conn.sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except OSError:
            self._drop(conn)
        else:
            self._say_farewell(conn, most)

    def _refuse(self, conn: Connection, fault: Exception) -> None:
        self.handle_error(None, conn.sock, conn.client, fault)
        self._say_farewell(conn, CLOSING_BYTES)

    def _say_farewell(self, conn: Connection, most: int) -> None:
        """Close a connection so that its client hears what was said last: closed under a client
        that still sends, it would be reset, and the answer lost."""
        self._leave(conn)
        self._forget(conn)
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        conn.enter("farewell")
        conn.most_after_refusal = most
        self._wait(conn)

    def _drop(self, conn: Connection) -> None:
        self._leave(conn)
        self._forget(conn)
        self.nr_conns -= 1
        conn.sock.close()

    def _forget(self, conn: Connection) -> None:
        """What was held for a request."""
        self.held -= conn.held
        conn.held = 0
        conn.received = bytearray()
        self._end_body(conn)

    def _end_body(self, conn: Connection) -> None:
        if conn.body is not None:
            conn.body.close()
            conn.body = None
        if conn.sender is not None:
            self.files_under_way[conn.sender] -= 1
            self.files_under_way = +self.files_under_way  # without those who have none
            conn.sender = None

    # --- answering -------------------------------------------------------------------------------

    def _hand_over(self, conn: Connection) -> None:
        self._leave(conn)
        self.enqueue_req(conn)

    def handle(self, conn: Connection) -> str:
        """Runs in a thread, which waits for no client."""
        request = conn.request
        try:
            if conn.asks_first:
                request.body = Unread()
                _, environ = wsgi.create(request, conn.sock, conn.client, conn.server, self.cfg)
                self.close_old_connections()
                conn.sender = self.file_sender(environ, conn.length)
                self.close_old_connections()
                if conn.sender is not None:
                    return COLLECT
                request.force_close()
            return KEEP if self.handle_request(request, conn) else CLOSE
        except StopIteration:
            return CLOSE
        except OSError as fault:
            if fault.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                self.log.exception("Socket error processing request.")
        except Exception as fault:
            self.handle_error(request, conn.sock, conn.client, fault)
        return CLOSE

    def finish_request(self, conn: Connection, future: Future[str]) -> None:
        conn.outcome = CLOSE if future.cancelled() or future.exception() else future.result()
        if conn.outcome == COLLECT:
            self._take_file(conn)
            return
        self._end_body(conn)
        conn.enter("answer")
        self._send(conn)

    def _take_file(self, conn: Connection) -> None:
        conn.asks_first = False
        begun, conn.received = bytes(conn.received), bytearray()
        self.files_under_way[conn.sender] += 1
        if self.files_under_way[conn.sender] > FILES_AT_ONCE:
            self._say(conn, HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY, REFUSED_BYTES)
        else:
            self._collect(conn, tempfile.TemporaryFile(dir=_folder()), begun)  # noqa: SIM115

    def _send(self, conn: Connection) -> None:
        before = conn.sock.sent
        try:
            is_done = conn.sock.flush()
        except OSError:
            self._drop(conn)
            return
        conn.moved += conn.sock.sent - before
        if not is_done:
            self._wait(conn)
            return
        self._leave(conn)
        if conn.outcome == CLOSE:
            self._say_farewell(conn, REFUSED_BYTES if conn.asks_first else CLOSING_BYTES)
            return
        begun = bytes(conn.received)
        self._forget(conn)
        conn.request = None
        if begun:
            conn.enter("head")
            self._read_head(conn, begun)
            return
        conn.set_timeout()
        if not self.alive:  # as gunicorn's own: the next request may be on its way
            conn.timeout = min(conn.timeout, time.monotonic() + STOP_KEEPALIVE_LINGER)
        self.keepalived_conns.append(conn)
        readable = partial(self.on_client_socket_readable, conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, readable)


def _folder() -> str:
    from leaderboard.challenges.uploads import incoming_folder

    return str(incoming_folder())
