"""When systems were handed in. Whoever knows (challenges) registers a source of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from annotations.models import CorpusVersion, System

Source = Callable[[CorpusVersion, Sequence[System]], dict[int, datetime]]
"""Given the version and some of its systems, when each came, by the system's key; nothing of those
it does not know."""
_sources: list[Source] = []


def register(source: Source) -> None:
    if source not in _sources:
        _sources.append(source)


def handed_in_at(version: CorpusVersion, systems: Sequence[System]) -> dict[int, datetime]:
    found: dict[int, datetime] = {}
    for source in _sources:
        found |= source(version, systems)
    return found
