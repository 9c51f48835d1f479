"""What is stored of two metrics against each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from common.estimates import Estimate
from leaderboard.answers import LeftOut, NoneLeftOut, OfCorpus
from leaderboard.answers.metrics import NamedMetric
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.design import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceOfPair:
    """Each metric's coefficient, in its own direction, and first − second. ``tests``: by name,
    estimates whose value is p; none where the difference is undefined."""

    first: Estimate
    second: Estimate
    difference: Estimate
    tests: dict[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLevel:
    """Of the ``n`` responses (dialogues, systems) that both metrics and people scored, so
    coefficients may differ a little from the leaderboard's. ``reason``: why there are no
    ``coefficients``, else "". ``groups``: how many systems and dialogues there are to swap.
    ``between``: Pearson's r of the two metrics. ``advised``: the test that keeps its level, with
    its ``method`` in words and the ``population`` that it speaks of."""

    n: int = 0
    reason: str = ""
    coefficients: dict[str, DifferenceOfPair] = field(default_factory=dict)
    groups: LeftOut[dict[str, int]] = field(default_factory=dict)
    between: NoneLeftOut[Estimate | None] = None
    advised: LeftOut[str] = ""
    method: LeftOut[str] = ""
    population: LeftOut[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Where it is, by the keys of rows (texts are read when they are shown), and its scores; see
    ``driving_items.DrivingItem``."""

    system: int
    dialogue: int | None
    turn: int | None
    human: float
    first: float
    second: float
    human_z: float
    first_z: float
    second_z: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drivers:
    """What makes the difference of Pearson's r, at the finest level that has anything; see
    ``driving_items.DrivingItems``. ``reason``: why there is nothing, else ""."""

    level: CeilingLevel
    reason: str = ""
    n: int = 0
    difference: NoneLeftOut[float | None] = None
    first_nearer_in: NoneLeftOut[int | None] = None
    second_nearer_in: NoneLeftOut[int | None] = None
    first: tuple[Driver, ...] = ()
    second: tuple[Driver, ...] = ()

    def of(self, side: str) -> tuple[Driver, ...]:
        return self.first if side == "first" else self.second


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPair(OfCorpus):
    aspect: str
    systems_chosen: str
    design: Kind
    metrics: tuple[NamedMetric, ...]
    permutations: int
    resamples: int
    seed: int
    levels: dict[CeilingLevel, ComparedLevel]
    drivers: Drivers

    @property
    def names(self) -> tuple[str, str]:
        first, second = self.metrics
        return first.metric, second.metric
