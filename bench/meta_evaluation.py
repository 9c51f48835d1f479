"""All that a metric leaderboard is computed from, in one process: ``python -m
bench.meta_evaluation``.

40 metrics × 99 systems × 15 dialogues × 7 turns: r, ρ and τ-b at all three levels with 1,000
resamples of dialogues (percentiles) and with the site's default intervals, then all 780 pairs of
metrics with 1,000 permutations each: r at turn and dialogue level, r, ρ and τ-b at system level.
Two threads at most, as the site has them. The scipy loop is timed on a part (``bench.correlation``,
``bench.significance``, where results are held against it) and scaled; ratios are of processor
times. Wanted: the whole under 20 s on two cores, and 100 times a scipy loop.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable

import numpy as np

from bench.correlation import SYSTEMS, as_on_the_site, made_up_scores, system_level, turn_level
from bench.significance import peer_items, peer_systems, seconds
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
from leaderboard.statistics.correlation.placed_scores import FloatArray, dialogue_means
from leaderboard.statistics.significance import all_pairs

METRICS, DIALOGUES, RESAMPLES, SEED = 40, 15, 1000, 0
PAIRS = METRICS * (METRICS - 1) // 2
LIMIT = 20.0

Parts = dict[str, tuple[Callable[[], object], Callable[[], FloatArray] | None]]
"""What we do and, as (wall, processor) seconds of the whole, what a scipy loop takes for it."""


def parts() -> Parts:
    human, metrics = made_up_scores()
    people, people_grid = human.scores[0], dialogue_means(human, SYSTEMS, DIALOGUES)
    grid = dialogue_means(metrics, SYSTEMS, DIALOGUES)
    drawn = {"resamples": RESAMPLES, "seed": SEED, "method": "percentile"}
    tossed = {"permutations": RESAMPLES, "seed": SEED}
    on_the_site = as_on_the_site(human, metrics)

    def tests(*names: str) -> object:
        return all_pairs.all_pairs_of_systems(human, metrics, SYSTEMS, None, list(names), **tossed)

    return {
        "intervals, turns": (
            lambda: correlate_items(people, metrics.scores, human.dialogue, **drawn),
            lambda: turn_level(human, metrics)[1],
        ),
        "intervals, dialogues": (
            lambda: correlate_items(people_grid.scores[0], grid.scores, grid.dialogue, **drawn),
            lambda: turn_level(people_grid, grid)[1],
        ),
        "intervals, systems": (
            lambda: correlate_systems(human, metrics, SYSTEMS, None, **drawn),
            lambda: system_level(human, metrics)[1],
        ),
        "pairs, turns, r": (
            lambda: all_pairs.all_pairs_of_items(
                people, metrics.scores, human.system, human.dialogue, **tossed
            ),
            lambda: peer_items(human, metrics) * PAIRS * RESAMPLES,
        ),
        "pairs, dialogues, r": (
            lambda: all_pairs.all_pairs_of_items(
                people_grid.scores[0], grid.scores, grid.system, grid.dialogue, **tossed
            ),
            lambda: peer_items(people_grid, grid) * PAIRS * RESAMPLES,
        ),
        "pairs, systems, r, ρ, τ": (
            lambda: tests("pearson", "spearman", "kendall"),
            lambda: (
                sum(
                    peer_systems(human, metrics, name)
                    for name in ("pearson", "spearman", "kendall")
                )
                * PAIRS
                * RESAMPLES
            ),
        ),
        **{name: (work, None) for name, work in on_the_site.items() if "default" in name},
    }


def main() -> int:
    all_pairs.ENOUGH = RESAMPLES + 1  # every pair sees all permutations, as the peer's
    print(
        f"{METRICS} metrics, {PAIRS} pairs, {RESAMPLES:,} resamples and permutations; load "
        f"{os.getloadavg()[0]:.1f}"
    )
    print(f"{'':<34}{'wall':>9}{'processor':>11}{'scipy loop':>13}{'ratio':>8}")
    whole, held, peer = np.zeros(2), np.zeros(2), np.zeros(2)
    begun = time.perf_counter()
    taken = {name: seconds(ours)[0] for name, (ours, _) in parts().items()}
    wall = time.perf_counter() - begun
    for name, (_, other) in parts().items():
        whole = whole + taken[name]
        line = f"{name:<34}{taken[name][0]:>7.2f} s{taken[name][1]:>9.2f} s"
        if other is not None:
            theirs = other()
            held, peer = held + taken[name], peer + theirs
            line += f"{theirs[1]:>11,.0f} s{theirs[1] / taken[name][1]:>7,.0f}×"
        print(line, flush=True)
    line = (
        f"{'all':<34}{whole[0]:>7.2f} s{whole[1]:>9.2f} s{peer[1]:>11,.0f} "
        f"s{peer[1] / held[1]:>7,.0f}×"
    )
    print(line, f"(the input made, too: {wall:.1f} s)")
    return 0 if whole[0] <= LIMIT and peer[1] / held[1] >= 100 else 1


if __name__ == "__main__":
    sys.exit(main())
