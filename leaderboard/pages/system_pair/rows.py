"""Which items of two systems somebody wants to see side by side, and in what order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import round_off
from leaderboard.answers.system_pair import MetricDifference, SystemPair
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

PEOPLE = ""
"""The measure that is people's mean score; others are named like the metric."""
ONLY = ("", "first", "second", "tie")
SORTS = ("", "first", "second", "place")
"""Farthest apart first; where the first system is better by most; the second; the corpus's order.
What has no difference comes last."""


@dataclass(frozen=True, slots=True)
class PairParams:
    by: str = PEOPLE
    only: str = ""
    dialogue: int | None = None
    sort: str = ""


@dataclass(frozen=True)
class PairRows:
    """Two systems made ready for items to be chosen from."""

    document: SystemPair

    @property
    def n(self) -> int:
        return len(self.document.rows.dialogue)

    @property
    def share_dialogues(self) -> bool:
        """Whether both systems answered something in one dialogue at least."""
        dialogue = np.array(self.document.rows.dialogue, dtype=np.int64)
        answered = np.array(self.document.rows.answered, dtype=bool).reshape(2, self.n)
        return bool(np.isin(dialogue[answered[0]], dialogue[answered[1]]).any())

    @property
    def measures(self) -> list[str]:
        """People first, where they rated anything that both answered; then metrics with scores of
        items."""
        return [*([PEOPLE] if self.document.human.items else []), *self.document.scores]

    def scores(self, by: str) -> FloatArray:
        """(2, n) of the first and the second system."""
        given = self.document.rows.human if by == PEOPLE else self.document.scores[by]
        return np.array(given, dtype=np.float64).reshape(2, self.n)

    def difference(self, by: str) -> FloatArray:
        """(n,) above 0 where the first system is better, also of a metric of which lower is better;
        NaN where one has no score."""
        first, second = self.scores(by)
        gap: FloatArray = round_off(first) - round_off(second)
        return gap if by == PEOPLE or self._metric(by).higher_is_better else -gap

    def chosen(self, params: PairParams) -> IntArray:
        """The rows that the wish wants, in its order; none of systems that answered different
        dialogues, where each would stand beside nothing."""
        if not self.share_dialogues:
            return np.empty(0, dtype=np.int64)
        difference = self.difference(params.by)
        preserved = self._of_kind(difference, params.only)
        if params.dialogue is not None:
            preserved &= np.array(self.document.rows.dialogue, dtype=np.int64) == params.dialogue
        rows = np.flatnonzero(preserved)
        if params.sort == "place":
            return rows
        key = {"first": -difference, "second": difference}.get(params.sort, -np.abs(difference))[
            rows
        ]
        return np.asarray(rows[np.argsort(np.where(np.isnan(key), np.inf, key), kind="stable")])

    def _metric(self, text: str) -> MetricDifference:
        return next(one for one in self.document.metrics if one.metric == text)

    def _of_kind(self, difference: FloatArray, only: str) -> NDArray[np.bool_]:
        if only == "first":
            return np.asarray(difference > 0)
        if only == "second":
            return np.asarray(difference < 0)
        return np.asarray(difference == 0) if only == "tie" else np.ones(self.n, dtype=bool)
