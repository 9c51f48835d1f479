"""Tables and drawings that are kept: made once for a key, never shown for another, and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.utils import translation

from annotations import made_once as kept
from annotations.made_once import made_once


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    kept.forget()
    yield
    kept.forget()


@dataclass
class Made:
    name: str
    weight: int = 0


def test_the_same_key_gets_the_same_object() -> None:
    first = made_once(("board", "1.a"), lambda: Made("first"))
    assert made_once(("board", "1.a"), lambda: Made("second")) is first


def test_another_answer_is_made_anew() -> None:
    made_once(("board", "1.a"), lambda: Made("first"))
    assert made_once(("board", "1.b"), lambda: Made("second")).name == "second"


def test_another_language_is_made_anew() -> None:
    made_once("board", lambda: Made("english"))
    with translation.override("de"):
        assert made_once("board", lambda: Made("deutsch")).name == "deutsch"


def test_what_is_nothing_is_kept_too() -> None:
    made_once("bands", lambda: None)
    assert made_once("bands", lambda: Made("anew")) is None


def test_what_nobody_asks_for_falls_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of 5,000 fit into 20,000. The first is asked for again, so the second goes when a fifth comes."""
    monkeypatch.setattr(kept, "MOST_BYTES", 20_000)
    for key in "abcd":
        made_once(key, lambda key=key: Made(key, 5_000))
    made_once("a", lambda: Made("anew"))
    made_once("e", lambda: Made("e", 5_000))
    assert [made_once(key, lambda: Made("anew", 0)).name for key in "acdeb"] == ["a", "c", "d", "e", "anew"]


def test_what_would_take_a_quarter_of_the_room_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 20_000)
    made_once("large", lambda: Made("large", 5_001))
    assert made_once("large", lambda: Made("anew")).name == "anew"


def test_endless_keys_of_small_things_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counts 2,000 at least."""
    monkeypatch.setattr(kept, "MOST_BYTES", 20_000)
    for number in range(50):
        made_once(number, lambda: Made("small"))
    assert len(kept._made) == 10
