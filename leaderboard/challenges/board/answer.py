"""What is stored of a round's leaderboard, and what one system got. No Django here.

It holds what only some may read (``queries.board.round_board`` chooses)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer

from leaderboard.answers import OfCorpus
from leaderboard.challenges.board.split import PartName
from leaderboard.challenges.board.standing import Score

Moment = Annotated[datetime, PlainSerializer(datetime.isoformat)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    """``ranks``: whether the metric decides the rank. ``private``: only the private leaderboard has
    it. ``warning``: why it can read little of the texts, else "". ``signature``: "" of a metric
    that is not installed here any more."""

    metric: str
    ranks: bool
    private: bool
    warning: str
    signature: str = ""
    higher_is_better: bool = True
    range: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """``submission`` and ``team_id`` are public ids; they, the ``team``, its ``track``, how many
    ``submissions`` it has scored and ``received_at`` are None of a baseline of the corpus.
    ``system``: its position. ``rank`` to ``reason``: see ``standing.Place``. ``scores``: in the
    order of the columns."""

    submission: str | None
    team: str | None
    team_id: str | None
    name: str
    system: int
    track: str | None
    is_baseline: bool
    disqualified: str
    submissions: int | None
    received_at: Moment | None
    rank: int | None
    worst_rank: int | None
    band: int | None
    order: int | None
    reason: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSplit:
    """Numbers of dialogues that each leaderboard counts. ``seed``: None for viewers who may not
    know yet which are public."""

    seed: int | None
    public_dialogues: int
    private_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Improvement:
    at: Moment
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamImprovements:
    """The submissions that improved the team's best score on the public leaderboard."""

    team_id: str
    points: tuple[Improvement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardAnswer(OfCorpus):
    """``dialogues`` with so many ``turns`` count, of those in the corpus; ``reason``: why none,
    else "". ``no_ranking``: why nobody has a rank, though some compete. ``entries``: the best mean
    first. ``history``: of the public leaderboard."""

    dialogues: int
    turns: int
    dialogues_in_corpus: int
    reason: str
    no_ranking: str
    split: BoardSplit
    ci: str
    metrics: tuple[BoardColumn, ...]
    entries: tuple[BoardEntry, ...]
    history: tuple[TeamImprovements, ...]

    @property
    def ranking(self) -> int | None:
        """The index of the metric that decides the rank."""
        return next((number for number, one in enumerate(self.metrics) if one.ranks), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScores:
    """What one system got on a part of the round, whether or not it is on the leaderboard."""

    name: PartName
    dialogues: int
    reason: str
    metrics: tuple[BoardColumn, ...]
    scores: tuple[Score, ...]

    def by_metric(self) -> Iterator[tuple[BoardColumn, Score]]:
        return zip(self.metrics, self.scores, strict=True)
