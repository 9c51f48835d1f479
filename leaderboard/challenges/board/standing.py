"""Where entries stand: each metric's mean with its interval over the dialogues that count, and the
ranks they allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import round_off
from common.estimates import Estimate, OwnJson
from leaderboard.challenges.board.split import Part
from leaderboard.statistics.bounded import UNBOUNDED, Bounds
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.ranking.system_ranking import SystemRank, rank_systems

FloatArray = NDArray[np.float64]
ONE_DIALOGUE = "an interval over dialogues needs at least 2 scored dialogues"
NO_INTERVAL = "no interval: "


@dataclass(frozen=True, slots=True)
class BoardMetric:
    higher_is_better: bool = True
    exists_below_system_level: bool = True
    of_dialogues: bool = False
    """Whether it scores whole dialogues: each score stands at the dialogue's first turn."""
    bounds: Bounds = UNBOUNDED

    @property
    def signed_bounds(self) -> Bounds:
        """Of the scores turned round where lower is better."""
        if self.higher_is_better:
            return self.bounds
        least, most = self.bounds
        return None if most is None else -most, None if least is None else -least


@dataclass(frozen=True)
class BoardScores:
    """What the entries got. ``turn``: metrics × entries × turns, NaN where undefined; ``system``:
    metrics × entries; ``dialogue``: (turns,) the dialogue of each turn, a place in the corpus's
    order. ``why``: the reason of an undefined score, by (metric, entry), where one is known."""

    metrics: Sequence[BoardMetric]
    turn: FloatArray
    system: FloatArray
    dialogue: NDArray[np.int64]
    why: Mapping[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class Score(OwnJson):
    """An entry's mean on one metric. ``scored`` of ``turns`` have a score; both 0 where a metric
    has none for turns. They count dialogues where that is what the metric scores."""

    mean: Estimate
    scored: int = 0
    turns: int = 0
    of_dialogues: bool = False

    def as_json(self) -> dict[str, Any]:
        document = self.mean.as_json()
        if self.turns:
            document |= {"scored": self.scored, "turns": self.turns}
            document |= {"unit": "dialogues"} if self.of_dialogues else {}
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Score:
        """What ``as_json`` wrote."""
        return cls(
            Estimate.from_json(document),
            document.get("scored", 0),
            document.get("turns", 0),
            document.get("unit") == "dialogues",
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Rank, range and band as people would be ranked; ``order`` is the place by the plain mean. All
    None, with the reason, where an entry is not ranked; ``order`` may stand alone where there is no
    interval."""

    rank: int | None = None
    worst_rank: int | None = None
    band: int | None = None
    order: int | None = None
    reason: str = ""


def scores_of(board: BoardScores, part: Part) -> list[list[Score]]:
    """Metrics × entries, over the dialogues of the part. Intervals leave out one of these at a
    time."""
    return [
        _turn_level(board, number, part)
        if metric.exists_below_system_level
        else _system_level(board, number, part)
        for number, metric in enumerate(board.metrics)
    ]


def places_of(
    board: BoardScores,
    ranking: int,
    scores: Sequence[Score],
    unranked: Mapping[int, str],
    part: Part,
) -> list[Place]:
    """The entries' places on one metric. ``scores`` are theirs on it; ``unranked``: entry → why it
    does not compete.

    Rank: 1 + the number of competing entries whose interval lies wholly on the better side of this
    one's; order: 1 + the number with a better mean, so that equal means share a place.
    """
    competing = [
        number
        for number, score in enumerate(scores)
        if number not in unranked and score.mean.is_defined
    ]
    metric = board.metrics[ranking]
    ranks: dict[int, SystemRank] = {}
    if competing and metric.exists_below_system_level:
        signed = _placed(
            board.turn[ranking, competing] * (1 if metric.higher_is_better else -1), board, part
        )
        ranks = dict(
            zip(
                competing,
                rank_systems(signed, len(competing), bounds=metric.signed_bounds),
                strict=True,
            )
        )
    means = round_off(
        np.array([scores[number].mean.value for number in competing], dtype=np.float64)
    )
    return [
        _place(number, scores[number], ranks.get(number), unranked, means, metric)
        for number in range(len(scores))
    ]


def _place(
    number: int,
    score: Score,
    rank: SystemRank | None,
    unranked: Mapping[int, str],
    means: FloatArray,
    metric: BoardMetric,
) -> Place:
    if number in unranked:
        return Place(reason=unranked[number])
    if score.mean.value is None:
        return Place(reason=score.mean.reason)
    own = float(round_off(np.array([score.mean.value]))[0])
    better = means > own if metric.higher_is_better else means < own
    order = 1 + int(better.sum())
    if rank is None or rank.rank is None:
        return Place(order=order, reason=NO_INTERVAL + score.mean.reason)
    return Place(rank.rank, rank.worst_rank, rank.band, order)


def _turn_level(board: BoardScores, metric: int, part: Part) -> list[Score]:
    entries = board.turn.shape[1]
    if part.reason:
        return [Score(Estimate.undefined(part.reason))] * entries
    placed = _placed(board.turn[metric], board, part)
    of_dialogues = board.metrics[metric].of_dialogues
    places = np.unique(board.dialogue) if of_dialogues else board.dialogue
    turns = int(part.counted[places].sum())
    return [
        Score(_estimate(board, metric, number, rank), rank.items, turns, of_dialogues)
        for number, rank in enumerate(
            rank_systems(placed, entries, bounds=board.metrics[metric].bounds)
        )
    ]


def _estimate(board: BoardScores, metric: int, entry: int, rank: SystemRank) -> Estimate:
    if rank.dialogues == 0:
        return Estimate.undefined(
            board.why.get((metric, entry), "no turn of these dialogues has a score")
        )
    if rank.dialogues == 1:
        return Estimate(value=rank.mean.value, reason=ONE_DIALOGUE)
    return rank.mean


def _system_level(board: BoardScores, metric: int, part: Part) -> list[Score]:
    entries = board.system.shape[1]
    if part.reason:
        return [Score(Estimate.undefined(part.reason))] * entries
    if not part.is_everything:
        whole = "the metric scores whole systems: it has no score on a part of the dialogues"
        return [Score(Estimate.undefined(whole))] * entries
    return [
        Score(
            Estimate.undefined(
                board.why.get((metric, number), "the metric has no score for this system")
            )
        )
        if np.isnan(value)
        else Score(
            Estimate(value=float(value), reason="the metric has no scores below system level")
        )
        for number, value in enumerate(board.system[metric])
    ]


def _placed(turn: FloatArray, board: BoardScores, part: Part) -> PlacedScores:
    """Entries × turns as a list of scores with their places; the turns that the part does not count
    are left out."""
    counted = part.counted[board.dialogue]
    entries, turns = turn.shape[0], int(counted.sum())
    return PlacedScores(
        turn[:, counted].reshape(1, entries * turns),
        np.repeat(np.arange(entries), turns),
        np.tile(board.dialogue[counted], entries),
    )
