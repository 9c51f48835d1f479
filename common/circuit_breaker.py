"""Leaving a service that does not answer alone for a while: nobody waits for it again and again."""

from __future__ import annotations

import threading
import time


class CircuitBreaker:
    """For the threads of one process. ``allows`` says whether to call the service now; its caller
    tells how that went, by ``succeeded`` or ``failed``. After a failure nobody calls for
    ``seconds``, then one thread at a time tries."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._retry_at: float | None = None
        self._lock = threading.Lock()

    def allows(self) -> bool:
        with self._lock:
            if self._retry_at is None:
                return True
            now = time.monotonic()
            if now < self._retry_at:
                return False
            self._retry_at = now + self._seconds  # the others go on without it while this one tries
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._retry_at = None

    def failed(self) -> None:
        with self._lock:
            self._retry_at = time.monotonic() + self._seconds
