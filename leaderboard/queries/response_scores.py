"""What people, or a metric, gave every response of a corpus version."""

from __future__ import annotations

import math
from dataclasses import dataclass

from annotations.corpora.queries import NotFound, select_systems
from annotations.corpora.rating_queries import rated_items, turn_order
from annotations.formats.records import Level
from annotations.formats.subset import Place
from annotations.models import CorpusVersion
from leaderboard.queries.exported_scores import exported_scores
from leaderboard.queries.submitted import HandedIn, named_metrics, shown_submitted_metrics
from workers.metrics.common.configuration import parse, still_there
from workers.models import MetricRun
from workers.runs.queries import runs_of

HUMAN = "human"
"""In a metric's place: the mean over raters."""


@dataclass(frozen=True, slots=True)
class ResponseScores:
    """Undefined scores are left out."""

    of: str
    by_place: dict[Place, float]
    higher_is_better: bool = True


def response_scores(version: CorpusVersion, of: str, aspect: str) -> ResponseScores:
    """``of``: a configuration that is computed, a submitted metric, or ``HUMAN``.

    Raises ``ConfigurationError`` for an unknown metric, NotFound where no response has a score.
    """
    if of == HUMAN:
        found = ResponseScores(HUMAN, human_scores(version, aspect, "turn"))
    else:
        names = named_metrics(version, of)
        if len(names) != 1:
            raise NotFound(f"{of!r} names no single metric")
        found = _metric_scores(version, names[0])
    if not found.by_place:
        reason = (
            f"nobody rated turns of {version.corpus.slug}"
            if of == HUMAN
            else (f"{found.of} has no scores of responses of {version.corpus.slug}")
        )
        raise NotFound(reason)
    return found


def metrics_of_responses(version: CorpusVersion) -> list[str]:
    """Names of finished configurations and submitted metrics that score responses."""
    finished = (
        runs_of(version)
        .filter(state=MetricRun.State.DONE)
        .order_by("configuration")
        .values_list("configuration", "metric_version")
        .distinct()
    )
    computed = [still_there(*one) for one in finished]
    submitted = map(HandedIn.of, shown_submitted_metrics(version))
    return [one.text for one in (*computed, *submitted) if one and "turn" in one.levels]


def human_scores(version: CorpusVersion, aspect: str, level: Level) -> dict[Place, float]:
    """Means over raters; of dialogues the turn is −1."""
    items = rated_items(version, aspect, level, select_systems(version))
    numbers = turn_order(version).numbers
    return {
        (
            items.dialogue_ids[dialogue],
            int(numbers[turn]) if turn >= 0 else -1,
            items.systems[system].name,
        ): float(mean)
        for system, dialogue, turn, mean in zip(
            items.system, items.dialogue, items.turn, items.human_means(), strict=True
        )
        if not math.isnan(mean)
    }


def _metric_scores(version: CorpusVersion, name: str) -> ResponseScores:
    by_place: dict[Place, float] = {}
    higher = True
    for record in exported_scores(version):
        if record.metric != name:
            continue
        higher = (
            record.submitted.higher_is_better
            if record.submitted
            else (parse(name).higher_is_better)
        )
        for (dialogue, turn), score in record.turn_scores.items():
            if score is not None:
                by_place[dialogue, turn, record.system] = score
    return ResponseScores(name, by_place, higher)
