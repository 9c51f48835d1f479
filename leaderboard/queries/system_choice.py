"""Which systems a board is about: all, those without the reference responses, or those of a round
or track.

A choice is a short text, since it stands in addresses, in signatures and in the parameters of
stored answers. Apps that know of more choices than the corpus does (challenges) register a source
of them.

Metrics are compared on the systems of one choice, ``resolve_choice``. Its default leaves out
systems whose responses are the references, for all metrics alike: a metric with references scores
them with its maximum, which would then count as agreement with people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.corpora.queries import NotFound, select_systems
from annotations.models import CorpusVersion, System
from common.database import CompiledQuery, Given
from leaderboard.queries.gold import gold_systems

ALL, WITHOUT_GOLD, WITHOUT_PEOPLE = "all", "without-gold", "without-people"
NAMED = "named"
"""In signatures: systems that somebody named one by one."""
_FORMER_NAMES = {"agents": WITHOUT_PEOPLE}
"""They stand in addresses that people kept."""


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


_SHOWN_KINDS = CompiledQuery(
    lambda: (
        System.objects.filter(version=Given("version"), withheld=False)
        .order_by("position")
        .values_list("pk", "kind")
    )
)
_CACHED = "_system_choices"


def cache_choices(version: CorpusVersion) -> None:
    """Look the choices up once for this object, which lives as long as a request: a page with five
    stored answers asks for them six times."""
    setattr(version, _CACHED, _read_choices(version))


def system_choices(version: CorpusVersion) -> list[SystemChoice]:
    """All first. A choice that leaves no system, or the same systems as an earlier one, is not
    offered."""
    return _distinct(_all_choices(version))


def resolve_choice(version: CorpusVersion, key: str | None = None) -> str:
    """The choice of systems on which metrics are compared, as it stands in signatures and stored
    questions.

    Args:
        key: what was asked for; nothing: the default, ``without-gold`` where a shown system is
        gold, else ``all``.

    Returns:
        The key of one of ``system_choices``: a choice that leaves out nothing is called ``all``.

    Raises:
        NotFound: the corpus does not have such a choice.
    """
    found = _all_choices(version)
    offered = _distinct(found)
    wanted = _FORMER_NAMES.get(key, key) if key else WITHOUT_GOLD
    if any(one.key == wanted for one in offered):
        return wanted
    systems = {one.key: one.systems for one in found}.get(wanted)
    for one in offered:
        if one.systems == systems:
            return one.key
    if not key:
        return ALL
    raise NotFound(
        f"{version.corpus.slug} has no choice of systems {key!r}. Choices: "
        f"{', '.join(one.key for one in offered)}"
    )


def left_out_of(version: CorpusVersion, key: str) -> list[str]:
    """Names of the shown systems that a choice leaves out."""
    chosen = _keys_of(version, key)
    return [system.name for system in select_systems(version) if system.pk not in chosen]


def chosen_systems(version: CorpusVersion, key: str | None = None) -> list[System]:
    """Raises NotFound for a choice that this corpus does not have."""
    if key == ALL:
        return select_systems(version)
    chosen = _keys_of(version, key)
    return [system for system in select_systems(version) if system.pk in chosen]


def _keys_of(version: CorpusVersion, key: str | None) -> frozenset[int]:
    resolved = resolve_choice(version, key)
    return next(frozenset(one.systems) for one in _all_choices(version) if one.key == resolved)


def with_choice(version: CorpusVersion, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a stored answer that compares metrics: they always name the choice of
    systems."""
    return parameters | {"systems": resolve_choice(version, parameters.get("systems"))}


def _all_choices(version: CorpusVersion) -> list[SystemChoice]:
    cached: list[SystemChoice] | None = getattr(version, _CACHED, None)
    return _read_choices(version) if cached is None else cached


def _read_choices(version: CorpusVersion) -> list[SystemChoice]:
    kinds: dict[int, str] = dict(_SHOWN_KINDS.tuples(version=version.pk))
    shown = tuple(kinds)
    gold = gold_systems(version, kinds)
    without_gold = tuple(pk for pk in shown if pk not in gold)
    without_people = tuple(pk for pk in without_gold if kinds[pk] != System.Kind.HUMAN)
    found = [
        SystemChoice(ALL, "All systems", shown),
        SystemChoice(WITHOUT_GOLD, "Without references", without_gold),
        SystemChoice(WITHOUT_PEOPLE, "Without people, references", without_people),
    ]
    for source in _sources:
        found += source(version, shown)
    return found


def _distinct(choices: list[SystemChoice]) -> list[SystemChoice]:
    everything = choices[0]
    seen: set[tuple[int, ...]] = {everything.systems}
    offered = [everything]
    for one in choices[1:]:
        is_new = one.key not in (WITHOUT_GOLD, WITHOUT_PEOPLE) or one.systems not in seen
        if 0 < len(one.systems) < len(everything.systems) and is_new:
            offered.append(one)
            seen.add(one.systems)
    return offered
