"""How many of a run's responses had a persona, for its signature: with and without one, scores may differ in scale."""

from __future__ import annotations

from collections.abc import Collection

from workers.metrics.base import Example


def has_persona(example: Example) -> bool:
    return any(line.strip() for line in example.persona)


def how_many(having: Collection[bool]) -> str:
    """``all``, ``some`` or ``none``."""
    return "none" if not any(having) else "all" if all(having) else "some"
