"""Two equally good systems, compared: how often they are told apart, and how often the 95 %
interval holds 0.

``python -m bench.system_pairs``. Scores: a dialogue (sd 0.6), what a system makes of it (0.4), a
response (0.8), and three raters (0.7 each) on a scale of 1 to 5, averaged. Crossed: both systems
answer the same dialogues; nested: each has its own; the last row shares some.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from scipy import stats

from leaderboard.statistics.significance.system_differences import compare_systems

CORPORA = 2000
Shape = tuple[int, int, int, int]
"""Dialogues of the first system, of the second, how many of these both have, and items in each."""
SHAPES: dict[str, Shape] = {
    "crossed, 15 × 7": (15, 15, 15, 7),
    "crossed, 60 × 1": (60, 60, 60, 1),
    "crossed, 12 × 7": (12, 12, 12, 7),
    "crossed, 5 × 7": (5, 5, 5, 7),
    "nested, 15 and 15 × 7": (15, 15, 0, 7),
    "nested, 60 and 60 × 1": (60, 60, 0, 1),
    "nested, 8 and 30 × 7": (8, 30, 0, 7),
    "nested, 5 and 5 × 7": (5, 5, 0, 7),
    "partly crossed, 20 and 20, 5 shared, × 3": (20, 20, 5, 3),
}


def corpus(shape: Shape, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first, second, dialogue) of all items, NaN where a system has none."""
    own, others, shared, items = shape
    dialogues = own + others - shared
    quality = random.normal(3, 0.6, dialogues)
    scores = np.full((2, dialogues, items), np.nan)
    for number, of_system in enumerate((slice(0, own), slice(own - shared, dialogues))):
        size = len(quality[of_system]), items
        heard = (
            quality[of_system, None]
            + random.normal(0, 0.4, (size[0], 1))
            + random.normal(0, 0.8, size)
        )
        ratings = np.clip(np.round(heard[..., None] + random.normal(0, 0.7, (*size, 3))), 1, 5)
        scores[number, of_system] = ratings.mean(axis=-1)
    return scores[0].ravel(), scores[1].ravel(), np.repeat(np.arange(dialogues), items)


def measured(shape: Shape, corpora: int, seed: int = 0) -> tuple[float, float, float]:
    """The shares of corpora whose interval holds 0, that are told apart at 5 %, and whose interval
    by a t test of items (paired where crossed) holds 0."""
    random = np.random.default_rng(seed)
    held, rejected, of_items = 0, 0, 0
    for number in range(corpora):
        first, second, dialogue = corpus(shape, random)
        found = compare_systems(first, second, dialogue, permutations=1999, seed=number).difference
        assert found.ci is not None
        assert found.p is not None
        held += found.ci[0] <= 0 <= found.ci[1]
        rejected += found.p <= 0.05
        both = np.isfinite(first) & np.isfinite(second)
        if shape[0] == shape[2]:
            p = stats.ttest_rel(first[both], second[both]).pvalue
        else:
            p = stats.ttest_ind(
                first[np.isfinite(first)], second[np.isfinite(second)], equal_var=False
            ).pvalue
        of_items += p > 0.05
    return held / corpora, rejected / corpora, of_items / corpora


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=CORPORA)
    corpora = parser.parse_args().corpora
    columns = ("dialogues × items in each", "coverage of the 95 % interval", "rejected at 5 %")
    print(f"| {' | '.join(columns)} | coverage of a t interval over items |")
    print("|---|---|---|---|")
    for name, shape in SHAPES.items():
        held, rejected, of_items = (f"{100 * share:.1f} %" for share in measured(shape, corpora))
        print(f"| {name} | {held} | {rejected} | {of_items} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
