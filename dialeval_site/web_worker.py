"""gunicorn's worker with threads, changed in one thing: no client, however slow, holds a thread.

gunicorn's own reads a request and writes its answer in the thread that runs Django, for as long as the client takes.
Here the worker's loop reads requests and sends what a client does not take at once; a thread gets a request when it
is whole, and gives its answer away. A body that is larger than a form is only read where ``body_limit`` says that its
sender may send a file there. It goes to a file without a name beside the uploads, which ends with the request.

Every wait on a client has an end; the constants below say when.
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
"""For a request's line and headers, from the connection's beginning or the first byte after a rest."""
LARGEST_HEAD = 65_536
WINDOW_SECONDS, LEAST_RATE = 20, 4_000
"""Of a body, or of an answer, at least so many bytes a second move in each window; what ends within one may be
slower."""
LONGEST_SECONDS = 3_600
"""For one body, or one answer."""
HELD_BYTES = 128_000_000
"""Of requests that are not whole. Where there would be more, or more connections than gunicorn's
``worker_connections``, who has been sending for longest makes way."""
FILES_AT_ONCE = 4
"""Bodies with files that one sender may have under way in one process."""
REFUSED_SECONDS, REFUSED_BYTES = 30, 64_000_000
"""What a refused client goes on sending is read and forgotten, so that it hears why: many send all before they
listen."""
CLOSING_SECONDS, CLOSING_BYTES = 2, 65_536
IN_MEMORY = 1_000_000
"""Of an answer that its client does not take; more goes to a file."""
AT_ONCE = 262_144
PIECE, PIECES_AT_ONCE = 65_536, 16

COLLECT, KEEP, CLOSE = "collect", "keep", "close"
TOO_SLOW = "The request did not arrive in time. Nothing of it was stored."
NOT_STORED = "The site cannot store the file now. Nothing of it was stored."
TOO_MANY = "Too many of your files are on their way. Send this one when they have arrived."


class Outgoing(socket.socket):
    """A client's connection, never blocking: what the client does not take at once is kept until ``flush``."""

    def __init__(self, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self.setblocking(False)
        self.kept: list[tuple[Any, int, int]] = []  # file, where to go on, where to end
        self.sent = 0

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        data = memoryview(data).cast("B")
        if self.flush():
            with suppress(BlockingIOError):
                data = data[self._count(self.send(data, flags)) :]
        if data:
            self._keep(data)

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        """The file is its view's, which closes it: the copy of its number stays."""
        end = os.fstat(file.fileno()).st_size if count is None else offset + count
        self.kept.append((os.fdopen(os.dup(file.fileno()), "rb", buffering=0), offset, end))
        self.flush()
        return end - offset

    def _keep(self, data: memoryview) -> None:
        file, place, end = self.kept[-1] if self.kept else (None, 0, 0)
        if not isinstance(file, tempfile.SpooledTemporaryFile):
            file, place, end = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=_folder()), 0, 0  # noqa: SIM115
            self.kept.append((file, place, end))
        file.seek(end)
        file.write(data)
        self.kept[-1] = (file, place, end + len(data))

    def _count(self, sent: int) -> int:
        self.sent += sent
        return sent

    def flush(self) -> bool:
        """Send what the client takes now, of much only some, since others wait. Whether nothing is left. Raises
        OSError where the client is gone."""
        for _ in range(PIECES_AT_ONCE):
            if not self.kept:
                break
            file, place, end = self.kept[0]
            file.seek(place)
            piece = file.read(min(PIECE, end - place))
            try:
                place += self._count(self.send(piece)) if piece else end - place
            except BlockingIOError:
                return False
            if place < end:
                self.kept[0] = (file, place, end)
            else:
                file.close()
                del self.kept[0]
        return not self.kept

    def close(self) -> None:
        for file, _place, _end in self.kept:
            file.close()
        self.kept.clear()
        super().close()


