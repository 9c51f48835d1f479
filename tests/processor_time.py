"""Limits of the processor's time, which a slower or a crowded machine keeps as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOPS, LOOP_SECONDS = 200_000, 0.007
"""What the loop below takes on the machine on which the limits were set."""


@contextmanager
def at_most(seconds: float, what: str = "") -> Iterator[None]:
    """What is done within takes no more of the processor's time, or as much more as a plain loop
    takes more at that moment.

    A limit is four times of what it takes, or more.
    """
    began = time.process_time()
    yield
    took = time.process_time() - began
    if took > seconds:
        assert took <= seconds * max(1.0, loop_seconds() / LOOP_SECONDS), what


def loop_seconds() -> float:
    began = time.process_time()
    total = 0
    for number in range(LOOPS):
        total += number % 7
    return time.process_time() - began
