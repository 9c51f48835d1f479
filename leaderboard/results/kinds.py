"""The kinds of statistics that are stored.

Each registers itself from the module of the function that computes it, beside its version
(``registered``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter

from annotations.models import CorpusVersion

REFRESHED_FOR = timedelta(days=30)
"""What nobody has looked at for longer is made anew when somebody does."""

PAIRS_REFRESHED_FOR = timedelta(hours=1)

Compute = Callable[..., Any]
C = TypeVar("C", bound=Compute)


def of_the_version(version: CorpusVersion, **_parameters: Any) -> str:
    """The data of most statistics: the corpus version's, whose revision counts every write."""
    return str(version.revision)


def on_demand(_version: CorpusVersion) -> list[dict[str, Any]]:
    return []


def of_the_main_aspect(version: CorpusVersion) -> list[dict[str, Any]]:
    return [{"aspect": version.main_aspect}] if version.main_aspect in version.aspects else []


def without_parameters(_version: CorpusVersion) -> list[dict[str, Any]]:
    return [{}]


def as_requested(_version: CorpusVersion, parameters: dict[str, Any]) -> dict[str, Any]:
    return parameters


@dataclass(frozen=True, slots=True)
class Kind:
    """``compute(version, **parameters)`` makes the answer, of the type that it says it returns: a
    frozen dataclass, which is stored as JSON. ``version`` is raised whenever its numbers or its
    shape change, by a change anywhere in the code that it comes from: what an older version made is
    computed anew. (tests/leaderboard/test_kind_versions.py holds an answer of each kind.)
    ``stamp(version, **parameters)`` names the state of the data that it is made from: an answer
    with another stamp is out of date. ``refreshed_for``: for how long after a look workers make it
    anew by themselves when its data change. ``for_files``: the field that only files and the API
    need; pages read the answer without it (``look.whole`` with it). ``of_pairs``: there are as many
    answers as pairs of systems or metrics, thousands of them, so that only some are kept and only
    some may wait at a time.

    ``shown_first(version)``: the parameters with which pages of the version ask when nobody has
    chosen anything; these answers are computed before somebody looks (``warming``).

    ``resolved(version, parameters)``: the parameters as they are stored, with what they come to
    where they are silent, so that no two surfaces differ by default
    (``system_choice.with_choice``).
    """

    name: str
    version: int
    compute: Compute
    stamp: Callable[..., str] = of_the_version
    refreshed_for: timedelta = REFRESHED_FOR
    for_files: str = ""
    of_pairs: bool = False
    shown_first: Callable[[CorpusVersion], list[dict[str, Any]]] = on_demand
    resolved: Callable[[CorpusVersion, dict[str, Any]], dict[str, Any]] = as_requested

    def to_json(self, answer: Any) -> str:
        """Raises ``ValueError`` where it could not be read back. What is not a number is ``null``
        with a reason, never NaN."""
        try:
            text = json.dumps(json_form(answer), allow_nan=False)
            self.from_json(text)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"the answer is no JSON document: {problem}") from None
        return text

    def from_json(self, text: str) -> Any:
        return _adapter(_type_of(self.compute)).validate_json(text)


def json_form(value: Any) -> Any:
    """An answer, or a part of one, as dictionaries and lists."""
    return _adapter(type(value)).dump_python(value, by_alias=True, warnings=False)


def _type_of(compute: Compute) -> Any:
    called = compute if isinstance(compute, FunctionType) else type(compute).__call__
    return get_type_hints(called).get("return", Any)


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _adapter(of: Any) -> TypeAdapter[Any]:
    if of not in _adapters:
        _adapters[of] = TypeAdapter(of)
    return _adapters[of]


_known: dict[str, Kind] = {}


def registered(name: str, version: int, **options: Any) -> Callable[[C], C]:
    """Decorates the function that computes this kind; ``options`` are the other fields of ``Kind``.

    Raises:
        ValueError: another function computes a kind of this name.
    """

    def register(compute: C) -> C:
        if name in _known:
            raise ValueError(f"two functions compute the kind {name!r}")
        _known[name] = Kind(name, version, compute, **options)
        return compute

    return register


def kind_of(compute: Compute | str) -> Kind:
    """Of the function that computes it, or of its name."""
    if isinstance(compute, str):
        return _known[compute]
    return next(kind for kind in _known.values() if kind.compute is compute)


def all_kinds() -> Mapping[str, Kind]:
    return MappingProxyType(_known)


def kinds_of_pairs() -> list[str]:
    return [kind.name for kind in _known.values() if kind.of_pairs]
