"""A campaign replayed from ratings that exist: the pool is all of them, and each draw takes one of
a system, at random.

What ``bench.allocation`` counts is done by the code that campaigns run on: plan/evidence.py and
plan/allocation.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotations.campaigns.plan.allocation import Target, allocation_weights, reached
from annotations.campaigns.plan.evidence import (
    LOOKS,
    Numbers,
    Standing,
    cells_of,
    standing_of,
    weight_of,
)

POINTS = 100
"""After so many parts of the ratings what is known is written down; every fifth is a look, as in a
campaign."""


@dataclass(frozen=True)
class Pool:
    """Ratings of one corpus and aspect: indices of system and dialogue, and the score."""

    name: str
    systems: tuple[str, ...]
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    score: Numbers

    @property
    def ratings(self) -> int:
        return len(self.score)

    def means(self) -> Numbers:
        sums = np.bincount(self.system, weights=self.score, minlength=len(self.systems))
        return sums / np.bincount(self.system, minlength=len(self.systems))

    def standing(self) -> Standing:
        return _standing(self, np.arange(self.ratings), np.ones(self.ratings))


@dataclass
class Course:
    """One replay. By point: misordered pairs of the weighted and of the plain means, and the
    separated pairs."""

    done: list[int] = field(default_factory=list)
    misordered: list[int] = field(default_factory=list)
    misordered_plain: list[int] = field(default_factory=list)
    separated: list[int] = field(default_factory=list)
    wrongly: list[int] = field(default_factory=list)
    """Pairs called separate at this look that are equal in truth, or stand the other way round."""
    uncovered: list[Numbers] = field(default_factory=list)
    """By look and system: 1 where the interval leaves the truth out."""
    error: list[Numbers] = field(default_factory=list)
    error_plain: list[Numbers] = field(default_factory=list)
    error_inverse: list[Numbers] = field(default_factory=list)
    """As ``error``, of means with w = 1/p (Hájek 1971): less bias, more variance."""
    uncovered_once: list[Numbers] = field(default_factory=list)
    """As ``uncovered``, of the interval that is meant for one look only."""
    stop: int | None = None
    """The point at which the target was met."""


def replay(
    pool: Pool,
    adaptive: bool,
    seed: int,
    truth: Numbers | None = None,
    target: Target = "none",
    value: float | None = None,
    until: float = 1.0,
) -> Course:
    """``truth``: the systems' means; those of the whole pool where none are given. ``until``: share
    of the pool."""
    random = np.random.default_rng(seed)
    systems = len(pool.systems)
    order = [random.permutation(np.flatnonzero(pool.system == one)) for one in range(systems)]
    taken = np.zeros(systems, dtype=np.int64)
    sizes = np.array([len(one) for one in order])
    everything = random.permutation(pool.ratings)
    truth = pool.means() if truth is None else truth
    weights = np.full(systems, 1 / systems)
    drawn, chances = np.empty(0, dtype=np.int64), np.empty(0)
    course = Course()
    for point in range(1, int(POINTS * until) + 1):
        wanted = pool.ratings * point // POINTS - len(drawn)
        if adaptive:
            new, p = _draw(random, weights, order, taken, sizes, wanted)
            drawn, chances = np.concatenate([drawn, new]), np.concatenate([chances, p])
        else:
            drawn = everything[: len(drawn) + wanted]
            chances = np.ones(len(drawn))
        standing = _standing(pool, drawn, weight_of(chances))
        plain = _standing(pool, drawn, np.ones(len(drawn))) if adaptive else standing
        is_look = point % (POINTS // LOOKS) == 0
        _write_down(course, standing, plain, truth, len(drawn), is_look=is_look)
        if is_look:
            course.error_inverse.append(_standing(pool, drawn, 1 / chances).mean - truth)
        if point % (POINTS // LOOKS) == 0:
            if course.stop is None and reached(standing).meets(target, value):
                course.stop = point
            weights = allocation_weights(standing, pool.ratings / LOOKS, target, value)
    return course


def _draw(
    random: np.random.Generator,
    weights: Numbers,
    order: Sequence[NDArray[np.int64]],
    taken: NDArray[np.int64],
    sizes: NDArray[np.int64],
    wanted: int,
) -> tuple[NDArray[np.int64], Numbers]:
    """``wanted`` ratings, system by system; one that has none left is left out from then on."""
    found, chances = [], []
    while wanted > 0:
        p = np.where(taken < sizes, weights, 0.0)
        p = p / p.sum()
        for system in random.choice(len(order), wanted, p=p):
            if taken[system] == sizes[system]:
                break
            found.append(order[system][taken[system]])
            chances.append(p[system])
            taken[system] += 1
            wanted -= 1
    return np.array(found, dtype=np.int64), np.array(chances)


def _standing(pool: Pool, drawn: NDArray[np.int64], weight: Numbers) -> Standing:
    shape = (len(pool.systems), int(pool.dialogue.max()) + 1)
    return standing_of(
        cells_of(pool.system[drawn], pool.dialogue[drawn], weight, pool.score[drawn], shape)
    )


def _write_down(
    course: Course, standing: Standing, plain: Standing, truth: Numbers, done: int, *, is_look: bool
) -> None:
    course.done.append(done)
    course.misordered.append(_misordered(standing.mean, truth))
    course.misordered_plain.append(_misordered(plain.mean, truth))
    apart = standing.separated()
    course.separated.append(int(apart.sum()) // 2)
    if not is_look:
        return
    above = np.triu_indices(len(truth), 1)
    signs = np.sign(standing.mean[:, None] - standing.mean[None, :]) * np.sign(
        truth[:, None] - truth[None, :]
    )
    course.wrongly.append(int((apart & ~(signs > 0))[above].sum()))
    course.error.append(standing.mean - truth)
    course.error_plain.append(plain.mean - truth)
    with np.errstate(invalid="ignore"):
        course.uncovered.append(np.abs(standing.mean - truth) > standing.half_width)
        once = 1.96 / 2.672 * standing.half_width
        course.uncovered_once.append(np.abs(standing.mean - truth) > once)


def _misordered(mean: Numbers, truth: Numbers) -> int:
    """Pairs that stand otherwise than in truth; a system that is not known yet is in no right
    order."""
    above = np.triu_indices(len(truth), 1)
    with np.errstate(invalid="ignore"):
        wrong = ~((mean[:, None] - mean[None, :]) * (truth[:, None] - truth[None, :]) > 0)
    return int((wrong & (truth[:, None] != truth[None, :]))[above].sum())


def stays_from(values: Sequence[int], limit: int = 0) -> int | None:
    """The first place from which all values are at most ``limit``; None where the last one is
    not."""
    last = next((place for place in range(len(values) - 1, -1, -1) if values[place] > limit), -1)
    return last + 1 if last + 1 < len(values) else None
