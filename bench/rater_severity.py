"""What correcting for severity is worth: ``python -m bench.rater_severity [--corpora 150]``.

Made corpora whose truth is known. Printed, for each shape: the share of 95 % intervals that hold
the true mean, raw (t over dialogues) and corrected, and of those that hold a rater's true severity;
the error of differences between systems; and how long 31,185 ratings of ComperDial's shape take.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from leaderboard.statistics.ranking.crossed_ratings import CrossedRatings
from leaderboard.statistics.ranking.rater_severity import SeverityCorrected, correct_severity

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """``shared``: neighbouring systems are judged by the same few raters; else anybody judges
    anything."""

    dialogues: int
    turns: int
    raters: int
    shared: bool
    systems: int = 8


SHAPES = (
    Shape(15, 7, 12, shared=True),
    Shape(15, 1, 6, shared=True),
    Shape(40, 1, 6, shared=False),
)
EACH = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=int, default=150)
    asked = parser.parse_args()
    for shape in SHAPES:
        _measure(shape, asked.corpora)
    ratings, _, _ = _made(0, Shape(15, 7, 200, shared=True, systems=99))
    started = time.perf_counter()
    correct_severity(ratings)
    print(f"{len(ratings.scores):,} ratings: {time.perf_counter() - started:.2f} s")


def _measure(shape: Shape, corpora: int) -> None:
    held: dict[str, list[bool]] = {"raw": [], "corrected": [], "severity": []}
    errors = []
    for seed in range(corpora):
        ratings, means, severity = _made(seed, shape)
        found = correct_severity(ratings)
        assert isinstance(found, SeverityCorrected)
        raw, half = _raw(ratings)
        corrected = np.array([one.value for one in found.systems], dtype=float)
        held["raw"] += list(np.abs(raw - means) <= half)
        for name, estimates, truth in (
            ("corrected", found.systems, means),
            ("severity", found.severity, severity),
        ):
            held[name] += [
                one.ci[0] <= true <= one.ci[1]
                for one, true in zip(estimates, truth, strict=True)
                if one.ci
            ]
        errors.append([np.var(one - means) for one in (raw, corrected)])
    error = np.sqrt(np.mean(errors, axis=0))
    shares = ", ".join(f"{name} {np.mean(one):.1%}" for name, one in held.items())
    print(f"{shape}: held: {shares}; error raw {error[0]:.3f}, corrected {error[1]:.3f}")


def _made(seed: int, shape: Shape) -> tuple[CrossedRatings, Numbers, Numbers]:
    """Ratings, true means as the panel's mean rater gives them, true severities."""
    systems, dialogues, raters = shape.systems, shape.dialogues, shape.raters
    random = np.random.default_rng(seed)
    severity = random.normal(0, 0.5, raters)
    means = random.normal(3, 0.4, systems)
    system, dialogue = (
        np.repeat(grid.ravel(), shape.turns) for grid in np.mgrid[:systems, :dialogues]
    )
    count = len(system)
    quality = (
        means[system] + random.normal(0, 0.3, dialogues)[dialogue] + random.normal(0, 0.6, count)
    )
    window = max(raters // 4, EACH) if shape.shared else raters
    first = system * raters // systems if shape.shared else np.zeros(count, dtype=np.int64)
    picked = np.argsort(random.random((count, window)), axis=1)[:, :EACH]
    rater = ((first[:, np.newaxis] + picked) % raters).ravel()
    item = np.repeat(np.arange(count), EACH)
    scores = quality[item] - severity[rater] + random.normal(0, 0.7, len(item))
    ratings = CrossedRatings(
        scores, system[item], dialogue[item], item, rater, systems, dialogues, raters
    )
    return ratings, means - severity.mean(), severity - severity.mean()


def _raw(ratings: CrossedRatings) -> tuple[Numbers, Numbers]:
    """Raw means, and half of their t intervals over dialogues."""
    total, count = np.zeros((2, ratings.systems, ratings.dialogues))
    np.add.at(total, (ratings.system, ratings.dialogue), ratings.scores)
    np.add.at(count, (ratings.system, ratings.dialogue), 1)
    means = total.sum(axis=1) / count.sum(axis=1)
    errors = (total - means[:, np.newaxis] * count) / count.sum(axis=1, keepdims=True)
    freedom = ratings.dialogues - 1
    variance = (errors**2).sum(axis=1) * ratings.dialogues / freedom
    return means, float(stats.t.ppf(0.975, freedom)) * np.sqrt(variance)


if __name__ == "__main__":
    main()
