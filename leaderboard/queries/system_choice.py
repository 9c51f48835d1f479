"""Which systems a board is about: all, agents only, or those of a round or track that a challenge published.

A choice is a short text, since it stands in addresses and in the parameters of stored answers. Whoever knows of more
choices than the corpus does (challenges) registers a source of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotations.models import CorpusVersion, System
from annotations.prepared import Given, Prepared
from annotations.queries import NotFound, select_systems

ALL, AGENTS = "all", "agents"


@dataclass(frozen=True)
class SystemChoice:
    key: str
    label: str
    systems: tuple[int, ...]
    """Their keys: every board asks for the choices, and needs no more."""


Source = Callable[[CorpusVersion, Sequence[int]], list[SystemChoice]]
"""Given the version and the keys of its shown systems, further choices among these."""
_sources: list[Source] = []


def register(source: Source) -> None:
    if source not in _sources:
        _sources.append(source)


_SHOWN_KINDS = Prepared(
    lambda: (
        System.objects.filter(version=Given("version"), withheld=False).order_by("position").values_list("pk", "kind")
    )
)


def system_choices(version: CorpusVersion) -> list[SystemChoice]:
    """All first. A choice that would leave no system, or leave all, is not offered."""
    kinds = dict(_SHOWN_KINDS.tuples(version=version.pk))
    shown = tuple(kinds)
    agents = tuple(pk for pk, kind in kinds.items() if kind in (System.Kind.AGENT, System.Kind.BASELINE))
    found = [SystemChoice(AGENTS, "without people and gold answers", agents)]
    for source in _sources:
        found += source(version, shown)
    everything = SystemChoice(ALL, "all systems", shown)
    return [everything, *(one for one in found if 0 < len(one.systems) < len(shown))]


def chosen_systems(version: CorpusVersion, key: str) -> list[System]:
    """Raises NotFound for a choice that this corpus does not have."""
    if key == ALL:
        return select_systems(version)
    for one in system_choices(version):
        if one.key == key:
            chosen = frozenset(one.systems)
            return [system for system in select_systems(version) if system.pk in chosen]
    raise NotFound(f"{version.corpus.slug} has no choice of systems {key!r}")
