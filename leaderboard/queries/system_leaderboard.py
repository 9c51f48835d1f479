"""What the system leaderboard stores: how systems stand, and where each metric's order of them
misses people's."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotations.models import CorpusVersion
from common.estimates import Estimate
from leaderboard.analyses.kinds import registered
from leaderboard.queries.correlations import metric_means
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.gold import compares_gold_with_itself, gold_among
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.queries.standing import MEANS_CI, system_standing
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import ALL, chosen_systems, resolve_choice, with_choice
from leaderboard.queries.time_line import handed_in_at
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.ranking.rank_differences import rank_differences
from leaderboard.statistics.ranking.system_ranking import rank_systems

PLACES = ("place", "best", "worst")


@registered("systems", version=3)
def system_leaderboard(version: CorpusVersion, aspect: str, systems: str = ALL) -> dict[str, Any]:
    """``system_standing`` of a choice of systems, with ``"systems_chosen"``: all, agents, …, and
    ``"handed_in"``: by position, when a system came that was handed in."""
    chosen = chosen_systems(version, systems)
    document = system_standing(version, aspect, chosen)
    document["systems_chosen"] = systems
    times = handed_in_at(version, chosen)
    document["handed_in"] = {
        str(one.position): times[one.pk].isoformat() for one in chosen if one.pk in times
    }
    return document


@registered("misleading-metrics", version=1, resolved=with_choice)
def misleading_metrics(
    version: CorpusVersion, aspect: str, systems: str | None = None
) -> dict[str, Any]:
    """Every metric's places of the systems beside people's; see ``RankDifferences``.

    ``metrics``: ``{"metric", "higher_is_better", "placed", "misled", "worst", "rows"}``; a row is
    ``[position, people's place, best, worst, the metric's place, best, worst, difference, beyond]``
    of a system that both scored, without the gold answers where the metric would hold them against
    themselves.
    """
    systems = resolve_choice(version, systems)
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    items = human.at("system")
    document: dict[str, Any] = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": systems,
        "ci": MEANS_CI,
        "resamples": RESAMPLES,
        "seed": SEED,
        "systems": [
            {"system": one.name, "kind": one.kind, "position": one.position} for one in chosen
        ],
        "metrics": [],
    }
    if items is None:
        return document
    scale = scale_of(version, aspect)
    people = _ends(
        [
            rank.mean
            for rank in rank_systems(
                placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale
            )
        ]
    )
    scores = compared_scores(version, chosen, human.order)
    gold = gold_among(version, chosen)
    for row, metric in enumerate(scores.configurations):
        means = _ends(metric_means(human, scores.select([row])))
        means[0][[compares_gold_with_itself(metric, system, gold) for system in chosen]] = np.nan
        found = rank_differences(people, means, higher_is_better=metric.higher_is_better)
        document["metrics"].append(
            {
                "metric": metric.text,
                "higher_is_better": metric.higher_is_better,
                "placed": int(found.is_placed.sum()),
                "misled": found.misled,
                "worst": found.worst,
                "rows": [
                    [
                        chosen[number].position,
                        *(int(getattr(found.human, name)[number]) for name in PLACES),
                        *(int(getattr(found.metric, name)[number]) for name in PLACES),
                        int(found.difference[number]),
                        int(found.beyond[number]),
                    ]
                    for number in np.flatnonzero(found.is_placed)
                ],
            }
        )
    return document


def _ends(estimates: list[Estimate]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(means, lower ends, upper ends), NaN where there is none."""
    low, high = (
        np.array([np.nan if one.ci is None else one.ci[end] for one in estimates], dtype=np.float64)
        for end in (0, 1)
    )
    return np.array([one.value for one in estimates], dtype=np.float64), low, high
