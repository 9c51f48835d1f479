"""What the types of stored answers share. No Django here.

An answer is a frozen dataclass, and the JSON that is stored has its fields as keys
(``leaderboard.results.kinds``). Statistics in it are ``Estimate``; where a bare number may be
undefined, it is ``float | Undefined``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import Field

T = TypeVar("T")

LeftOut = Annotated[T, Field(exclude_if=lambda value: not value)]
"""A field that has no key in the JSON where it is empty."""

NoneLeftOut = Annotated[T, Field(exclude_if=lambda value: value is None)]
"""A field that has no key in the JSON where it is None; 0 has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCorpus:
    corpus: str
    corpus_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithIntervals(OfCorpus):
    """``ci`` names how its intervals are made."""

    ci: str
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemName:
    system: str
    kind: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Of a metric whose scores were submitted: by whom, and where it is described."""

    by: str
    level: str
    link: str
    file_sha256: str
