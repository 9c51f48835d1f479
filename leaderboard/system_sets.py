"""On which systems metrics are compared: what an address or a command asks for (with the same
default), and the line that says who is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404, HttpRequest

from annotations.corpora.queries import NotFound, select_systems
from annotations.models import CorpusVersion, System
from leaderboard.queries.system_choice import (
    ALL,
    NAMED,
    WITHOUT_GOLD,
    WITHOUT_PEOPLE,
    cache_choices,
    chosen_systems,
    left_out_of,
    resolve_choice,
)


@dataclass(frozen=True, slots=True)
class SystemNote:
    choice: str
    left_out: tuple[str, ...]


def systems_or_404(request: HttpRequest, version: CorpusVersion, default: str | None = None) -> str:
    """``default`` None: that of metrics that are compared."""
    cache_choices(version)
    try:
        return resolve_choice(version, request.GET.get("systems") or default)
    except NotFound as unknown:
        raise Http404(str(unknown)) from None


def system_note(version: CorpusVersion, choice: str) -> SystemNote | None:
    """None where all systems take part."""
    return None if choice == ALL else SystemNote(choice, tuple(left_out_of(version, choice)))


def add_system_choice(parser: CommandParser) -> None:
    parser.add_argument(
        "--choice",
        metavar="C",
        help=f"of systems: {ALL}, {WITHOUT_GOLD} (without systems whose responses are the "
        f"references; the default where there are any), {WITHOUT_PEOPLE} (without these and "
        "people), or one that the leaderboard has; not together with --systems",
    )


def systems_of(version: CorpusVersion, options: Mapping[str, Any]) -> tuple[list[System], str]:
    """The systems that are compared, and what signatures call them. Raises NotFound."""
    only, exclude, choice = options["systems"], options["exclude"], options["choice"]
    if only:
        if choice:
            raise CommandError("--choice and --systems: give one of them")
        return select_systems(version, only), NAMED
    key = resolve_choice(version, choice)
    chosen = {system.pk for system in select_systems(version, exclude=exclude)}
    systems = [system for system in chosen_systems(version, key) if system.pk in chosen]
    return systems, NAMED if exclude else key


def left_out_line(version: CorpusVersion, key: str) -> str:
    """ "" where no system is left out by a choice."""
    if key in (ALL, NAMED):
        return ""
    names = ", ".join(left_out_of(version, key))
    why = ", whose responses are the references" if key == WITHOUT_GOLD else ""
    return f"Left out for all metrics ({key}): {names}{why}. --choice {ALL} includes all systems."
