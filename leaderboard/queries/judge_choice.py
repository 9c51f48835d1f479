"""Which of a judge's rows somebody wants to see, and in what order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.queries.judge_items import sample_sd
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

SIDES = ("", "above", "below", "apart")
"""Any; the judge above people by more than ``by``, below by more than ``by``, either."""
ONLY = ("", "disagree", "undefined", "unrated", "injections", "remarks")
SORTS = (
    "",
    "difference",
    "-difference",
    "apart",
    "disagreement",
    "score",
    "-score",
    "human",
    "-human",
)
"""The corpus's order; the judge lowest under people first, highest above them first, farthest apart
first; samples farthest apart first; by score. What has no value comes last."""
STEP = 0.5


@dataclass(frozen=True, slots=True)
class Params:
    side: str = ""
    by: float = 1.0
    only: str = ""
    system: int | None = None
    """The system's position."""
    dialogue: int | None = None
    turn: int | None = None
    sort: str = ""

    @property
    def is_empty(self) -> bool:
        return self == Params(by=self.by, sort=self.sort)


@dataclass(frozen=True)
class JudgedRows:
    """A document of ``judged`` made ready to be chosen from."""

    document: Mapping[str, Any]
    score: FloatArray
    human: FloatArray
    difference: FloatArray
    spread: FloatArray
    """Standard deviation over samples."""
    system: IntArray
    dialogue: IntArray
    turn: IntArray

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> JudgedRows:
        rows = document["rows"]
        return cls(
            document,
            *(np.array(rows[name], dtype=np.float64) for name in ("score", "human", "difference")),
            np.array([sample_sd(samples) for samples in rows["samples"]], dtype=np.float64),
            *(np.array(rows[name], dtype=np.int64) for name in ("system", "dialogue", "turn")),
        )

    @property
    def n(self) -> int:
        return len(self.score)

    def marked(self, name: str) -> np.ndarray:
        """(n,) whether a row has an entry under ``undefined``, ``remarks`` or ``injections``."""
        found = np.zeros(self.n, dtype=bool)
        found[[int(row) for row in self.document[name]]] = True
        return found

    def chosen(self, params: Params) -> IntArray:
        """The rows that the wish wants, in its order."""
        retained = np.ones(self.n, dtype=bool)
        for name, value in (
            ("system", params.system),
            ("dialogue", params.dialogue),
            ("turn", params.turn),
        ):
            if value is not None:
                retained &= getattr(self, name) == value
        retained &= self._of_kind(params.only)
        if params.side:
            retained &= self._by_speaker(params.side, params.by)
        rows = np.flatnonzero(retained)
        key = self._sort_key(params.sort)
        if key is None:
            return rows
        order = np.argsort(np.where(np.isnan(key[rows]), np.inf, key[rows]), kind="stable")
        return np.asarray(rows[order])

    def _by_speaker(self, side: str, by: float) -> np.ndarray:
        """A difference that is not there lies on no side: comparisons with NaN are false."""
        if side == "above":
            return np.asarray(self.difference > by)
        return np.asarray(
            self.difference < -by if side == "below" else np.abs(self.difference) > by
        )

    def _of_kind(self, only: str) -> np.ndarray:
        if only == "disagree":
            return np.asarray(self.spread > 0)
        if only == "undefined":
            return np.isnan(self.score)
        if only == "unrated":
            return np.isnan(self.human)
        return (
            self.marked(only) if only in ("injections", "remarks") else np.ones(self.n, dtype=bool)
        )

    def _sort_key(self, sort: str) -> FloatArray | None:
        """Ascending in it is the order wished for."""
        name = sort.lstrip("-")
        if name == "apart":
            return -np.abs(self.difference)
        if name == "disagreement":
            return -self.spread
        if name not in ("difference", "score", "human"):
            return None
        values: FloatArray = getattr(self, name)
        return -values if sort.startswith("-") else values
