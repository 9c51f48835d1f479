"""Ratings in which raters, items, dialogues and systems are crossed, and the equations of their
effects.

Items outnumber all else (thousands of responses) and each has ratings of a few people only: they
are solved for on paper, which leaves one dense symmetric matrix of systems, dialogues and raters.
Its parts are sums over dialogues, so leaving out a dialogue is a subtraction. Statistics packages
build a matrix of ratings × ratings for such a design (statsmodels' MixedLM), 7 GiB for 31,185
ratings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array

from annotations.agreement.matrix import RatingMatrix
from annotations.formats.records import RaterKind
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray


@dataclass(frozen=True)
class CrossedRatings:
    """One entry a rating, (n,) each: the score and the numbers, from 0, of what it belongs to. An
    item is of one system and one dialogue. ``systems``, ``dialogues``, ``raters`` say how many
    there are, with ratings or without."""

    scores: FloatArray
    system: IntArray
    dialogue: IntArray
    item: IntArray
    rater: IntArray
    systems: int
    dialogues: int
    raters: int
    rater_kind: RaterKind = "identified"

    @classmethod
    def of(cls, matrix: RatingMatrix, system: IntArray, systems: int) -> CrossedRatings:
        """The ratings of a matrix, one entry each.

        Dialogues and items are renumbered, without those that nobody rated.

        Args:
            matrix: Raters × items, NaN where a rater did not judge an item.
            system: (items,) system numbers from 0.
            systems: Number of systems, with ratings or without.

        Returns:
            (n,) entries, one per rating; raters and systems keep their numbers.
        """
        rater, item = np.nonzero(np.isfinite(matrix.scores))
        dialogues, dialogue = np.unique(matrix.dialogue_of_item[item], return_inverse=True)
        return cls(
            scores=matrix.scores[rater, item],
            system=np.asarray(system, dtype=np.int64)[item],
            dialogue=dialogue,
            item=np.unique(item, return_inverse=True)[1],
            rater=rater,
            systems=systems,
            dialogues=len(dialogues),
            raters=len(matrix.scores),
            rater_kind=matrix.rater_kind,
        )

    def only(self, retained: NDArray[np.bool_]) -> CrossedRatings:
        """Some of the ratings.

        Args:
            retained: (n,) which ratings to keep.

        Returns:
            The retained ratings; systems, dialogues and raters keep their numbers, items are
            renumbered.
        """
        return replace(
            self,
            scores=self.scores[retained],
            system=self.system[retained],
            dialogue=self.dialogue[retained],
            item=np.unique(self.item[retained], return_inverse=True)[1],
            rater=self.rater[retained],
        )


@dataclass(frozen=True)
class Solved:
    """Effects of systems, dialogues and raters, in this order; NaN for systems without ratings."""

    effects: FloatArray
    variance: float
    """Of the error."""
    criterion: float
    """−2 · log restricted likelihood, the error's variance profiled out."""
    relative: FloatArray
    factor: tuple[FloatArray, bool]
    scale: FloatArray
    crossproducts: FloatArray

    def rater_weights(self, systems: int, raters: int) -> FloatArray:
        """How much each rater's severity weighs in each system's mean.

        Args:
            systems: Number of systems.
            raters: Number of raters.

        Returns:
            (systems, raters) weights; rows of rated systems sum to 1.
        """
        of_raters = self.scale[:, np.newaxis] * self.crossproducts[:, -raters:]
        return np.asarray(cho_solve(self.factor, of_raters, check_finite=False)[:systems])

    def panel_deviation(self, raters: int) -> FloatArray:
        """Standard error of each rater's severity relative to the panel's mean.

        Args:
            raters: Number of raters.

        Returns:
            (raters,) at least 0, as multiples of the error's standard deviation.
        """
        unit = np.zeros((len(self.scale), raters))
        unit[-raters:] = np.eye(raters)
        block = cho_solve(self.factor, unit, check_finite=False)[-raters:] * self.relative[2] ** 2
        centred = block - block.mean(axis=0) - block.mean(axis=1)[:, np.newaxis] + block.mean()
        return np.asarray(np.sqrt(np.maximum(np.diag(centred), 0.0)))


