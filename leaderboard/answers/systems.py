"""What is stored of systems: how they stand, where metrics mislead about them, what would tell
neighbours apart, and each one's profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from common.estimates import Estimate, Undefined
from leaderboard.answers import LeftOut, OfCorpus, Submission, SystemName, WithIntervals
from leaderboard.statistics.design import Kind
from leaderboard.statistics.significance.power import Needed

# --- how they stand -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringMetric:
    metric: str
    signature: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    submitted: LeftOut[Submission | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem(SystemName):
    """``human``: the mean rating; of so many ``items`` in so many ``dialogues``. ``rank`` to
    ``worst_rank``: places that the intervals leave open; those of one ``band`` are not
    significantly different. ``scores``: in the order of the metrics."""

    human: Estimate
    items: int
    dialogues: int
    rank: int | None
    worst_rank: int | None
    band: int | None
    scores: tuple[float | Undefined, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemStanding(WithIntervals):
    """``handed_in``: by position, when a system came that was handed in (ISO 8601).
    ``data_slice``: KEY:VALUE; "" for all conversations."""

    aspect: str
    design: Kind
    metrics: tuple[ScoringMetric, ...]
    systems: tuple[RankedSystem, ...]
    systems_chosen: LeftOut[str] = ""
    data_slice: LeftOut[str] = ""
    handed_in: dict[int, str] = field(default_factory=dict)


# --- where metrics mislead ------------------------------------------------------------------------


class PlacedSystem(NamedTuple):
    """People's place of a system, from the best that is possible to the worst, and the metric's;
    see ``RankDifferences``."""

    position: int
    place: int
    best: int
    worst: int
    metric_place: int
    metric_best: int
    metric_worst: int
    difference: int
    beyond: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MisleadingMetric:
    """``rows``: systems that people and the metric scored, without the gold answers where the
    metric would hold them against themselves."""

    metric: str
    higher_is_better: bool
    placed: int
    misled: int
    worst: int
    rows: tuple[PlacedSystem, ...]

    @property
    def differences(self) -> int:
        """Of the places by the metric and by people, summed, without regard to intervals."""
        return sum(abs(row.difference) for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MisleadingMetrics(WithIntervals):
    aspect: str
    systems_chosen: str
    data_slice: LeftOut[str] = ""
    systems: tuple[SystemName, ...]
    metrics: tuple[MisleadingMetric, ...]


# --- ratings needed to separate neighbours --------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours(Needed):
    """Numbers at or below today's say that the data are enough already."""

    better: str
    worse: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Separating(OfCorpus):
    """Neighbours by mean human score, best first."""

    aspect: str
    systems_chosen: str
    data_slice: LeftOut[str] = ""
    power: float
    level: float
    method: str
    pairs: tuple[Neighbours, ...]
    reason: LeftOut[str] = ""


# --- profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectMeans:
    """``systems``: mean ratings, in the order of the answer's."""

    aspect: str
    level: str
    scale: tuple[float, float] | None
    systems: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile(WithIntervals):
    """``aspects``: in the order of the file, without those that nobody rated."""

    systems_chosen: str
    data_slice: LeftOut[str] = ""
    systems: tuple[SystemName, ...]
    aspects: tuple[AspectMeans, ...]
