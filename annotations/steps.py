"""What an organiser does, in order, from setting something up to its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Step:
    key: str
    title: str
    remark: str
    is_done: bool
    is_next: bool = False
    is_optional: bool = False


def with_the_next(steps: Iterable[Step]) -> list[Step]:
    """The first that is not done, and cannot be left out, is next."""
    found = list(steps)
    for place, step in enumerate(found):
        if not step.is_done and not step.is_optional:
            found[place] = replace(step, is_next=True)
            break
    return found
