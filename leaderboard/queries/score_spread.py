"""How the scores of a metric are spread over what it scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, Turn
from leaderboard.analyses.kinds import registered
from leaderboard.queries.compared import Finest, MetricScores, chosen_metrics
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.metric_runs import finished_runs_of
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.distribution import histogram, summary_of
from workers.queries import NOTHING_TO_SCORE


@registered("score-spread", version=1)
def score_spread(version: CorpusVersion, text: str) -> dict[str, Any]:
    """The scores of one configuration over all systems that are shown, as JSON: of its turns, or of
    dialogues or systems where it scores nothing finer; what has no score, with the reasons; how
    often it remarks what."""
    systems = select_systems(version)
    turns = Turn.objects.filter(dialogue__version=version).count()
    scores = chosen_metrics(metric_scores(systems, turns, [text]), [text])
    runs = list(
        finished_runs_of(scores.configurations[0], [version]).values_list(
            "system_reason", "undefined", "remarks"
        )  # type: ignore[arg-type]
    )
    finest = scores.finest(0)
    values = _values(scores, finest)
    reasons = (
        [reason for reason, _, _ in runs if reason] if finest == "system" else _all_values(runs, 1)
    )
    defined = values[np.isfinite(values)]
    return {
        "level": finest,
        "systems": [
            [system.name, system.position, None if np.isnan(score) else float(score)]
            for system, score in zip(systems, scores.system[0], strict=True)
        ],
        "summary": asdict(summary_of(defined)) if len(defined) else None,
        "bins": [[one.low, one.high, one.count] for one in histogram(defined)]
        if len(defined)
        else [],
        "undefined": Counter(one for one in reasons if one not in NOTHING_TO_SCORE).most_common(),
        "remarks": Counter(_all_values(runs, 2)).most_common(),
    }


def _values(scores: MetricScores, finest: Finest) -> FloatArray:
    if finest == "turn":
        return scores.turn[0]
    if finest == "dialogue" and scores.dialogue is not None:
        return scores.dialogue[0]
    return scores.system[0]


def _all_values(rows: Sequence[tuple[Any, ...]], place: int) -> list[str]:
    return [value for row in rows for value in row[place].values()]
