"""Tests of two metrics: how often they err, and how fast all pairs are tested: ``python -m
bench.significance``.

Type-I error: made-up corpora in which two metrics are equally good (``bench.null_corpora``); the
share in which a test says at the 5 % level that they are not. ``--errors`` prints that table alone,
``--speed`` the other.

Speed: 40 metrics of 99 systems × 15 dialogues × 7 turns, all 780 pairs with 1,000 permutations each
(PERM-BOTH): Pearson's r at turn and dialogue level, r, ρ and τ-b at system level. The peer swaps
the same pairs with numpy and calls scipy.stats for both metrics; it is timed on a part and scaled
by the number of permutations. On that part both must give the same differences to 1e-8, or the run
stops.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from bench.correlation import SCIPY, made_up_scores
from bench.null_corpora import NullCorpus, Own, Shape, null_corpus
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    PlacedScores,
    dialogue_means,
    system_sums,
)
from leaderboard.statistics.significance import all_pairs
from leaderboard.statistics.significance.clustered import (
    delete_one_items,
    delete_one_systems,
    difference_tests,
)
from leaderboard.statistics.significance.permutation import NAMES, standardised, toss
from leaderboard.statistics.significance.swaps import SwappedItems
from leaderboard.statistics.significance.williams import williams_test

LEVEL, CORPORA, PERMUTATIONS = 0.05, 1000, 199
METRICS, SYSTEMS, SPEED_PERMUTATIONS, SEED = 40, 99, 1000, 0

NULLS: dict[str, tuple[Own, bool]] = {
    "noise alone": (Own(noise=1.0), False),
    "own opinions of dialogues": (Own(dialogue=0.6, cell=0.3, noise=0.7), False),
    "own opinions of systems": (Own(system=0.6, cell=0.3, noise=0.7), False),
    "own opinions of both": (Own(system=0.6, dialogue=0.6, cell=0.3, noise=0.7), False),
    "the same systems": (Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7), True),
    "one noisier within systems": (Own(system=0.3, cell=0.3, noise=0.5, noisier=8.0), False),
    "skewed": (Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7, skewed=True), False),
    "three values": (Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7, tied=True), False),
    "own dialogues for each system": (
        Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7, nested=True),
        False,
    ),
    "the same systems, own dialogues": (
        Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7, nested=True),
        True,
    ),
}
EQUAL_AT_SYSTEM_LEVEL_ALONE = ("one noisier within systems",)
SHAPES = {
    "99 × 15 × 7": Shape(99, 15, 7),
    "30 × 15 × 3": Shape(30, 15, 3),
    "12 × 60 × 1": Shape(12, 60, 1),
}
PAIR = np.array([0]), np.array([1])


def p_values(corpus: NullCorpus, seed: int) -> dict[str, float]:
    human, metrics, system, dialogue = corpus.human, corpus.metrics, corpus.system, corpus.dialogue
    systems, dialogues = int(system.max()) + 1, int(dialogue.max()) + 1
    people, placed = PlacedScores(human, system, dialogue), PlacedScores(metrics, system, dialogue)
    sums = [system_sums(one, system, dialogue, systems, dialogues) for one in (human, *metrics)]
    means = [one.means() for one in sums]
    found: dict[str, Any] = {}
    for swapped, name in NAMES.items():
        settings: dict[str, Any] = {"permutations": PERMUTATIONS, "seed": seed, "swapped": swapped}
        found[f"turn {name}"] = all_pairs.all_pairs_of_items(
            human, metrics, system, dialogue, **settings
        ).p[0]
        of_systems = all_pairs.all_pairs_of_systems(
            people, placed, systems, None, ["pearson"], **settings
        )
        found[f"system {name}"] = of_systems["pearson"].p[0]
    of_items = delete_one_items(human, metrics, system, dialogue)
    of_means = delete_one_systems(sums[0], sums[1:])
    found["turn jackknife, dialogues"] = difference_tests(of_items, *PAIR, "dialogues")[1][0]
    found["turn jackknife, both"] = difference_tests(of_items, *PAIR, "both")[1][0]
    found["system jackknife, dialogues"] = difference_tests(of_means, *PAIR, "dialogues")[1][0]
    found["system Williams"] = williams_test(*means).difference.p
    found["turn Williams (wrong)"] = williams_test(human, *metrics).difference.p
    found["turn single responses (wrong)"] = single_swaps(corpus, seed)
    return {name: float(p) for name, p in found.items()}


def single_swaps(corpus: NullCorpus, seed: int) -> float:
    """What not to do: every response swapped by a coin of its own."""
    alone = np.arange(len(corpus.human))
    swaps = SwappedItems(
        corpus.human, np.array([standardised(row) for row in corpus.metrics]), alone, 0 * alone
    )
    coins = toss(len(alone), 1, PERMUTATIONS, seed, "systems")
    r = [np.corrcoef(corpus.human, row)[0, 1] for row in corpus.metrics]
    extreme = np.abs(swaps.differences(coins, *PAIR)) >= abs(r[0] - r[1]) - 1e-10
    return float((1 + extreme.sum()) / (1 + PERMUTATIONS))


def rejected(shape: Shape, null: str, corpora: int) -> dict[str, float]:
    own, same_systems = NULLS[null]
    seen: dict[str, list[bool]] = {}
    for seed in range(corpora):
        for name, p in p_values(null_corpus(shape, own, seed, same_systems), seed).items():
            seen.setdefault(name, []).append(p <= LEVEL)
    return {name: float(np.mean(said)) for name, said in seen.items()}


def errors(corpora: int, shapes: list[str]) -> None:
    print(
        f"Share of {corpora:,} corpora in which a test at {LEVEL:.0%} tells two equally good "
        "metrics apart"
    )
    for shape in shapes:
        with ProcessPoolExecutor(2) as pool:
            found = dict(
                zip(
                    NULLS,
                    pool.map(rejected, [SHAPES[shape]] * len(NULLS), NULLS, [corpora] * len(NULLS)),
                    strict=True,
                )
            )
        print(
            f"\n{shape} (systems × dialogues × turns)\n| test | {' | '.join(NULLS)} "
            f"|\n|---|{'---|' * len(NULLS)}"
        )
        for name in found["noise alone"]:
            cells = [
                "–"
                if null in EQUAL_AT_SYSTEM_LEVEL_ALONE and name.startswith("turn")
                else f"{100 * row[name]:.1f}"
                for null, row in found.items()
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def seconds(work: Callable[[], Any]) -> tuple[FloatArray, Any]:
    """(wall, processor) seconds. Processor time is what a busy machine leaves comparable."""
    start, processor = time.perf_counter(), time.process_time()
    found = work()
    return np.array([time.perf_counter() - start, time.process_time() - processor]), found


def speed() -> None:
    human, made = made_up_scores()
    more = made.scores[: METRICS - len(made.scores)]
    scores = np.concatenate(
        (made.scores, more + np.random.default_rng(SEED).normal(size=more.shape))
    )
    metrics = PlacedScores(scores, made.system, made.dialogue)
    grids = [dialogue_means(one, SYSTEMS, 15) for one in (human, metrics)]
    pairs = METRICS * (METRICS - 1) // 2
    settings: dict[str, Any] = {"permutations": SPEED_PERMUTATIONS, "seed": SEED}

    def of_items(people: PlacedScores, given: PlacedScores) -> Any:
        return all_pairs.all_pairs_of_items(
            people.scores[0], given.scores, given.system, given.dialogue, **settings
        )

    def of_systems(*names: Any) -> Any:
        return all_pairs.all_pairs_of_systems(human, metrics, SYSTEMS, None, names, **settings)

    all_pairs.ENOUGH = SPEED_PERMUTATIONS + 1  # every pair sees all permutations, as the peer's
    parts: dict[str, tuple[Callable[[], Any], Callable[[], FloatArray]]] = {
        "turn level, r": (lambda: of_items(human, metrics), lambda: peer_items(human, metrics)),
        "dialogue level, r": (lambda: of_items(*grids), lambda: peer_items(*grids)),
        "system level, r": (
            lambda: of_systems("pearson"),
            lambda: peer_systems(human, metrics, "pearson"),
        ),
        "system level, ρ and τ-b": (
            lambda: of_systems("spearman", "kendall"),
            lambda: (
                peer_systems(human, metrics, "spearman") + peer_systems(human, metrics, "kendall")
            ),
        ),
    }
    print(
        f"{pairs} pairs of {METRICS} metrics × {SPEED_PERMUTATIONS:,} permutations; "
        f"{len(human.system):,} responses"
    )
    whole, whole_peer = np.zeros(2), np.zeros(2)
    for name, (ours, peer) in parts.items():
        taken, _ = seconds(ours)
        other = peer() * pairs * SPEED_PERMUTATIONS
        whole, whole_peer = whole + taken, whole_peer + other
        show(name, taken, other)
    show("all", whole, whole_peer)


def show(name: str, ours: FloatArray, peer: FloatArray) -> None:
    for kind, own, other in zip(("wall", "processor"), ours, peer, strict=True):
        print(
            f"{name:<26}{kind:<11}{own:>8.2f} s   scipy loop {other:>10,.0f} s "
            f"{other / own:>8,.0f}×",
            flush=True,
        )


def peer_items(human: PlacedScores, metrics: PlacedScores, timed: int = 40) -> FloatArray:
    """Seconds of one permutation of one pair, with scipy."""
    people, rows = human.scores[0], [standardised(row) for row in metrics.scores[:2]]
    systems, dialogues = int(metrics.system.max()) + 1, int(metrics.dialogue.max()) + 1
    coins = toss(systems, dialogues, SPEED_PERMUTATIONS, SEED)

    def loop() -> FloatArray:
        found = []
        for s, d in zip(coins.systems[:timed], coins.dialogues[:timed], strict=True):
            swap = s[metrics.system] != d[metrics.dialogue]
            one, other = np.where(swap, rows[1], rows[0]), np.where(swap, rows[0], rows[1])
            found.append(SCIPY["pearson"](people, one)[0] - SCIPY["pearson"](people, other)[0])
        return np.array(found)

    taken, found = seconds(loop)
    ours = SwappedItems(people, np.array(rows), metrics.system, metrics.dialogue).differences(
        coins, *PAIR
    )[:timed, 0]
    np.testing.assert_allclose(ours, found, rtol=0, atol=1e-8)
    return taken / timed


def peer_systems(
    human: PlacedScores, metrics: PlacedScores, name: str, timed: int = 40
) -> FloatArray:
    rows = [standardised(row) for row in metrics.scores[:2]]
    people = human.scores[0].reshape(SYSTEMS, -1).mean(axis=1)
    coins = toss(SYSTEMS, 15, SPEED_PERMUTATIONS, SEED)

    def loop() -> FloatArray:
        found = []
        for s, d in zip(coins.systems[:timed], coins.dialogues[:timed], strict=True):
            swap = s[metrics.system] != d[metrics.dialogue]
            pair = np.where(swap, rows[1], rows[0]), np.where(swap, rows[0], rows[1])
            one, other = (scores.reshape(SYSTEMS, -1).mean(axis=1) for scores in pair)
            found.append(SCIPY[name](people, one)[0] - SCIPY[name](people, other)[0])
        return np.array(found)

    taken, _ = seconds(loop)
    return taken / timed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="the table of type-I errors alone")
    parser.add_argument("--speed", action="store_true", help="the speed alone")
    parser.add_argument("--corpora", type=int, default=CORPORA)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    chosen = parser.parse_args()
    if not chosen.errors:
        speed()
    if not chosen.speed:
        errors(chosen.corpora, chosen.shape or list(SHAPES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
