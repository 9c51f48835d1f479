"""How often 95 % intervals of a mean hold near the end of a scale: ``python -m
bench.bounded_means``.

Ratings from 1 to 5 of a system, most of them the highest, in dialogues that differ in how many are
(a beta distribution of mean p and p(1 − p) / 7 of variance). Compared: Student's interval from
leaving out dialogues, cut at the ends of the scale; and the site's, which is Student's where it
lies within the scale, else Wilson's of the same variance, and of ten dialogues or more that are all
alike as far as others may pull the mean.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.ranking.system_ranking import rank_systems

SHARES = ((0.05, 0.10, 0.25, 0.60), (0.02, 0.03, 0.15, 0.80), (0.00, 0.01, 0.04, 0.95))
"""Of the ratings 2, 3, 4 and 5."""
DIALOGUES = (4, 8, 15, 30, 60)
EACH = 2
SCALE = (1.0, 5.0)


def ratings_of(
    shares: tuple[float, ...], dialogues: int, systems: int, random: np.random.Generator
) -> PlacedScores:
    """Systems of the same make, in dialogues of their own."""
    highest = random.beta(6 * shares[-1], 6 * (1 - shares[-1]), (systems, dialogues, 1))
    lower = np.array(shares[:-1]) / sum(shares[:-1])
    others = random.choice((2.0, 3.0, 4.0), size=(systems, dialogues, EACH), p=lower)
    scores = np.where(random.random(others.shape) < highest, 5.0, others).reshape(1, -1)
    system = np.repeat(np.arange(systems), dialogues * EACH)
    dialogue = np.tile(np.repeat(np.arange(dialogues), EACH), systems)
    return PlacedScores(scores, system, dialogue)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--systems", type=int, default=4000, help="of each mean and number of dialogues"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    print(f"{options.systems:,} systems each, {EACH} ratings a dialogue, seed {options.seed}\n")
    print(
        "| true mean | dialogues | no interval | Student's leaves the scale | held, cut | held, "
        "site |"
    )
    print("|---|---|---|---|---|---|")
    for shares in SHARES:
        true = float(np.dot(shares, (2, 3, 4, 5)))
        for dialogues in DIALOGUES:
            placed = ratings_of(shares, dialogues, options.systems, random)
            plain = [one.mean for one in rank_systems(placed, options.systems)]
            bounded = [one.mean.ci for one in rank_systems(placed, options.systems, bounds=SCALE)]
            # Of dialogues that are all alike Student's interval has no width
            made = [
                (student.ci or (student.value, student.value), ends)
                for student, ends in zip(plain, bounded, strict=True)
                if ends is not None
            ]
            beyond = np.mean([student[1] > SCALE[1] for student, _ in made])
            held = [
                np.mean([ends[0] <= true <= ends[1] for ends in column])
                for column in zip(*made, strict=True)
            ]
            shown = (1 - len(made) / options.systems, beyond, *held)
            print(
                f"| {true:.2f} | {dialogues} | "
                + " | ".join(f"{100 * one:.1f} %" for one in shown)
                + " |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
