"""What is stored of judges: their scores beside people's, and whether they are biased."""

from __future__ import annotations

from dataclasses import dataclass

from common.estimates import Estimate
from leaderboard.statistics.judges.standardised_gaps import AtTurn
from leaderboard.statistics.judges.verbosity import RankWithCovariate

Number = int | float
Scores = tuple[Number | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedColumns:
    """One value a row. ``system``, ``dialogue``: positions; ``turn``: the number, −1 of a dialogue;
    ``place``: index in the runs' lists; ``samples``: None where one was drawn."""

    system: tuple[int, ...]
    dialogue: tuple[int, ...]
    turn: tuple[int, ...]
    place: tuple[int, ...]
    score: Scores
    human: Scores
    human_sd: Scores
    raters: tuple[int, ...]
    difference: Scores
    samples: tuple[Scores | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """``systems``: position and name of those whose run is done. ``undefined``, ``remarks``,
    ``injections``: by the row's number."""

    level: str
    unit: str
    systems: tuple[tuple[int, str], ...]
    rows: JudgedColumns
    undefined: dict[str, str]
    remarks: dict[str, str]
    injections: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresByLength(RankWithCovariate):
    mean_words: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresByTurn(RankWithCovariate):
    """``reason``: why there are no ``turns``, else ""."""

    turns: tuple[AtTurn, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """Mean gaps over people's scores, in standard deviations. Systems with their families;
    ``unknown``: of how many systems the family is not known."""

    model: str
    family: str
    own: Estimate
    others: Estimate
    difference: Estimate
    own_systems: tuple[tuple[str, str], ...]
    other_systems: tuple[tuple[str, str], ...]
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedResponse:
    """``turn`` is -1 of a whole dialogue. ``kept``, ``removed``: the score with ``texts`` and
    without."""

    system: int
    name: str
    dialogue: int
    turn: int
    texts: tuple[str, ...]
    kept: float | None
    removed: float | None

    @property
    def change(self) -> float | None:
        return None if self.kept is None or self.removed is None else self.kept - self.removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Injections:
    flagged: int
    compared: int
    raised: int
    mean_change: float | None
    rows: tuple[InjectedResponse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBias:
    """Texts of responses are not in it: they are read when shown."""

    level: str
    n: int
    scored: int
    signature: str
    resamples: int
    seed: int
    verbosity: ScoresByLength
    position: ScoresByTurn
    self_preference: OwnFamily
    injections: Injections