class Connection(TConn):  # type: ignore[misc]
    """``stage`` is what the loop does with it: "head", "body", "answer" or "farewell"."""

    sock: Outgoing

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, Outgoing(sock), client, server)
        self.received = bytearray()
        self.requests = 0
        self.request: Any = None
        self.length = 0
        self.body: Any = None
        self.expects_word = False
        self.asks_first = False
        self.sender: Hashable = None
        self.held = 0
        self.outcome = CLOSE
        self.stage = ""
        self.began = self.window_began = 0.0
        self.moved = 0

    def enter(self, stage: str) -> None:
        self.stage, self.began, self.moved = stage, time.monotonic(), 0
        self.window_began = self.began


class Unread(io.RawIOBase):
    """The body of a request that is answered without one."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        raise OSError("the body of this request is not read")


class Worker(ThreadWorker):  # type: ignore[misc]
    """For ``worker_class`` of ``deploy/gunicorn.conf.py``."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.waiting: dict[Connection, None] = {}
        self.held = 0
        self.files_under_way: Counter[Hashable] = Counter()
        self.next_look = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError("HTTPS ends at the proxy: this worker takes no certificate")

    # --- reading: all of this runs in the loop -----------------------------------------------------------------

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
        conn = Connection(self.cfg, client_sock, client_addr, listener.getsockname())
        self._begin(conn)
        if self.nr_conns >= self.worker_connections:
            self._make_way()

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """It was kept alive, and asks again."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._begin(conn)

    def _begin(self, conn: Connection) -> None:
        conn.enter("head")
        if conn.received:
            data, conn.received = bytes(conn.received), bytearray()
            self._read_head(conn, data)
        else:
            self._receive(conn)

    def _receive(self, conn: Connection) -> None:
        try:
            data = conn.sock.recv(AT_ONCE)
        except BlockingIOError:
            self._wait(conn)
            return
        except OSError:
            data = b""
        if not data:
            self._drop(conn)
            return
        conn.moved += len(data)
        if conn.stage == "head":
            self._read_head(conn, data)
        elif conn.stage == "body":
            self._read_body(conn, data)
        elif conn.moved > conn.length:
            self._drop(conn)  # more than a farewell takes

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
            request = conn.request = Request(self.cfg, unreader, conn.client, conn.requests)
        except Exception as fault:
            self._refuse(conn, fault)
            return
        conn.received = bytearray()
        conn.expects_word, request._expected_100_continue = request._expected_100_continue, False
        reader = request.body.reader
        conn.length = -1 if isinstance(reader, ChunkedReader) else reader.length
        conn.asks_first = not 0 <= conn.length <= self.most_of_a_form
        if conn.asks_first:
            conn.received += unreader.take_buffered()
            self._hand_over(conn)
        else:
            self._collect(conn, io.BytesIO(), unreader.take_buffered())

    def _collect(self, conn: Connection, body: Any, begun: bytes) -> None:
        conn.enter("body")
        conn.body = body
        if conn.expects_word and len(begun) < conn.length:
            conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._read_body(conn, begun)

    def _read_body(self, conn: Connection, data: bytes) -> None:
        mine = data[: conn.length - conn.body.tell()]
        try:
            conn.body.write(mine)
        except OSError:
            self.log.exception("a body could not be stored")
            self._answer_itself(conn, HTTPStatus.SERVICE_UNAVAILABLE, NOT_STORED, REFUSED_BYTES)
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

    # --- waiting, and its end ----------------------------------------------------------------------------------

    def _wait(self, conn: Connection) -> None:
        if conn not in self.waiting and conn.sock.fileno() >= 0:
            self.waiting[conn] = None
            if conn.stage == "answer":
                self.poller.register(conn.sock, selectors.EVENT_WRITE, lambda _sock: self._send(conn))
            else:
                self.poller.register(conn.sock, selectors.EVENT_READ, lambda _sock: self._receive(conn))

    def _leave(self, conn: Connection) -> None:
        if conn in self.waiting:
            del self.waiting[conn]
            self.poller.unregister(conn.sock)

    def murder_pending(self) -> None:
        """Called after every event, also while the worker is stopping. Looks about once a second."""
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + 0.5
        for conn in list(self.waiting):
            if not self._is_late(conn, now):
                continue
            if conn.stage == "body" or (conn.stage == "head" and conn.received):
                self.log.info("closed: %s sends a request too slowly", conn.client)
                self._answer_itself(conn, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
            else:
                self._drop(conn)

    def _is_late(self, conn: Connection, now: float) -> bool:
        since = now - conn.began
        stopping = not self.alive and since > STOP_KEEPALIVE_LINGER
        if conn.stage == "head":
            return since > HEAD_SECONDS or (stopping and not conn.moved)
        if conn.stage == "farewell":
            return stopping or since > (REFUSED_SECONDS if conn.length > CLOSING_BYTES else CLOSING_SECONDS)
        if now - conn.window_began >= WINDOW_SECONDS:
            if conn.moved < WINDOW_SECONDS * LEAST_RATE:
                return True
            conn.window_began, conn.moved = now, 0
        return since > LONGEST_SECONDS

    def _answer_itself(self, conn: Connection, status: HTTPStatus, words: str, most: int = CLOSING_BYTES) -> None:
        """Without a thread; a program is told by a problem, as everywhere in the API."""
        body, media_type = words.encode(), "text/plain; charset=utf-8"
        if conn.request is not None and conn.request.path.startswith("/api/"):
            problem = {"type": "about:blank", "title": status.phrase, "status": status, "detail": words}
            body, media_type = json.dumps(problem).encode(), "application/problem+json"
        head = f"HTTP/1.1 {status} {status.phrase}\r\nConnection: close\r\nContent-Type: {media_type}\r\n"
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
        """Closes a connection so that its client hears what was said last: closed at once, under a client that still
        sends, it would be reset, and the answer lost."""
        self._leave(conn)
        self._forget(conn)
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        conn.enter("farewell")
        conn.length = most
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
            self.files_under_way += Counter()  # without those that have none
            conn.sender = None

    def _make_way(self) -> bool:
        """Close the connection that has been at its request for longest. Who may send a file is let be."""
        oldest = next((c for c in self.waiting if c.stage != "answer" and c.sender is None), None)
        oldest = oldest or next((c for c in self.waiting if c.stage == "answer"), None)
        if oldest is not None:
            self._drop(oldest)
        return oldest is not None

    # --- answering ---------------------------------------------------------------------------------------------

    def load_wsgi(self) -> None:
        super().load_wsgi()
        from django.conf import settings  # it is set up now
        from django.db import close_old_connections

        from dialeval_site.body_limit import file_sender

        self.most_of_a_form = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        self.file_sender = file_sender
        self.close_old_connections = close_old_connections

    def _hand_over(self, conn: Connection) -> None:
        self._leave(conn)
        self.enqueue_req(conn)

    def handle(self, conn: Connection) -> str:
        """Runs in a thread, which waits for no client."""
        try:
            if conn.asks_first:
                conn.asks_first = False
                conn.request.body = Unread()
                _, environ = wsgi.create(conn.request, conn.sock, conn.client, conn.server, self.cfg)
                self.close_old_connections()
                conn.sender = self.file_sender(environ, conn.length)
                self.close_old_connections()
                if conn.sender is not None:
                    return COLLECT
                conn.request.force_close()
            return KEEP if self.handle_request(conn.request, conn) else CLOSE
        except StopIteration:
            return CLOSE
        except OSError as fault:
            if fault.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                self.log.exception("Socket error processing request.")
        except Exception as fault:
            self.handle_error(conn.request, conn.sock, conn.client, fault)
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
        sender, conn.sender = conn.sender, None
        if self.files_under_way[sender] >= FILES_AT_ONCE:
            self._answer_itself(conn, HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY, REFUSED_BYTES)
            return
        self.files_under_way[sender] += 1
        conn.sender = sender
        begun, conn.received = bytes(conn.received), bytearray()
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
            is_unread = isinstance(conn.request.body, Unread)
            self._say_farewell(conn, REFUSED_BYTES if is_unread else CLOSING_BYTES)
            return
        self.held -= conn.held
        conn.held, conn.request = 0, None
        if conn.received:
            self._begin(conn)
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
