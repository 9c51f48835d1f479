"""Training and attention items: how many of those judged were within their range."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChecksPassed:
    passed: int
    judged: int

    def __str__(self) -> str:
        return f"{self.passed} / {self.judged}"


def checks_passed(judged: Iterable[tuple[int, int, int]]) -> ChecksPassed:
    """From (score, lowest, highest) of each check; both ends of the range pass."""
    results = [lowest <= score <= highest for score, lowest, highest in judged]
    return ChecksPassed(sum(results), len(results))
