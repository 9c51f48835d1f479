"""Evaluation sets cut from a corpus by a score, as CMN's standard and diverse sets are (Zhao et
al., 2023, section 4.3), and scores put on one scale, as in the papers' case studies. No Django
here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from annotations.formats.subset import Place

FloatArray = NDArray[np.float64]


class TooFewError(Exception):
    """Fewer responses than asked for fulfil the conditions."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Which responses of a corpus make the set, by their scores.

    Attributes:
        at_least: lowest score.
        below: scores stay under it.
        highest: of these, so many with the highest scores; 0: all.
        draw: of these, so many drawn by ``seed``; 0: all.
        balanced: as many of every system, or one more.
    """

    at_least: float | None = None
    below: float | None = None
    highest: int = 0
    draw: int = 0
    balanced: bool = False
    seed: int = 0

    @property
    def text(self) -> str:
        """The conditions, in the order in which they hold."""
        parts = [
            "" if self.at_least is None else f"at least {self.at_least:g}",
            "" if self.below is None else f"below {self.below:g}",
            f"the {self.highest} highest" if self.highest else "",
            f"{self.draw} drawn by seed {self.seed}" if self.draw else "",
            "as many of every system" if self.balanced else "",
        ]
        return ", ".join(filter(None, parts))

    def of(self, scores: Mapping[Place, float]) -> list[Place]:
        """The places of the set, in the order of ``scores``; of equal scores the earlier ones.

        Raises:
            TooFewError: fewer fulfil the conditions.
        """
        places = [
            place
            for place, score in scores.items()
            if (self.at_least is None or score >= self.at_least)
            and (self.below is None or score < self.below)
        ]
        if self.highest:
            _refuse_fewer(len(places), self.highest)
            places = sorted(places, key=lambda place: -scores[place])[: self.highest]
        drawn = set(self._drawn(places) if self.draw else places)
        return [place for place in scores if place in drawn]

    def _drawn(self, places: list[Place]) -> list[Place]:
        random = Random(self.seed)
        if not self.balanced:
            _refuse_fewer(len(places), self.draw)
            return random.sample(places, self.draw)
        by_system: dict[str, list[Place]] = {}
        for place in places:
            by_system.setdefault(place[2], []).append(place)
        each, more = divmod(self.draw, max(1, len(by_system)))
        drawn: list[Place] = []
        for number, (system, of_system) in enumerate(by_system.items()):
            wanted = each + (number < more)
            _refuse_fewer(len(of_system), wanted, f" of {system}")
            drawn += random.sample(of_system, wanted)
        _refuse_fewer(len(drawn), self.draw)
        return drawn


def _refuse_fewer(found: int, wanted: int, whose: str = "") -> None:
    if found < wanted:
        raise TooFewError(f"{found} responses{whose} fulfil the conditions; {wanted} are asked for")


@dataclass(frozen=True, slots=True)
class Scaled:
    """Scores among all of their kind, in arrays of their shape; NaN where there is no score.

    Attributes:
        shares: 0 for the worst of all, 1 for the best, linear between; NaN where all are equal.
        rank_shares: ranks (means over ties), the best one last, divided by their number.
    """

    shares: FloatArray
    rank_shares: FloatArray


def scaled(scores: FloatArray, *, higher_is_better: bool = True) -> Scaled:
    """All scores between 0 and 1, with their ranks.

    Args:
        scores: in any shape; NaN where there is none.
        higher_is_better: False for a distance.
    """
    there = np.isfinite(scores)
    values = scores[there] if higher_is_better else -scores[there]
    shares, rank_shares = np.full(scores.shape, np.nan), np.full(scores.shape, np.nan)
    if not len(values):
        return Scaled(shares, rank_shares)
    if spread := float(np.ptp(values)):
        shares[there] = (values - values.min()) / spread
    ordered = np.sort(values)
    ranks = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1
    rank_shares[there] = ranks / 2 / len(values)
    return Scaled(shares, rank_shares)


@dataclass(frozen=True, slots=True)
class RatedLower:
    """A system's dialogue with the mean of its turns' human scores and its own."""

    dialogue: str
    system: str
    turns: float
    whole: float

    @property
    def difference(self) -> float:
        return self.turns - self.whole


def rated_lower_as_a_whole(
    turns: Mapping[Place, float], dialogues: Mapping[Place, float]
) -> list[RatedLower]:
    """Dialogues that people rate lower than their turns (ComperDial, Wakaki et al., 2024, A.8), the
    largest difference first.

    Args:
        turns: human scores by dialogue, turn and system.
        dialogues: human scores of whole dialogues; their turn is −1.
    """
    of_dialogue: dict[tuple[str, str], list[float]] = {}
    for (dialogue, _, system), score in turns.items():
        of_dialogue.setdefault((dialogue, system), []).append(score)
    found = [
        RatedLower(dialogue, system, float(np.mean(of_turns)), whole)
        for (dialogue, _, system), whole in dialogues.items()
        if (of_turns := of_dialogue.get((dialogue, system)))
    ]
    return sorted((one for one in found if one.difference > 0), key=lambda one: -one.difference)
