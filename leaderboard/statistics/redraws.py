"""What an interval of a correlation speaks of, and how it is made: other dialogues, other systems,
or both.

Over dialogues: the same systems in other dialogues of this kind. Over systems: other systems like
these in the same dialogues. Over both (Deutsch, Dror & Roth 2021, A Statistical Analysis of
Summarization Evaluation Metrics using Resampling Methods, TACL 9, Boot-Both): other systems in
other dialogues, each drawn independently of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotations.correlation import Redraws, cluster_resamples
from annotations.correlation.jackknife import group_of_cluster
from leaderboard.statistics.design import Design, Kind
from leaderboard.statistics.placed_scores import FloatArray, IntArray

Unit = Literal["dialogues", "systems", "both"]
Method = Literal["jackknife", "percentile"]
UNITS: tuple[Unit, ...] = ("dialogues", "systems", "both")
METHODS: tuple[Method, ...] = ("jackknife", "percentile")

_OVER = {"dialogues": "dialogues", "systems": "systems", "both": "dialogues-and-systems"}
_SPEAKS_OF = {
    "dialogues": "other dialogues and the same systems",
    "systems": "other systems and the same dialogues",
    "both": "other systems in other dialogues",
}
FEWEST_SYSTEMS = 5
"""With fewer the spread of systems, and so their plausible means, is anybody's guess: r by the
jackknife, and ranks by percentiles, which are wide."""
FEWEST_FOR_P = 6
"""Over dialogues p gets as small as dialogues are many, however few systems there are: 1e-11 of
four. It then looks like proof about metrics, where even a perfect order of five systems has p =
2/5! = .017 among all orders."""
FEW_SYSTEMS = 10
FEW_DIALOGUES = 8
NO_P = f"with fewer than {FEWEST_FOR_P} systems p would speak of these systems only"
TOO_FEW = "an interval over both needs at least 2 dialogues and 2 systems"


@dataclass(frozen=True, slots=True)
class Recipe:
    """``unit``: what is drawn anew. ``method``: "jackknife" leaves one unit out at a time and takes
    Student's t, and covers what it says; "percentile" is the percentile bootstrap, which many
    papers print. Both units at once have the bootstrap only. ``resamples`` 0: no intervals."""

    unit: Unit = "dialogues"
    method: Method = "jackknife"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.unit == "both" and self.method == "jackknife":
            raise ValueError(
                "intervals over both dialogues and systems are made by the percentile bootstrap "
                "only"
            )

    @classmethod
    def of(cls, unit: Unit, method: Method | None, resamples: int, seed: int) -> Recipe:
        """``method`` None: the one that covers, where there is one."""
        return cls(
            unit, method or ("percentile" if unit == "both" else "jackknife"), resamples, seed
        )

    @property
    def is_jackknife(self) -> bool:
        return self.method == "jackknife"

    def signature(self, level: str) -> str:
        """The method's name in signatures."""
        if not self.is_jackknife:
            return f"percentile95-bootstrap-over-{_OVER[self.unit]}"
        name = f"jackknife-t95-over-{_OVER[self.unit]}"
        return (
            f"{name},systems:plausible-means95"
            if level == "system" and self.unit == "dialogues"
            else name
        )

    def of_the_limit(self, level: str, systems: int) -> tuple[str, ...]:
        """The coefficients whose intervals speak of the limit of many dialogues: noise in the means
        is out of them."""
        if level != "system" or self.unit != "dialogues" or not self.is_jackknife:
            return ()
        return ("pearson",) if systems < FEWEST_SYSTEMS else ("pearson", "spearman", "kendall")

    def why_no_p(self, level: str, systems: int) -> str:
        """Why a correlation of so many systems has no p; "" where it has one."""
        is_of_few = level == "system" and 0 < systems < FEWEST_FOR_P
        return NO_P if is_of_few and self.unit == "dialogues" and self.resamples else ""

    def generalises_to(self, level: str, systems: int) -> str:
        """What a reader may carry an interval of so many systems over to, in the few words of a
        cell; "" at levels where there are as many pairs as responses or dialogues."""
        if level != "system" or self.resamples == 0:
            return ""
        these = f"these {systems:,} systems"
        return {
            "dialogues": f"{these}, new dialogues",
            "systems": "new systems, these dialogues",
            "both": "new systems and dialogues",
        }[self.unit]

    def words(self, level: str, dialogues: int, systems: int, design: Kind = "crossed") -> str:
        """What the interval speaks of, how it is made, and where it may not hold its 95 %.
        ``dialogues``, ``systems``: how many people rated. ``design``: where nested, dialogues are
        drawn within each system."""
        speaks_of = f"95 % intervals speak of {_SPEAKS_OF[self.unit]}"
        if self.resamples == 0:
            return "no intervals were asked for"
        if not self.is_jackknife:
            drawn = {"both": "dialogues and systems"}.get(self.unit, self.unit)
            few = (
                min(dialogues, systems)
                if self.unit == "both"
                else systems
                if self.unit == "systems"
                else dialogues
            )
            warning = f"; with {few} {drawn} they hold less than 95 %" if few < 60 else ""
            within = (
                " within each system" if design == "nested" and self.unit == "dialogues" else ""
            )
            no_p = f"; {why}" if (why := self.why_no_p(level, systems)) else ""
            return (
                f"{speaks_of}: percentiles of {self.resamples:,} bootstrap draws of "
                f"{drawn}{within}{warning}{no_p}"
            )
        one = self.unit.removesuffix("s")
        left_out = f"one {one} left out at a time, Student's t"
        how = [left_out]
        if level == "system" and self.unit == "dialogues":
            how = self._of_systems(
                systems, left_out, " within each system" if design == "nested" else ""
            )
            how.append(f"it says nothing of other systems than these {systems:,}")
        if why := self.why_no_p(level, systems):
            how.append(why)
        if self.unit != "systems" and dialogues < FEW_DIALOGUES:
            how.append(f"with {dialogues} dialogues no method is sure to hold 95 %")
        return f"{speaks_of}: " + "; ".join(how)

    def _of_systems(self, systems: int, left_out: str, within: str) -> list[str]:
        limit = (
            "in the limit of many dialogues, since the noise of few pulls the value itself "
            "towards 0"
        )
        if systems < FEWEST_SYSTEMS:
            ranks = (
                f"ρ and τ of {systems} systems: percentiles of bootstrap draws{within}, wider "
                "than 95 % needs"
            )
            return [left_out, limit, ranks]
        how = [f"{self.resamples:,} draws of the systems' plausible true means", limit]
        if systems < FEW_SYSTEMS:
            how.append(f"ρ and τ of {systems} systems take few values, and hold more than 95 %")
        return how


