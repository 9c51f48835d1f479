"""What it would take to tell systems apart that stand next to each other on the board."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion
from leaderboard.analyses.kinds import registered
from leaderboard.queries.human_scores import human_side, placed_human
from leaderboard.queries.system_choice import ALL, chosen_systems
from leaderboard.statistics.correlation.placed_scores import FloatArray, system_sums
from leaderboard.statistics.design import Design
from leaderboard.statistics.significance.power import LEVEL, POWER, needed_to_separate

METHOD = (
    "{test}, two-sided at 5 %, power 80 %, the difference seen taken as the true one; rater noise "
    "from the spread of ratings about each item's mean"
)
PAIRED, UNPAIRED = (
    "paired t test over dialogues",
    "Welch's t test over the dialogues of each system",
)


@registered("separating", version=3)
def separating(version: CorpusVersion, aspect: str, systems: str = ALL) -> dict[str, Any]:
    """Neighbours by mean human score, best first: ``pairs``: ``[{"better", "worse", "difference",
    "dialogues", "ratings", "dialogues_needed", "ratings_needed", "reason", "is_paired"}]``.

    ``dialogues`` and ``ratings`` (an item, on average) are today's; ``dialogues_needed`` goes with
    today's ratings, ``ratings_needed`` with today's dialogues; null with the ``reason``. Numbers at
    or below today's say that the data are enough already. Of an unpaired pair dialogues are those
    of each system.
    """
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    items = human.at("system")
    document: dict[str, Any] = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": systems,
        "power": POWER,
        "level": LEVEL,
        "method": METHOD.format(test=PAIRED),
        "pairs": [],
    }
    if items is None:
        return document | {"reason": "nobody rated"}
    placed = placed_human(items)
    sums = system_sums(
        placed.scores[0],
        placed.system,
        placed.dialogue,
        len(chosen),
        int(placed.dialogue.max(initial=-1)) + 1,
    )
    means, grid = sums.means(), sums.dialogue_means()
    order = [int(place) for place in np.argsort(-means, kind="stable") if np.isfinite(means[place])]
    noise = _noise(items, len(chosen), grid.shape[1])
    for better, worse in pairwise(order):
        variance, ratings = _of_difference(noise, sums.count, better, worse)
        found = needed_to_separate(grid[better], grid[worse], variance, ratings)
        document["pairs"].append(
            {
                "better": chosen[better].name,
                "worse": chosen[worse].name,
                "difference": found.difference,
                "dialogues": found.dialogues,
                "ratings": found.ratings,
                "dialogues_needed": found.dialogues_needed,
                "ratings_needed": found.ratings_needed,
                "reason": found.reason,
                "is_paired": found.is_paired,
            }
        )
    tests = {True: PAIRED, False: UNPAIRED}
    used = sorted({pair["is_paired"] for pair in document["pairs"]}, reverse=True) or [True]
    return document | {"method": METHOD.format(test=" or ".join(tests[one] for one in used))}


def _noise(
    items: RatedItems, systems: int, dialogues: int
) -> tuple[float, FloatArray, float] | None:
    """(the variance of single ratings about their item's mean, 1 / ratings summed over the items of
    each (system, dialogue), ratings an item on average); None where ratings are means, or no item
    has two."""
    scores = items.matrix.scores
    given = ~np.isnan(scores)
    count = given.sum(axis=0)
    if items.matrix.rater_kind == "aggregate" or not (count > 1).any():
        return None
    centre = np.where(given, scores, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(given, scores - centre, 0.0) ** 2).sum()
    variance = float(squares / (count - 1)[count > 1].sum())
    rated = count > 0
    cell = items.system[rated] * dialogues + items.dialogue[rated]
    shares: FloatArray = np.bincount(
        cell, weights=1.0 / count[rated], minlength=systems * dialogues
    ).astype(np.float64)
    return variance, shares.reshape(systems, dialogues), float(count[rated].mean())


def _of_difference(
    noise: tuple[float, FloatArray, float] | None, items: FloatArray, better: int, worse: int
) -> tuple[float | None, float | None]:
    """(what one rating an item would add to the variance of a dialogue's difference, ratings an
    item)."""
    if noise is None:
        return None, None
    variance, shares, ratings = noise
    has = items[[better, worse]] > 0
    if not has.any(axis=1).all():
        return None, None
    if Design(has).is_paired(0, 1):
        has = np.broadcast_to(has.all(axis=0), has.shape)
    # The noise of a dialogue's mean over n items is σ² · Σ(1/k) / n²; scaled by k it is that of one
    # rating an item.
    added = [
        shares[one, own] / items[one, own] ** 2
        for one, own in zip((better, worse), has, strict=True)
    ]
    return variance * float(added[0].mean() + added[1].mean()) * ratings, ratings
