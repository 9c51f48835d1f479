"""Tables and drawings as they were last made, kept by each process: a board is thousands of cells,
and every order and choice of columns that a reader asks for is put together from the same ones.

As with the parts of pages (``written_parts``), only what follows from stored answers is kept, under
a key that holds their marks and all that it was made with. A new answer is another key; what nobody
asks for any more falls out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.utils.translation import get_language

from annotations.lru_cache import LRUCache

Made = TypeVar("Made")

_place: LRUCache[Any] = LRUCache(48_000_000)


def memoize(key: Hashable, make: Callable[[], Made]) -> Made:
    """What ``make`` makes, or made before for this key and language. Nobody changes it: others get
    the same object."""
    made: Made = _place.get((get_language(), key), make)
    return made


def forget() -> None:
    _place.forget()
