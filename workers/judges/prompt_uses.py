"""Who else names a judge's prompt: rounds of challenges, of which workers know nothing. They say so
here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Naming:
    """A configuration that somebody wants computed, and where, for people."""

    configuration: str
    where: str


Provider = Callable[[str], Iterable[Naming]]
"""Given a text, every naming whose configuration holds it."""

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    if provider not in _providers:
        _providers.append(provider)


def namings(part: str) -> list[Naming]:
    return [one for provider in _providers for one in provider(part)]
