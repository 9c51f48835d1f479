"""How often 95 % intervals of agreement hold the true value: ``python -m bench.coverage
--agreement``.

A world has raters, with their severity and their noise, who stay. Corpora of it have other
dialogues: a rating is the sum of a dialogue's effect (sd 0.5), a response's quality (0.7), the
rater's severity (0.3), what the rater makes of the dialogue (0.3) and noise (0.5 to 0.9 by rater),
rounded to 1…5. Responses lie in dialogues, ratings in responses. True is what 20,000 dialogues of
the world give, with the same raters and the same plan of who rates what.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from common.estimates import Estimate

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
TRUE_DIALOGUES = 20_000


@dataclass(frozen=True)
class Plan:
    """``each``: of the raters, how many rate a response, by chance."""

    dialogues: int
    responses: int
    raters: int
    each: int


PLANS = {
    "15 dialogues × 20, 4 raters of all": Plan(15, 20, 4, 4),
    "60 dialogues × 5, 3 of 6 raters": Plan(60, 5, 6, 3),
    "30 dialogues × 4, 3 of 4 raters": Plan(30, 4, 4, 3),
    "8 dialogues × 35, 3 of 5 raters": Plan(8, 35, 5, 3),
}


@dataclass(frozen=True)
class World:
    severity: np.ndarray
    noise: np.ndarray

    @classmethod
    def made(cls, raters: int, seed: int) -> World:
        random = np.random.default_rng(seed)
        return cls(random.normal(0, 0.3, raters), random.uniform(0.5, 0.9, raters))

    def corpus(self, plan: Plan, dialogues: int, seed: int) -> RatingMatrix:
        random = np.random.default_rng(seed)
        raters, items = len(self.severity), dialogues * plan.responses
        dialogue = np.repeat(np.arange(dialogues), plan.responses)
        heard = 3 + random.normal(0, 0.5, dialogues)[dialogue] + random.normal(0, 0.7, items)
        by_rater = random.normal(0, 0.3, (raters, dialogues))[:, dialogue] + self.severity[:, None]
        scores = heard + by_rater + random.normal(0, 1, (raters, items)) * self.noise[:, None]
        scores = np.clip(np.round(scores), LEVELS[0], LEVELS[-1])
        left_out = random.random((raters, items)).argsort(axis=0) >= plan.each
        scores[left_out] = np.nan
        return RatingMatrix(
            scores, dialogue, tuple(f"r{number}" for number in range(raters)), levels=LEVELS
        )


def estimates(matrix: RatingMatrix, *, intervals: bool) -> Iterator[tuple[str, Estimate]]:
    found = agreement_report(matrix, resamples=int(intervals))
    for measurement, alpha in found.krippendorff_alpha.items():
        yield f"Krippendorff's α, {measurement}", alpha
    for weighting, kappa in found.cohen_kappa.items():
        yield f"Cohen's κ, {weighting}, mean of pairs", kappa.mean
    yield "Fleiss' κ", found.fleiss_kappa.kappa
    yield "ICC(2,1)", found.icc.single
    yield "ICC(2,k)", found.icc.mean_of_k
    for coefficient, one in found.leave_one_out.items():
        yield f"leave-one-out, {coefficient}", one.mean


def simulate(plan: Plan, corpora: int, worlds: int, seed: int) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for number in range(worlds):
        world = World.made(plan.raters, seed + number)
        large = world.corpus(plan, TRUE_DIALOGUES, 1_000_000 + number)
        true = {what: estimate.value for what, estimate in estimates(large, intervals=False)}
        for of_world in range(corpora // worlds):
            matrix = world.corpus(plan, plan.dialogues, 1000 * (seed + number) + of_world)
            for what, estimate in estimates(matrix, intervals=True):
                value = true[what]
                if value is None or estimate.ci is None:
                    verdict = "none"
                else:
                    verdict = "held" if estimate.ci[0] <= value <= estimate.ci[1] else "missed"
                counts.setdefault(what, Counter()).update([verdict])
    return counts


def printed(corpora: int, worlds: int, seed: int) -> None:
    start = time.perf_counter()
    found = {name: simulate(plan, corpora, worlds, seed) for name, plan in PLANS.items()}
    print(
        f"{corpora:,} corpora of {worlds} worlds each, seed {seed}, "
        f"{time.perf_counter() - start:,.0f} s\n"
    )
    print(f"| 95 % interval of | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
    for what in next(iter(found.values())):
        print(f"| {what} | {' | '.join(_coverage(counts[what]) for counts in found.values())} |")


def _coverage(one: Counter[str]) -> str:
    made = one["held"] + one["missed"]
    return f"{100 * one['held'] / made:.1f} %" if made else str(math.nan)
