"""Made-up corpora of any shape whose true values are known, for simulations of intervals, tests and
ranks.

A rater's score of a response is round(3 + a_s + b_d + c_sd + u_sdt + severity_k + noise), cut to
1…5: effects of the system s, the dialogue d, both together, the turn t and the rater k, all normal.
The systems and the raters of a world stay the same; its dialogues are drawn anew for every corpus,
as the intervals over dialogues take it. A metric of strength λ is λ · q + √(1 − λ²) · q′, with q =
a + b + c + u and q′ of the same make and independent of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CUTS = np.array([1.5, 2.5, 3.5, 4.5])
"""Between whole scores: a score is 1 + the number of cuts that the rater's latent value lies
above."""


@dataclass(frozen=True)
class Spreads:
    """Standard deviations of the effects. Those of ComperDial's shape give single ratings of sd
    about 1.1."""

    system: float = 0.6
    dialogue: float = 0.25
    system_dialogue: float = 0.3
    turn: float = 0.5
    severity: float = 0.3
    noise: float = 0.7


@dataclass(frozen=True)
class MadeCorpus:
    """``human``: (n,) the mean over raters; ``ratings``: (raters, n); ``metrics``: (metrics, n).
    ``system`` and ``dialogue``: (n,) numbers from 0, all responses of system 0 first. Shapes as
    ``PlacedScores`` takes them."""

    human: FloatArray
    ratings: FloatArray
    metrics: FloatArray
    system: IntArray
    dialogue: IntArray
    systems: int
    dialogues: int
    turns: int

    @cached_property
    def human_means(self) -> FloatArray:
        """(systems,)"""
        return self.human.reshape(self.systems, -1).mean(axis=1)

    @cached_property
    def metric_means(self) -> FloatArray:
        """(metrics, systems)"""
        return self.metrics.reshape(len(self.metrics), self.systems, -1).mean(axis=2)


@dataclass(frozen=True)
class World:
    """Systems, raters and metrics that stay; ``corpus`` draws dialogues."""

    systems: int
    raters: int
    strengths: tuple[float, ...]
    spreads: Spreads
    quality: FloatArray = field(repr=False)
    """(systems,) a_s."""
    other_quality: FloatArray = field(repr=False)
    """(metrics, systems) the part of the metric's opinion of a system that is not of its
    quality."""
    severity: FloatArray = field(repr=False)
    """(raters,)"""

    @classmethod
    def made(
        cls,
        seed: int,
        systems: int = 99,
        raters: int = 3,
        strengths: tuple[float, ...] = (0.5, 0.8),
        spreads: Spreads | None = None,
    ) -> World:
        random, spreads = np.random.default_rng((seed, 1)), spreads or Spreads()
        return cls(
            systems,
            raters,
            strengths,
            spreads,
            quality=random.normal(scale=spreads.system, size=systems),
            other_quality=random.normal(scale=spreads.system, size=(len(strengths), systems)),
            severity=random.normal(scale=spreads.severity, size=raters),
        )

    def corpus(self, seed: int, dialogues: int = 15, turns: int = 7) -> MadeCorpus:
        random = np.random.default_rng((seed, 2))
        quality = self.quality[:, None, None] + self._rest(random, (), dialogues, turns)
        noise = (
            random.standard_normal((self.raters, *quality.shape), dtype=np.float32)
            * self.spreads.noise
        )
        latent = 3 + quality + self.severity[:, None, None, None] + noise
        ratings = np.clip(np.rint(latent), 1, 5).reshape(self.raters, -1)
        strength = np.array(self.strengths)[:, None, None, None]
        others = self.other_quality[:, :, None, None] + self._rest(
            random, (len(strength),), dialogues, turns
        )
        metrics = (strength * quality + np.sqrt(1 - strength**2) * others).reshape(
            len(strength), -1
        )
        return MadeCorpus(
            human=ratings.mean(axis=0),
            ratings=ratings,
            metrics=metrics,
            system=np.repeat(np.arange(self.systems), dialogues * turns),
            dialogue=np.tile(np.repeat(np.arange(dialogues), turns), self.systems),
            systems=self.systems,
            dialogues=dialogues,
            turns=turns,
        )

    def _rest(
        self, random: np.random.Generator, lead: tuple[int, ...], dialogues: int, turns: int
    ) -> FloatArray:
        """(…, systems, dialogues, turns): b_d + c_sd + u_sdt."""

        def drawn(scale: float, *shape: int) -> FloatArray:
            return np.asarray(random.standard_normal((*lead, *shape), dtype=np.float32) * scale)

        return (
            drawn(self.spreads.dialogue, 1, dialogues, 1)
            + drawn(self.spreads.system_dialogue, self.systems, dialogues, 1)
            + drawn(self.spreads.turn, self.systems, dialogues, turns)
        )

    @cached_property
    def true_human_means(self) -> FloatArray:
        """(systems,) the mean human score of endless dialogues, exact: Σ over cuts of P(latent >
        cut), plus 1."""
        spreads = self.spreads
        variance = (
            spreads.dialogue**2 + spreads.system_dialogue**2 + spreads.turn**2 + spreads.noise**2
        )
        centre = 3 + self.quality[:, None] + self.severity
        above = stats.norm.sf(CUTS, loc=centre[:, :, None], scale=np.sqrt(variance))
        return np.asarray(1 + above.sum(axis=2).mean(axis=1))

    @cached_property
    def true_metric_means(self) -> FloatArray:
        """(metrics, systems) the metric's mean over endless dialogues, exact."""
        strength = np.array(self.strengths)[:, None]
        return np.asarray(strength * self.quality + np.sqrt(1 - strength**2) * self.other_quality)

    def true_system_correlations(self, coefficient: str) -> FloatArray:
        """(metrics,) the coefficient over systems in the limit of many dialogues, exact."""
        call = {
            "pearson": stats.pearsonr,
            "spearman": stats.spearmanr,
            "kendall": stats.kendalltau,
        }[coefficient]
        return np.array([call(self.true_human_means, one)[0] for one in self.true_metric_means])

    def large_corpus(
        self, turns: int = 7, responses: int = 1_000_000, seed: int = 2**31
    ) -> MadeCorpus:
        """So many dialogues that coefficients of its responses are true to the third decimal: the
        population."""
        return self.corpus(seed, max(responses // (self.systems * turns), 2), turns)


def made_corpus(
    seed: int,
    dialogues: int = 15,
    systems: int = 99,
    turns: int = 7,
    raters: int = 3,
    strengths: tuple[float, ...] = (0.5, 0.8),
    spreads: Spreads | None = None,
) -> MadeCorpus:
    """A corpus of a world of its own. For many corpora of the same systems draw them from one
    ``World``."""
    return World.made(seed, systems, raters, strengths, spreads).corpus(seed, dialogues, turns)
