"""What is held against people: metrics that are computed here and metrics whose scores were handed
in, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from annotations.corpora.queries import NotFound
from annotations.corpora.rating_queries import SliceOf
from annotations.models import System
from leaderboard.answers.metrics import BASELINE
from workers.metrics.base import Level
from workers.metrics.common.configuration import Configuration


class ComparedMetric(Protocol):
    """What a leaderboard must know of a metric. ``Configuration``, ``Computed`` and ``HandedIn``
    say it."""

    @property
    def text(self) -> str:
        """Its name in tables, files, addresses and commands; no two have the same."""

    @property
    def levels(self) -> frozenset[Level]: ...

    @property
    def higher_is_better(self) -> bool: ...

    @property
    def value_range(self) -> tuple[float | None, float | None]: ...

    def signature(self, **facts: object) -> str: ...


SignatureFields = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Computed(Configuration):
    """A configuration whose runs a model made: its signature says which model it was."""

    made_with: tuple[SignatureFields, ...] = ()
    """Each kind of run once: its facts (model revision, precision)."""

    @classmethod
    def by(cls, configuration: Configuration, made_with: tuple[SignatureFields, ...]) -> Computed:
        return cls(configuration.metric, configuration.values, made_with)

    def signature(self, **facts: object) -> str:
        """Where runs differ in a fact, it holds every value: ``model_revision:1f+2e``."""
        names = dict.fromkeys(name for made in self.made_with for name, _ in made)
        return super().signature(**{name: "+".join(self._values(name)) for name in names}, **facts)

    @property
    def note(self) -> str:
        """What to know before the scores of different systems are compared; "" where all were made
        alike."""
        names = dict.fromkeys(name for made in self.made_with for name, _ in made)
        differ = {name: values for name in names if len(values := self._values(name)) > 1}
        if not differ:
            return ""
        if revisions := differ.get("model_revision"):
            return (
                f"made with {len(revisions)} different revisions of the model: "
                f"{', '.join(revisions)}. Scores of systems that different models scored do not "
                "compare"
            )
        differences = "; ".join(f"{name} {', '.join(values)}" for name, values in differ.items())
        return f"the runs were not all made alike: {differences}"

    def _values(self, name: str) -> list[str]:
        return sorted({value for made in self.made_with for known, value in made if known == name})


Finest = Literal["turn", "dialogue", "system"]


@dataclass(frozen=True)
class MetricScores:
    """Scores as arrays, NaN where one is undefined, not computed or not handed in.

    ``turn``: metrics × systems × turns, ``system``: metrics × systems. ``dialogue``: metrics ×
    systems × dialogues, filled for metrics whose scores are of whole dialogues; None where there
    are no such metrics.
    """

    configurations: tuple[ComparedMetric, ...]
    systems: tuple[System, ...]
    turn: NDArray[np.float64]
    system: NDArray[np.float64]
    runs_done: NDArray[np.int64]
    """How many of the systems each metric has been computed for."""
    dialogue: NDArray[np.float64] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(configuration.text for configuration in self.configurations)

    def finest(self, row: int) -> Finest:
        """What the metric scores: its scores of coarser levels are means of these."""
        levels = self.configurations[row].levels
        if "turn" in levels:
            return "turn"
        return "dialogue" if "dialogue" in levels else "system"

    def rows_of(self, finest: Finest) -> list[int]:
        return [row for row in range(len(self.configurations)) if self.finest(row) == finest]

    def select(self, rows: Sequence[int]) -> MetricScores:
        return MetricScores(
            tuple(self.configurations[row] for row in rows),
            self.systems,
            self.turn[list(rows)],
            self.system[list(rows)],
            self.runs_done[list(rows)],
            None if self.dialogue is None else self.dialogue[list(rows)],
        )

    def within(self, part: SliceOf) -> MetricScores:
        """Those of a slice: a system's score is its mean there. What scores systems alone has
        compared all their responses, and has no score of a part of them."""
        turn = self.turn[:, :, part.turns]
        dialogue = None if self.dialogue is None else self.dialogue[:, :, part.dialogues]
        system = np.full_like(self.system, np.nan)
        system[self.rows_of("turn")] = _means(turn[self.rows_of("turn")])
        if dialogue is not None:
            system[self.rows_of("dialogue")] = _means(dialogue[self.rows_of("dialogue")])
        return replace(self, turn=turn, dialogue=dialogue, system=system)

    def followed_by(self, others: MetricScores) -> MetricScores:
        """The metrics of both, of the same systems."""
        if not others.configurations:
            return self
        dialogue = None
        known = self.dialogue if self.dialogue is not None else others.dialogue
        if known is not None:
            of_both = [
                np.full((len(one.configurations), *known.shape[1:]), np.nan)
                if one.dialogue is None
                else one.dialogue
                for one in (self, others)
            ]
            dialogue = np.concatenate(of_both)
        return MetricScores(
            self.configurations + others.configurations,
            self.systems,
            np.concatenate((self.turn, others.turn)),
            np.concatenate((self.system, others.system)),
            np.concatenate((self.runs_done, others.runs_done)),
            dialogue,
        )


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the last axis, of what there is; NaN where there is nothing."""
    there = ~np.isnan(scores)
    count = there.sum(axis=-1)
    total = np.where(there, scores, 0.0).sum(axis=-1)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def chosen_metrics(
    scores: MetricScores, wanted: Sequence[Configuration | str] | None
) -> MetricScores:
    """Those asked for, in that order; all but the baseline where none is asked for. Raises NotFound
    for one that is not there."""
    if not wanted:
        texts = scores.texts
        if BASELINE not in texts:
            return scores
        return scores.select([row for row, text in enumerate(texts) if text != BASELINE])
    place = {text: row for row, text in enumerate(scores.texts)}
    texts = [one if isinstance(one, str) else one.text for one in wanted]
    missing = [text for text in texts if text not in place]
    if missing:
        known = ", ".join(place) or "none yet"
        raise NotFound(
            f"not computed: {', '.join(missing)}. Computed: {known}. Compute more with: manage.py "
            "score"
        )
    return scores.select([place[text] for text in texts])
