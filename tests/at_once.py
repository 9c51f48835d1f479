"""Calls that all begin at one moment, each in a thread with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

LONGEST_WAIT_SECONDS = 30


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What each call returned or raised, in their order. Needs ``django_db(transaction=True)``."""
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait(LONGEST_WAIT_SECONDS)
            return call()
        except Exception as raised:
            return raised
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
