"""How often 95 % intervals hold the true value, in made-up corpora of which it is known: ``python
-m bench.coverage``.

Each shape (dialogues × systems × turns) has worlds: systems, raters and metrics that stay. From
each world corpora are drawn, every one with other dialogues, and intervals are made as the site
makes them and by the percentile bootstrap. True is what endless dialogues of the world would give:
exact for means and coefficients of systems; of 400,000 responses at turn and dialogue level.
Metrics of strength 0.3, 0.6 and 0.9 are taken together.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bench import agreement_coverage
from common.correlation import COEFFICIENTS
from common.estimates import Estimate
from leaderboard.statistics.correlation.levels import (
    MetricCorrelation,
    correlate_items,
    correlate_systems,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores, dialogue_means
from leaderboard.statistics.correlation.resampling import METHODS, Method
from leaderboard.statistics.ranking.system_ranking import rank_systems
from tests.leaderboard.statistics.made_corpora import MadeCorpus, Spreads, World

STRENGTHS = (0.3, 0.6, 0.9)
LEVELS = ("turn", "dialogue", "system")
SHAPES = {
    "comperdial": (15, 99, 7),
    "usr": (60, 5, 1),
    "grade": (150, 2, 1),
    "five-dialogues": (5, 99, 7),
    "ten-systems": (30, 10, 3),
    "one-turn": (15, 20, 1),
}


@dataclass(frozen=True)
class Truth:
    of_system: np.ndarray
    """(systems,) mean human scores."""
    coefficients: dict[tuple[str, str], list[float | None]]
    """(level, coefficient) → one a metric."""


def truth_of(world: World, turns: int, only_means: bool) -> Truth:
    if only_means:
        return Truth(world.true_human_means, {})
    large = world.large_corpus(turns, 400_000)
    found = {
        (level, name): [getattr(one, name).value for one in results]
        for level, results in items_of(large, 0, None).items()
        for name in COEFFICIENTS
    }
    if world.systems > 2:
        found |= {
            ("system", name): list(world.true_system_correlations(name)) for name in COEFFICIENTS
        }
    return Truth(world.true_human_means, found)


def items_of(
    corpus: MadeCorpus, resamples: int, method: Method | None
) -> dict[str, list[MetricCorrelation]]:
    human, metrics = (
        PlacedScores(one, corpus.system, corpus.dialogue) for one in (corpus.human, corpus.metrics)
    )
    grid, metric_grid = (
        dialogue_means(one, corpus.systems, corpus.dialogues) for one in (human, metrics)
    )
    return {
        "turn": correlate_items(
            corpus.human, corpus.metrics, corpus.dialogue, resamples, method=method
        ),
        "dialogue": correlate_items(
            grid.scores[0], metric_grid.scores, grid.dialogue, resamples, method=method
        ),
    }


def intervals(
    corpus: MadeCorpus, truth: Truth, method: Method
) -> Iterator[tuple[str, float, Estimate]]:
    """(what is estimated, its true value, the estimate); of coefficients those whose truth is
    known."""
    human, metrics = (
        PlacedScores(one, corpus.system, corpus.dialogue) for one in (corpus.human, corpus.metrics)
    )
    ranks = rank_systems(human, corpus.systems, RESAMPLES, method=method)
    for number in {0, corpus.systems // 2}:
        yield "mean of a system", float(truth.of_system[number]), ranks[number].mean
    if not truth.coefficients:
        return
    found = items_of(corpus, RESAMPLES, method)
    if corpus.systems > 2:
        found["system"] = correlate_systems(
            human, metrics, corpus.systems, None, RESAMPLES, method=method
        )
    for level, results in found.items():
        for name in COEFFICIENTS:
            for true, one in zip(truth.coefficients[level, name], results, strict=True):
                if true is not None:
                    yield f"{level} {name}", true, getattr(one, name)


RESAMPLES = 400
"""Ends of percentile intervals of 400 draws are as right on average as those of 1,000, only less
steady."""


PERCENTILES_EVERY = 4
"""That the percentile bootstrap holds too little is known; a quarter of the corpora shows how
little."""


def simulate(
    shape: tuple[int, int, int],
    corpora: int,
    worlds: int,
    seed: int,
    only_means: bool = False,
    spreads: Spreads | None = None,
    below: tuple[int, float] = (0, 0.0),
) -> dict[tuple[str, Method], Counter[str]]:
    """``below``: how many of the systems lie how many points below the others."""
    dialogues, systems, turns = shape
    counts: dict[tuple[str, Method], Counter[str]] = {}
    for number in range(worlds):
        world = World.made(seed + number, systems, strengths=STRENGTHS, spreads=spreads)
        world = replace(world, quality=world.quality - below[1] * (np.arange(systems) < below[0]))
        truth = truth_of(world, turns, only_means)
        for of_world in range(corpora // worlds):
            corpus = world.corpus(1_000_000 * (seed + number) + of_world, dialogues, turns)
            for method in METHODS if of_world % PERCENTILES_EVERY == 0 else METHODS[:1]:
                for what, true, estimate in intervals(corpus, truth, method):
                    counts.setdefault((what, method), Counter()).update([verdict(true, estimate)])
    return counts


def verdict(true: float, estimate: Estimate) -> str:
    if estimate.ci is None:
        return "none"
    if estimate.ci[0] > true + 1e-12:
        return "above"
    return "below" if estimate.ci[1] < true - 1e-12 else "held"


def printed(counts: dict[tuple[str, Method], Counter[str]]) -> None:
    print(
        "| interval of | "
        + " | ".join(METHODS)
        + " | misses of the first: true value below, above | none |"
    )
    print("|---|---|---|---|---|")
    for what in dict.fromkeys(what for what, _ in counts):
        of_methods = [counts[what, method] for method in METHODS]
        cells = " | ".join(f"{coverage(one):.1%}".replace("%", " %") for one in of_methods)
        first = of_methods[0]
        made = sum(first.values()) - first["none"]
        sides = ", ".join(
            f"{first[side] / made:.1%}".replace("%", " %") for side in ("above", "below")
        )
        print(f"| {what} | {cells} | {sides} | {first['none'] / sum(first.values()):.1%} |")


def coverage(one: Counter[str]) -> float:
    made = sum(one.values()) - one["none"]
    return one["held"] / made if made else math.nan


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=[*SHAPES, "all"], default="comperdial")
    parser.add_argument("--corpora", type=int, default=2000)
    parser.add_argument(
        "--worlds", type=int, default=100, help="sets of systems; corpora of one world share them"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dialogues", type=int, help="so many instead of the shape's")
    parser.add_argument(
        "--system-spread", type=float, default=Spreads.system, help="sd of the systems' true means"
    )
    parser.add_argument(
        "--below",
        nargs=2,
        type=float,
        default=(0, 0),
        metavar=("SYSTEMS", "POINTS"),
        help="so many systems lie so many points below the others",
    )
    parser.add_argument(
        "--means", action="store_true", help="means of systems only, which takes seconds"
    )
    parser.add_argument(
        "--agreement", action="store_true", help="of agreement's coefficients, in shapes of its own"
    )
    options = parser.parse_args()
    if options.agreement:
        agreement_coverage.printed(
            options.corpora, min(options.worlds, options.corpora), options.seed
        )
        return 0
    for name in SHAPES if options.shape == "all" else [options.shape]:
        dialogues, systems, turns = SHAPES[name]
        dialogues = options.dialogues or dialogues
        start = time.perf_counter()
        worlds = min(options.worlds, options.corpora)
        spreads = Spreads(system=options.system_spread)
        counts = simulate(
            (dialogues, systems, turns),
            options.corpora,
            worlds,
            options.seed,
            options.means,
            spreads,
            (int(options.below[0]), options.below[1]),
        )
        seconds = time.perf_counter() - start
        print(
            f"\n{name}: {dialogues} dialogues × {systems} systems × {turns} turns, "
            f"{options.corpora:,} corpora of"
        )
        lower = (
            f", {options.below[0]:.0f} of them {options.below[1]} below" if options.below[0] else ""
        )
        print(
            f"{worlds} worlds, systems {options.system_spread} apart{lower}, seed {options.seed}, "
            f"{seconds:,.0f} s\n"
        )
        printed(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
