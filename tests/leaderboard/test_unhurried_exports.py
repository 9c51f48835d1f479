"""An archive that is written in a web process leaves half of the time to others."""

from __future__ import annotations

import time

import pytest

from leaderboard import exports
from leaderboard.exports import AT_A_STRETCH, unhurried


def test_nothing_is_lost_and_the_order_stays() -> None:
    assert list(unhurried(range(1000))) == list(range(1000))


def test_it_rests_as_long_as_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three items of 0.02 s of work: after each a rest of as long; after what is done at once,
    none."""
    rests: list[float] = []
    clock = iter([0.0, 0.02, 0.02, 0.04, 0.04, 0.06, 0.06])
    monkeypatch.setattr(exports.time, "thread_time", lambda: next(clock))
    monkeypatch.setattr(exports.time, "sleep", rests.append)
    assert list(unhurried("abc")) == ["a", "b", "c"]
    assert rests == pytest.approx([0.02, 0.02, 0.02])


def test_it_does_not_rest_from_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr(time, "sleep", rests.append)
    monkeypatch.setattr(
        exports.time, "thread_time", iter([AT_A_STRETCH * n / 4 for n in range(4)]).__next__
    )
    assert list(unhurried("abc")) == ["a", "b", "c"]
    assert rests == []