@dataclass(frozen=True)
class NormalEquations:
    """Sums over the ratings, scores taken from ``centre`` (it costs no digits then).

    ``of_items`` and the like are by how many ratings an item has: with k of them, the item's
    solved-out part counts relative² / (1 + k · relative²) of the outer products of its sums.
    """

    ratings: CrossedRatings
    centre: float
    number: int
    plain: FloatArray
    """(effects, effects) crossproducts of the indicators of systems, dialogues and raters."""
    right: FloatArray
    squares: float
    of_items: dict[int, FloatArray]
    right_of_items: dict[int, FloatArray]
    squares_of_items: dict[int, float]
    items: dict[int, int]

    @classmethod
    def of(cls, ratings: CrossedRatings, centre: float | None = None) -> NormalEquations:
        """The sums over all ratings, from which the equations are solved.

        Args:
            ratings: Crossed ratings.
            centre: Score that is subtracted from every rating. None: the mean of the ratings.

        Returns:
            Sums for effects in the order systems, dialogues, raters.
        """
        number = len(ratings.scores)
        middle = float(ratings.scores.mean()) if centre is None else centre
        scores = ratings.scores - middle
        effects = ratings.systems + ratings.dialogues + ratings.raters
        of_dialogues = ratings.systems + ratings.dialogue
        of_raters = ratings.systems + ratings.dialogues + ratings.rater
        columns = np.concatenate((ratings.system, of_dialogues, of_raters))
        rows = np.tile(np.arange(number), 3)
        indicators = coo_array(
            (np.ones(3 * number), (rows, columns)), shape=(number, effects)
        ).tocsr()
        given = np.bincount(ratings.item)
        of_item = coo_array(
            (np.ones(number), (ratings.item, np.arange(number))), shape=(len(given), number)
        ).tocsr()
        sums, score_sums = (of_item @ indicators).tocsr(), np.asarray(of_item @ scores)
        by_count = {int(count): np.nonzero(given == count)[0] for count in np.unique(given)}
        return cls(
            ratings=ratings,
            centre=middle,
            number=number,
            plain=(indicators.T @ indicators).toarray(),
            right=np.asarray(indicators.T @ scores),
            squares=float(scores @ scores),
            of_items={k: (sums[which].T @ sums[which]).toarray() for k, which in by_count.items()},
            right_of_items={
                k: np.asarray(sums[which].T @ score_sums[which]) for k, which in by_count.items()
            },
            squares_of_items={
                k: float((score_sums[which] ** 2).sum()) for k, which in by_count.items()
            },
            items={k: len(which) for k, which in by_count.items()},
        )

    def without(self, dialogues: IntArray) -> NormalEquations:
        """The sums over all ratings but those in some dialogues.

        Args:
            dialogues: Numbers of the dialogues to leave out.

        Returns:
            Sums with the same effects and the same centre.
        """
        gone = NormalEquations.of(
            self.ratings.only(np.isin(self.ratings.dialogue, dialogues)), self.centre
        )
        return NormalEquations(
            ratings=self.ratings,
            centre=self.centre,
            number=self.number - gone.number,
            plain=self.plain - gone.plain,
            right=self.right - gone.right,
            squares=self.squares - gone.squares,
            of_items={k: part - gone.of_items.get(k, 0.0) for k, part in self.of_items.items()},
            right_of_items={
                k: part - gone.right_of_items.get(k, 0.0) for k, part in self.right_of_items.items()
            },
            squares_of_items={
                k: part - gone.squares_of_items.get(k, 0.0)
                for k, part in self.squares_of_items.items()
            },
            items={k: part - gone.items.get(k, 0) for k, part in self.items.items()},
        )

    def solve(self, relative: FloatArray) -> Solved:
        """Effects and error variance, given the relative standard deviations of the random effects.

        Args:
            relative: (3,) standard deviations of items, dialogues and raters as multiples of the
                error's, each at least 0.

        Returns:
            Effects of systems, dialogues and raters, in rating points: system means, NaN without
            ratings, and predictions of the others; with the error's variance and the REML
            criterion.

        Equations: Henderson (1975), the mixed-model equations; the criterion is that of Bates,
        Mächler, Bolker & Walker (2015), Fitting linear mixed-effects models using lme4, section
        3.4.
        """
        item, dialogue, rater = (float(one) for one in relative)
        ratings = self.ratings
        products, right, squares, log_items = (
            self.plain.copy(),
            self.right.copy(),
            self.squares,
            0.0,
        )
        for count, part in self.of_items.items():
            share = item**2 / (1.0 + count * item**2)
            products -= share * part
            right -= share * self.right_of_items[count]
            squares -= share * self.squares_of_items[count]
            log_items += self.items[count] * float(np.log1p(count * item**2))
        rated = np.diag(self.plain)[: ratings.systems] > 0.5
        fixed = np.where(rated, 1.0, 0.0)
        scale = np.concatenate(
            (fixed, np.full(ratings.dialogues, dialogue), np.full(ratings.raters, rater))
        )
        ridge = np.concatenate((1.0 - fixed, np.ones(ratings.dialogues + ratings.raters)))
        factor = cho_factor(
            scale[:, np.newaxis] * products * scale + np.diag(ridge), lower=True, check_finite=False
        )
        solution = cho_solve(factor, scale * right, check_finite=False)
        freedom = max(self.number - int(rated.sum()), 1)
        variance = max(float(squares - (scale * right) @ solution), 1e-300) / freedom
        log_determinant = 2.0 * float(np.log(np.diag(factor[0])).sum()) + log_items
        effects = scale * solution
        effects[: ratings.systems] = np.where(
            rated, effects[: ratings.systems] + self.centre, np.nan
        )
        return Solved(
            effects=effects,
            variance=variance,
            criterion=freedom * (1.0 + float(np.log(2.0 * np.pi * variance))) + log_determinant,
            relative=np.asarray(relative, dtype=np.float64),
            factor=factor,
            scale=scale,
            crossproducts=products,
        )


def of_groups(ratings: CrossedRatings, most: int) -> Iterator[IntArray]:
    """Groups of dialogues to leave out in turn.

    Args:
        ratings: Crossed ratings.
        most: Most groups.

    Returns:
        Dialogue numbers of each group: the dialogues one by one, or, of more than ``most``, in
        ``most`` groups, with every ``most``-th dialogue in the same one.
    """
    dialogues = np.arange(ratings.dialogues)
    groups = min(most, ratings.dialogues)
    return (dialogues[dialogues % groups == group] for group in range(groups))
