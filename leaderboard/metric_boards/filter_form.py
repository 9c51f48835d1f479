"""The form above the metric leaderboard: one select a choice, only where there is something to
choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.estimate_cells import COEFFICIENT_NAMES
from leaderboard.metric_boards.filters import (
    ANY,
    METHODS,
    NEEDS,
    ORIGINS,
    VARIANTS,
    BoardParams,
    methods_present,
    needs_present,
    origins_present,
)
from leaderboard.plots import levels_of
from leaderboard.queries.system_choice import SystemChoice


@dataclass(frozen=True, slots=True)
class Select:
    name: str
    label: str
    options: tuple[tuple[str, str, bool], ...]
    """(value, words, whether it is chosen)"""


def filter_form(
    document: Mapping[str, Any],
    params: BoardParams,
    aspect: str,
    aspects: Sequence[str],
    systems: Sequence[SystemChoice],
) -> tuple[list[Select], list[Select]]:
    """(what numbers are shown, which metrics)."""
    numbers = [
        _select("aspect", "Aspect", [(one, one) for one in aspects], aspect),
        _select("level", "Level", [(level, level) for level in levels_of(document)], params.level),
        _select("coefficient", "Coefficient", list(COEFFICIENT_NAMES.items()), params.coefficient),
        _select("variant", "Computed", list(VARIANTS.items()), params.variant),
        _select(
            "systems", "Systems", [(one.key, _counted(one)) for one in systems], params.systems
        ),
    ]
    metrics = [
        _select(
            "method",
            "Metrics made of",
            _any([(one, METHODS[one]) for one in methods_present(document)]),
            params.method,
        ),
        _select(
            "needs",
            "Metrics that need",
            _any([(one, NEEDS[one][0]) for one in needs_present(document)]),
            params.needs,
        ),
        _select(
            "origin",
            "Metrics",
            _any([(one, ORIGINS[one]) for one in origins_present(document)]),
            params.origin,
        ),
    ]
    return [one for one in numbers if len(one.options) > 1], [
        one for one in metrics if len(one.options) > 2
    ]


def _select(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Select:
    known = [value for value, _ in options]
    # Asked for in the address, and fits nothing here: shown, so that it can be undone
    if chosen not in known:
        options = [*options, (chosen, chosen)]
    return Select(name, label, tuple((value, words, value == chosen) for value, words in options))


def _any(options: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(ANY, "any"), *options]


def _counted(choice: SystemChoice) -> str:
    return f"{choice.label} ({len(choice.systems)})"