def item_redraws(
    recipe: Recipe, system: IntArray | None, dialogue: IntArray
) -> tuple[IntArray, Redraws | None]:
    """(cluster of each item, redraws of these clusters). ``dialogue``, ``system``: (n,) numbers of
    the rated items.

    Over both, a cluster is one system in one dialogue, and counts as often as both were drawn
    together.
    """
    dialogue = numbered(dialogue)
    cluster = dialogue if recipe.unit == "dialogues" or system is None else numbered(system)
    if not len(cluster) or recipe.resamples == 0:
        return cluster, None
    if recipe.is_jackknife:
        cluster = group_of_cluster(int(cluster.max()) + 1)[cluster]
    strata = None
    if system is not None and not recipe.is_jackknife:
        of_system = numbered(system)
        indices = int(of_system.max()) + 1, int(dialogue.max()) + 1
        strata = Design.of([(of_system, dialogue)], *indices).strata
    if recipe.unit != "both" or system is None:
        return cluster, of_clusters(
            recipe, int(cluster.max()) + 1, strata if recipe.unit == "dialogues" else None
        )
    systems, dialogues = int(cluster.max()) + 1, int(dialogue.max()) + 1
    if min(systems, dialogues) < 2:
        return dialogue, Redraws(np.empty((0, dialogues)), is_jackknife=False, reason=TOO_FEW)
    of_systems, of_dialogues = both_resamples(recipe, systems, dialogues, strata)
    weights = (of_systems[:, :, None] * of_dialogues[:, None, :]).reshape(len(of_systems), -1)
    cell = cluster * dialogues + dialogue
    held, index = np.unique(cell, return_inverse=True)
    return np.asarray(index, dtype=np.int64), Redraws(weights[:, held], is_jackknife=False)


def both_resamples(
    recipe: Recipe, systems: int, dialogues: int, strata: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """(resamples, systems) and (resamples, dialogues), drawn independently of each other;
    ``strata`` of dialogues."""
    of_systems = cluster_resamples(systems, recipe.resamples, recipe.seed + 1)
    of_dialogues = cluster_resamples(dialogues, recipe.resamples, recipe.seed, strata)
    return of_systems.astype(np.float64), of_dialogues.astype(np.float64)


def of_clusters(recipe: Recipe, clusters: int, strata: IntArray | None = None) -> Redraws:
    """``strata``: within which a bootstrap draws; leaving out one at a time needs none."""
    if recipe.is_jackknife:
        return Redraws.jackknife(clusters)
    return Redraws.bootstrap(clusters, recipe.resamples, recipe.seed, strata)


def numbered(numbers: IntArray) -> IntArray:
    """The same groups, numbered from 0 without gaps."""
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)
