"""What is stored of two systems side by side."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.answers import LeftOut, OfCorpus, Submission, SystemName
from leaderboard.statistics.design import Kind
from leaderboard.statistics.significance.system_differences import SystemDifference

Scores = tuple[float | None, ...]
OfBoth = tuple[Scores, Scores]
"""Of the first system, of the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference(SystemDifference):
    """``same_side``: of the ``sides`` items where people and the metric both prefer one system, the
    share in which it is the same one."""

    metric: str
    signature: str
    higher_is_better: bool
    same_side: float | None
    sides: int
    submitted: LeftOut[Submission | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairColumns:
    """One value for every item that either system answered. ``dialogue``: its position; ``turn``:
    the number, −1 of a dialogue; the others of the first system and of the second."""

    dialogue: tuple[int, ...]
    turn: tuple[int, ...]
    answered: tuple[tuple[bool, ...], tuple[bool, ...]]
    human: OfBoth
    raters: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPair(OfCorpus):
    """``human`` and each of ``metrics`` sum up what both systems have, or unpaired what either has;
    see ``compare_systems``. ``design``: of the two. ``scores``: of each metric that has any, by
    item."""

    aspect: str
    level: str
    levels: tuple[str, ...]
    design: Kind
    permutations: int
    seed: int
    systems: tuple[SystemName, ...]
    human: SystemDifference
    metrics: tuple[MetricDifference, ...]
    rows: PairColumns
    scores: dict[str, OfBoth]

    @property
    def names(self) -> tuple[str, str]:
        first, second = self.systems
        return first.system, second.system
