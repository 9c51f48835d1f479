"""The embedded broker: kombu's filesystem transport, made safe for several processes.

kombu's own writes a message into the very file that a reader may already be taking, and binding
tables in place: now and then a worker reads half of one, fails on it and consumes no more. Here
every file appears whole, by a rename, and a message is taken by a rename inside the broker's
folder.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

SCHEME = "folder"
TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **_options: Any) -> None:
        name = f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        try:
            _write_whole(Path(self.data_folder_out) / name, payload)
        except OSError as problem:
            raise ChannelError(
                f"the message cannot be written to {self.data_folder_out}"
            ) from problem

    def _get(self, queue: str) -> Any:
        waiting = Path(self.data_folder_in)
        for name in sorted(_names_in(waiting)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = waiting / f".taken-{name}"
            try:
                os.rename(waiting / name, taken)
            except FileNotFoundError:
                continue  # another process was first
            payload = taken.read_bytes()
            taken.unlink()
            return loads(payload.decode())
        raise Empty

    def _size(self, queue: str) -> int:
        return sum(
            name.partition(".")[2] == f"{queue}.msg"
            for name in _names_in(Path(self.data_folder_in))
        )

    def get_table(self, exchange: str) -> list[Any]:
        try:
            rows = loads(self._exchange_file(exchange).read_text())
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise ChannelError(f"the bindings of {exchange} cannot be read") from problem
        return [filesystem.exchange_queue_t(*row) for row in rows]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._changing_tables():
            table = self.get_table(exchange)
            if binding not in table:
                _write_whole(self._exchange_file(exchange), [binding, *table])

    def _delete(
        self, queue: str, exchange: str, routing_key: str, pattern: str, *_args: Any, **_kwargs: Any
    ) -> None:
        self._purge(queue)
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._changing_tables():
            table = self.get_table(exchange)
            if binding in table:
                _write_whole(
                    self._exchange_file(exchange), [other for other in table if other != binding]
                )

    @contextmanager
    def _changing_tables(self) -> Iterator[None]:
        """One process at a time changes bindings; readers need no lock."""
        try:
            self.control_folder.mkdir(parents=True, exist_ok=True)
            lock = (self.control_folder / ".lock").open("w")
        except OSError as problem:
            raise ChannelError(
                f"the bindings in {self.control_folder} cannot be changed"
            ) from problem
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    Channel = Channel
    driver_type = driver_name = SCHEME


def _write_whole(path: Path, content: Any) -> None:
    """The file is there with all its content, or not at all. A folder that somebody removed is made
    again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".part-{uuid.uuid4()}")
    part.write_text(dumps(content))
    os.replace(part, path)


def _names_in(folder: Path) -> list[str]:
    """A folder that is gone holds no messages: the rows are the truth, and the next message makes
    it again."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
