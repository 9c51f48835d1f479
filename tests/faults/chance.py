"""When and how often processes are killed: drawn anew in each run, by a seed that is printed.

The gate draws a few points of many; over the days it meets them all. ``DIALEVAL_LONG=1`` draws as
many as there are in one run; ``DIALEVAL_TEST_SEED`` draws the same again, as far as processes do
the same.
"""

from __future__ import annotations

import os
import random

from tests.ci import IS_LONG

SEED = int(os.environ.get("DIALEVAL_TEST_SEED") or random.SystemRandom().randrange(10**6))


def draw() -> random.Random:
    """Its seed stands in the output of a test that fails."""
    print(f"DIALEVAL_TEST_SEED={SEED}")
    return random.Random(SEED)


def few(count: int, of: int) -> int:
    """How many times in this run."""
    return of if IS_LONG else count
