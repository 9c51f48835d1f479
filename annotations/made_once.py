"""Tables and drawings as they were last made, kept by each process: a board is thousands of cells, and every order and
choice of columns that a reader asks for is put together from the same ones.

As with the parts of pages (``written_parts``), only what follows from stored answers is kept, under a key that holds
their marks and all that it was made with. A new answer is another key; what nobody asks for any more falls out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.utils.translation import get_language

MOST_BYTES = 24_000_000
"""In all, of each process, by what things say of their own weight."""
LEAST_WEIGHT = 2_000
"""Of what is small, or does not say how much it holds (``weight``): addresses are as many as visitors like."""

Made = TypeVar("Made")

_made: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()
_lock = threading.Lock()
_size = 0


def made_once(key: Hashable, make: Callable[[], Made]) -> Made:
    """What ``make`` makes, or made before for this key and language. Several readers get the same object: nobody
    changes it. Two who ask at once may both make it."""
    place = (get_language(), key)
    with _lock:
        if place in _made:
            _made.move_to_end(place)
            found: Made = _made[place][1]
            return found
    made = make()
    _keep(place, made)
    return made


def _keep(place: Hashable, made: Any) -> None:
    global _size
    weight = max(getattr(made, "weight", 0), LEAST_WEIGHT)
    if weight > MOST_BYTES // 4:
        return
    with _lock:
        _size += weight - _made.pop(place, (0, None))[0]
        _made[place] = (weight, made)
        while _size > MOST_BYTES:
            _, (oldest, _) = _made.popitem(last=False)
            _size -= oldest


def forget() -> None:
    global _size
    with _lock:
        _made.clear()
        _size = 0
