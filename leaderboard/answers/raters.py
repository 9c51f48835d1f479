"""What is stored of raters: how strict each is, and what is left of the systems' order without
that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate, OwnJson
from leaderboard.answers import OfCorpus, SystemName


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedSystem(SystemName):
    """Its mean with the raters' severity in it, and without. Places count from 1, by value."""

    raw: Estimate
    corrected: Estimate
    raw_place: int | None
    corrected_place: int | None

    @property
    def change(self) -> float | None:
        raw, corrected = self.raw.value, self.corrected.value
        return None if raw is None or corrected is None else corrected - raw

    @property
    def rise(self) -> int:
        """By how many places; 0 where it has none."""
        return (self.raw_place or 0) - (self.corrected_place or 0)


@dataclass(frozen=True, slots=True)
class WithOthers(OwnJson):
    """Pearson's r with the mean of the other raters, on so many ``items``; None where nobody else
    judged the same."""

    r: Estimate
    items: int | None = None

    def as_json(self) -> dict[str, Any]:
        return self.r.as_json() | ({} if self.items is None else {"items": self.items})

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> WithOthers:
        return cls(Estimate.from_json(document), document.get("items"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterEffect:
    """``rater``: a pseudonym; names are not in the answer. ``shares``: of each of the answer's
    ``steps``."""

    rater: str
    position: int
    ratings: int
    systems: int
    mean: float
    spread: float | None
    severity: Estimate
    agreement: WithOthers
    shares: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviations:
    """Standard deviations of what varies at random in a rating, in points of the scale."""

    rater: float
    item: float
    dialogue: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterEffects(OfCorpus):
    """``reason``: why nothing can be corrected, else "". ``groups``: of dialogues left out at a
    time. ``steps``: scores that there are, None where they are too many to stand one by one."""

    aspect: str
    level: str
    resamples: int
    seed: int
    method: str
    reason: str
    ratings: int = 0
    deviation: Deviations | None = None
    groups: int | None = None
    systems: tuple[CorrectedSystem, ...] = ()
    steps: tuple[float, ...] | None = None
    raters: tuple[RaterEffect, ...] = ()
