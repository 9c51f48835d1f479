"""PRD's scorer: the score of one seed or the mean over several, and how far it moves between
seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from common.estimates import Undefined
from workers.metrics.base import OptionValue
from workers.metrics.pair_features import AgainstPeople, Comparison, Points
from workers.metrics.precision_recall import CLUSTERS, RUNS, Curves, precision_recall_curves

EVERY_ANGLE_OF_A_PLOT = 10


def prd_scorer(options: Mapping[str, OptionValue]) -> AgainstPeople:
    """Build PRD's scorer.

    Args:
        options: ``model``, ``layer``, ``seed`` (the first) and ``seeds`` (how many, one after
            another).

    Returns:
        A scorer whose score is the mean over the seeds, in [0, 1]; ``Undefined`` where both sides
        together have fewer responses than there are clusters.

    Raises:
        ValueError: a seed is not between 0 and 2³² − 1, or the number of seeds not between 1 and
            1,000.
    """
    first, count = int(options["seed"]), int(options["seeds"])
    if first < 0 or first + count > 2**32:
        raise ValueError(f"prd: seeds are 0 to 4294967295, not {first} to {first + count - 1}")
    if not 1 <= count <= 1000:
        raise ValueError(f"prd: seeds must be 1 to 1000, not {count}")

    def compare(system: Points, people: Points) -> Comparison:
        points = len(system) + len(people)
        if points < CLUSTERS:
            return Comparison(
                Undefined(
                    f"both sides together have {points} responses: {CLUSTERS} clusters need more"
                )
            )
        by_seed = [
            precision_recall_curves(system, people, seed) for seed in range(first, first + count)
        ]
        scores = [curves.score for curves in by_seed]
        return Comparison(float(np.mean(scores)), _details(first, scores, by_seed))

    return AgainstPeople(str(options["model"]), int(options["layer"]), compare)


def _details(first: int, scores: Sequence[float], by_seed: Sequence[Curves]) -> dict[str, Any]:
    if len(scores) > 1:
        spread = {
            "sd_between_seeds": float(np.std(scores, ddof=1)),
            "sd_from": f"{len(scores)} seeds",
        }
    else:
        spread = {
            "sd_between_seeds": by_seed[0].spread,
            "sd_from": f"jackknife over the {RUNS} runs of one seed",
        }
    return {
        "seed": first,
        "seeds": len(scores),
        "runs": RUNS,
        **spread,
        "seed_scores": list(scores),
        "curve": {
            "precision": _of_a_plot([curves.precision for curves in by_seed]),
            "recall": _of_a_plot([curves.recall for curves in by_seed]),
        },
    }


def _of_a_plot(curves: Sequence[Any]) -> list[float]:
    mean = np.mean(curves, axis=(0, 1))[::EVERY_ANGLE_OF_A_PLOT]
    return [round(float(value), 5) for value in mean]
