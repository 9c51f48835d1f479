"""Tables and drawings that are kept: made once for a key, and never shown for another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.utils import translation

from common import cache
from common.cache import memoize


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    cache.forget()
    yield
    cache.forget()


@dataclass
class Made:
    name: str
    weight: int = 0


def test_the_same_key_gets_the_same_object() -> None:
    first = memoize(("board", "1.a"), lambda: Made("first"))
    assert memoize(("board", "1.a"), lambda: Made("second")) is first


def test_another_answer_is_made_anew() -> None:
    memoize(("board", "1.a"), lambda: Made("first"))
    assert memoize(("board", "1.b"), lambda: Made("second")).name == "second"


def test_another_language_is_made_anew() -> None:
    memoize("board", lambda: Made("english"))
    with translation.override("de"):
        assert memoize("board", lambda: Made("deutsch")).name == "deutsch"


def test_what_is_nothing_is_kept_too() -> None:
    memoize("bands", lambda: None)
    assert memoize("bands", lambda: Made("anew")) is None
