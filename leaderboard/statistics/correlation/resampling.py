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

from common.correlation import Redraws, cluster_resamples
from common.correlation.jackknife import group_of_cluster
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.design import Design, Kind

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
    """How intervals of correlations are computed.

    Args:
        unit: what is resampled.
        method: "jackknife" leaves one unit out at a time, takes Student's t, and has the coverage
            that it states; "percentile" is the percentile bootstrap, which many papers print.
        resamples: number of bootstrap draws; 0: no intervals.
        seed: of the draws.

    Raises:
        ValueError: the jackknife over both units at once, which have the bootstrap only.
    """

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
        """A recipe with the default method of its unit.

        Args:
            unit: what is resampled.
            method: None: the one with the stated coverage, the jackknife, where there is one; over
                both units the percentile bootstrap.
            resamples: 0: no intervals.
            seed: of the draws.

        Returns:
            The recipe.

        Raises:
            ValueError: the jackknife over both units at once.
        """
        return cls(
            unit, method or ("percentile" if unit == "both" else "jackknife"), resamples, seed
        )

    @property
    def is_jackknife(self) -> bool:
        """Whether one unit is left out at a time."""
        return self.method == "jackknife"

    def signature(self, level: str) -> str:
        """The method's name in signatures.

        Args:
            level: "turn", "dialogue" or "system".

        Returns:
            Such as "jackknife-t95-over-dialogues".
        """
        if not self.is_jackknife:
            return f"percentile95-bootstrap-over-{_OVER[self.unit]}"
        name = f"jackknife-t95-over-{_OVER[self.unit]}"
        return (
            f"{name},systems:plausible-means95"
            if level == "system" and self.unit == "dialogues"
            else name
        )

    def of_the_limit(self, level: str, systems: int) -> tuple[str, ...]:
        """Coefficients whose intervals are about the limit of many dialogues.

        Noise in the means is out of them.

        Args:
            level: "turn", "dialogue" or "system".
            systems: how many are correlated.

        Returns:
            Of "pearson", "spearman" and "kendall"; empty unless systems are correlated and their
            dialogues left out. Only "pearson" with fewer than 5 systems.
        """
        if level != "system" or self.unit != "dialogues" or not self.is_jackknife:
            return ()
        return ("pearson",) if systems < FEWEST_SYSTEMS else ("pearson", "spearman", "kendall")

    def why_no_p(self, level: str, systems: int) -> str:
        """Why a correlation of so few systems has no p.

        Args:
            level: "turn", "dialogue" or "system".
            systems: how many are correlated.

        Returns:
            The reason, with fewer than 6 systems and intervals over dialogues; "" where it has one.
        """
        is_of_few = level == "system" and 0 < systems < FEWEST_FOR_P
        return NO_P if is_of_few and self.unit == "dialogues" and self.resamples else ""

    def generalises_to(self, level: str, systems: int) -> str:
        """What an interval of so many systems generalises to, short enough for a table cell.

        Args:
            level: "turn", "dialogue" or "system".
            systems: how many are correlated.

        Returns:
            Such as "new systems, these dialogues"; "" without intervals, and at levels that have as
            many pairs as responses or dialogues.
        """
        if level != "system" or self.resamples == 0:
            return ""
        these = f"these {systems:,} systems"
        return {
            "dialogues": f"{these}, new dialogues",
            "systems": "new systems, these dialogues",
            "both": "new systems and dialogues",
        }[self.unit]

    def words(self, level: str, dialogues: int, systems: int, design: Kind = "crossed") -> str:
        """What intervals generalise to, how they are computed, and where they may undercover.

        Args:
            level: "turn", "dialogue" or "system".
            dialogues: how many have human ratings.
            systems: how many have human ratings.
            design: where nested, dialogues are resampled within each system.

        Returns:
            A sentence without its full stop; it says where intervals may not hold their 95 %.
        """
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
    """The cluster of each rated item, and the resamples of these clusters.

    Args:
        recipe: over both units, a cluster is one system in one dialogue, and counts as often as
            both were drawn together.
        system: (n,) numbers of the rated items' systems; None: dialogues are resampled.
        dialogue: (n,) numbers of their dialogues.

    Returns:
        ((n,) cluster numbers from 0, resamples). Under the jackknife with more than 400 clusters, a
        number is that of a group of clusters. The resamples are None without items or with
        ``resamples`` 0; with fewer than 2 dialogues or systems, over both, they are empty and have
        a reason.
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
    """Bootstrap draws of systems and of dialogues, independent of each other.

    Args:
        recipe: number of resamples, and seed.
        systems: number of systems.
        dialogues: number of dialogues.
        strata: (dialogues,) numbers from 0, within which dialogues are drawn; None: all together.

    Returns:
        How often each was drawn: (resamples, systems) and (resamples, dialogues).

    Raises:
        ValueError: there are no systems, no dialogues or no resamples.
    """
    of_systems = cluster_resamples(systems, recipe.resamples, recipe.seed + 1)
    of_dialogues = cluster_resamples(dialogues, recipe.resamples, recipe.seed, strata)
    return of_systems.astype(np.float64), of_dialogues.astype(np.float64)


def of_clusters(recipe: Recipe, clusters: int, strata: IntArray | None = None) -> Redraws:
    """Resamples of clusters by the recipe's method.

    Args:
        recipe: method, number of resamples, and seed.
        clusters: number of clusters.
        strata: (clusters,) numbers from 0, within which a bootstrap draws; None: all together. The
            jackknife needs none.

    Returns:
        Weights (replicates, clusters).

    Raises:
        ValueError: a bootstrap of no clusters or of no resamples.
    """
    if recipe.is_jackknife:
        return Redraws.jackknife(clusters)
    return Redraws.bootstrap(clusters, recipe.resamples, recipe.seed, strata)


def numbered(numbers: IntArray) -> IntArray:
    """Number groups from 0 without gaps.

    Args:
        numbers: (n,) any group numbers.

    Returns:
        (n,) the same groups, in the order of their former numbers.
    """
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)
