"""Metric–human correlation with intervals against a scipy loop, at ComperDial's size: ``python -m
bench.correlation``.

Input made here with a seed: 15 dialogues × 7 turns × 99 systems = 10,395 responses, 40 metrics,
1,000 resamples of dialogues, r, ρ and τ-b. The peer calls scipy.stats once per metric, resample and
coefficient on the resampled data; it is timed on a part and scaled by the number of calls (writing
the resample down is not charged to it). On that part both must give the same numbers to 1e-9, or
the run stops. Beneath, what the site does by default at all three levels: intervals by the
jackknife and, of systems, by 1,000 draws of plausible means; then the averages within dialogues,
inputs and systems.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from common.correlation import COEFFICIENTS, cluster_resamples, correlation_replicates
from common.correlation.scores import round_off
from leaderboard.statistics.correlation.grouped import within_dialogues, within_systems
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
from leaderboard.statistics.correlation.placed_scores import (
    PlacedScores,
    dialogue_means,
    system_sums,
)
from leaderboard.statistics.correlation.rowwise import compiled_rows, correlate_rows, fixed_side

SYSTEMS, DIALOGUES, TURNS, METRICS, RESAMPLES, SEED = 99, 15, 7, 40, 1000, 0
RUNS = 5
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

FloatArray = NDArray[np.float64]


def made_up_scores() -> tuple[PlacedScores, PlacedScores]:
    """Mean ratings of six raters on a 1–5 scale, and metrics: continuous, coarse, and mostly zero
    ones."""
    random = np.random.default_rng(SEED)
    system = np.repeat(np.arange(SYSTEMS), DIALOGUES * TURNS)
    dialogue = np.tile(np.repeat(np.arange(DIALOGUES), TURNS), SYSTEMS)
    quality = (
        random.normal(size=SYSTEMS)[system] + random.normal(scale=0.5, size=DIALOGUES)[dialogue]
    )
    raters = 3 + quality + random.normal(size=(6, len(system)))
    human = np.clip(np.round(raters), 1, 5).mean(axis=0)
    metrics = human + random.normal(scale=2.0, size=(METRICS, len(system)))
    metrics[10:20] = np.round(metrics[10:20], 1)
    metrics[20:] = np.where(random.random((METRICS - 20, len(system))) < 0.6, 0.0, metrics[20:])
    return PlacedScores(human, system, dialogue), PlacedScores(metrics, system, dialogue)


def median_seconds(work: Callable[[], object], runs: int = RUNS) -> FloatArray:
    """(wall, processor) seconds. Processor time is what a busy machine leaves comparable."""
    wall, processor = [], []
    for _ in range(runs):
        start, processor_start = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - processor_start)
    return np.array([statistics.median(wall), statistics.median(processor)])


def scipy_loop(human: list[FloatArray], metric: list[FloatArray]) -> dict[str, FloatArray]:
    return {
        name: np.array([call(one, other)[0] for one, other in zip(human, metric, strict=True)])
        for name, call in SCIPY.items()
    }


def assert_equal(found: dict[str, FloatArray], expected: dict[str, FloatArray]) -> None:
    for name in COEFFICIENTS:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-9, err_msg=name)


def system_level(human: PlacedScores, metrics: PlacedScores) -> tuple[FloatArray, FloatArray, str]:
    """(our seconds, scipy's seconds scaled to the whole, how many scipy calls were timed)."""
    part_metrics, part_resamples = (0, 10, 20), 40
    weights = cluster_resamples(DIALOGUES, RESAMPLES, SEED).astype(np.float64)

    def resampled(placed: PlacedScores, row: int) -> FloatArray:
        sums = system_sums(placed.scores[row], placed.system, placed.dialogue, SYSTEMS, DIALOGUES)
        return sums.resampled_means(weights)

    human_means = resampled(human, 0)
    side = fixed_side(human_means)
    seconds = np.zeros(2)
    for row in part_metrics:
        found = correlate_rows(side, compiled_rows(resampled(metrics, row)))
        written_down = [literal_means(human, 0, weights[k]) for k in range(part_resamples)]
        written_metric = [literal_means(metrics, row, weights[k]) for k in range(part_resamples)]
        assert_equal(
            {k: v[:part_resamples] for k, v in found.items()},
            scipy_loop(written_down, written_metric),
        )
        seconds = seconds + median_seconds(
            lambda h=written_down, m=written_metric: scipy_loop(h, m), runs=3
        )
    scale = METRICS * RESAMPLES / (len(part_metrics) * part_resamples)
    ours = median_seconds(
        lambda: correlate_systems(
            human, metrics, SYSTEMS, None, RESAMPLES, SEED, method="percentile"
        )
    )
    return ours, seconds * scale, f"{len(part_metrics) * part_resamples} of {METRICS * RESAMPLES:,}"


def literal_means(placed: PlacedScores, row: int, multiplicity: FloatArray) -> FloatArray:
    """System means of the resample with every drawn response written down."""
    items = np.repeat(np.arange(len(placed.dialogue)), multiplicity[placed.dialogue].astype(int))
    return round_off(
        np.array(
            [placed.scores[row, items][placed.system[items] == s].mean() for s in range(SYSTEMS)]
        )
    )


def turn_level(human: PlacedScores, metrics: PlacedScores) -> tuple[FloatArray, FloatArray, str]:
    part_metrics, part_resamples = (0, 10, 20), 3
    weights = cluster_resamples(DIALOGUES, RESAMPLES, SEED)
    seconds = np.zeros(2)
    for row in part_metrics:
        found = correlation_replicates(
            human.scores[0], metrics.scores[row], human.dialogue, weights
        )
        items = [
            np.repeat(np.arange(len(human.dialogue)), weights[k][human.dialogue])
            for k in range(part_resamples)
        ]
        written_down = [human.scores[0, drawn] for drawn in items]
        written_metric = [metrics.scores[row, drawn] for drawn in items]
        assert_equal(
            {k: v[:part_resamples] for k, v in found.items()},
            scipy_loop(written_down, written_metric),
        )
        seconds = seconds + median_seconds(
            lambda h=written_down, m=written_metric: scipy_loop(h, m), runs=3
        )
    scale = METRICS * RESAMPLES / (len(part_metrics) * part_resamples)
    ours = median_seconds(
        lambda: correlate_items(
            human.scores[0], metrics.scores, human.dialogue, RESAMPLES, SEED, method="percentile"
        )
    )
    return ours, seconds * scale, f"{len(part_metrics) * part_resamples} of {METRICS * RESAMPLES:,}"


def as_on_the_site(human: PlacedScores, metrics: PlacedScores) -> dict[str, Callable[[], object]]:
    people, places = human.scores[0], human.dialogue
    grid = dialogue_means(human, SYSTEMS, DIALOGUES)
    of_metrics = dialogue_means(metrics, SYSTEMS, DIALOGUES).scores
    turn = np.tile(np.arange(DIALOGUES * TURNS), SYSTEMS)
    return {
        "turn level, default intervals": lambda: correlate_items(people, metrics.scores, places),
        "dialogue level, default intervals": lambda: correlate_items(
            grid.scores[0], of_metrics, grid.dialogue
        ),
        "system level, default intervals": lambda: correlate_systems(human, metrics, SYSTEMS),
        "within dialogues, with intervals": lambda: within_dialogues(
            people, metrics.scores, places
        ),
        "within inputs, with intervals": lambda: within_dialogues(
            people, metrics.scores, places, turn
        ),
        "within systems, with intervals": lambda: within_systems(
            people, metrics.scores, places, human.system
        ),
    }


def main() -> int:
    human, metrics = made_up_scores()
    print(
        f"{METRICS} metrics, {RESAMPLES:,} resamples of {DIALOGUES} dialogues, r, ρ and τ-b; "
        "results equal to 1e-9"
    )
    print(
        f"OPENBLAS_NUM_THREADS={os.environ['OPENBLAS_NUM_THREADS']}; median of {RUNS} runs; scipy "
        "timed on a part"
    )
    print(
        f"{'level':<16}{'time':<11}{'dialeval':>12}{'scipy loop':>14}{'ratio':>9}  scipy calls "
        "timed (× 3 coefficients)"
    )
    levels = {f"system ({SYSTEMS})": system_level, f"turn ({len(human.system):,})": turn_level}
    for name, measure in levels.items():
        ours, peer, part = measure(human, metrics)
        for kind, own, other in zip(("wall", "processor"), ours, peer, strict=True):
            print(
                f"{name:<16}{kind:<11}{own:>10.3f} s{other:>12.1f} s{other / own:>8.0f}×  {part}",
                flush=True,
            )
    for name, work in as_on_the_site(human, metrics).items():
        wall, processor = median_seconds(work, runs=3)
        print(f"{name:<44}{wall:>10.3f} s, processor {processor:.3f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
