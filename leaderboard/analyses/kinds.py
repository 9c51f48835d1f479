"""The kinds of statistics that are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from annotations.models import CorpusVersion

Compute = Callable[..., dict[str, Any]]


def of_the_version(version: CorpusVersion, **_parameters: Any) -> str:
    """The data of most statistics: the corpus version's, whose revision counts every write."""
    return str(version.revision)


@dataclass(frozen=True, slots=True)
class Kind:
    """``compute(version, **parameters)`` makes the answer, a JSON document. ``stamp(version, **parameters)`` names the
    state of the data that it is made from: an answer with another stamp is out of date. ``made_by`` names the code more
    closely than the release does, where answers depend on it from day to day (drawings)."""

    name: str
    compute: Compute
    stamp: Callable[..., str] = of_the_version
    made_by: str = ""


_known: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    _known[kind.name] = kind
    return kind


def all_kinds() -> Mapping[str, Kind]:
    return MappingProxyType(_known)


def _of(path: str) -> Compute:
    """Imported when it is first computed: the pages that only read need none of it."""
    module, _, name = path.partition(":")

    def compute(version: CorpusVersion, **parameters: Any) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(import_module(module), name)(version, **parameters)
        return answer

    return compute


for _name, _path in {
    "correlations": "leaderboard.queries.metric_leaderboard:metric_leaderboard",
    "systems": "leaderboard.queries.standing:system_standing",
    "agreement": "leaderboard.queries.standing:agreement",
    "score-spread": "leaderboard.queries.score_spread:score_spread",
    "disagreement": "leaderboard.queries.disagreement:disagreement",
}.items():
    register(Kind(_name, _of(_path)))
