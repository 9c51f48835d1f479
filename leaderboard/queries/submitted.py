"""Metrics whose scores were computed elsewhere and handed in, as the leaderboards read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from annotations.corpora.rating_queries import TurnOrder
from annotations.models import CorpusVersion, System
from leaderboard.answers import Submission
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.finished_runs import metric_scores
from workers.metrics.base import Level
from workers.metrics.common.configuration import parse, parts_of_list, written_signature
from workers.metrics.registry import all_metrics

NOT_HANDED_IN = "the file that was submitted has no score for this system"
_LEVELS: dict[str, frozenset[Level]] = {
    "turn": frozenset({"turn", "dialogue", "system"}),
    "dialogue": frozenset({"dialogue", "system"}),
    "system": frozenset({"system"}),
}


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submitted metric as a ``ComparedMetric``. Scores of turns are averaged for dialogues and
    systems, scores of dialogues for systems; nothing is made of scores of systems."""

    name: str
    level: str
    higher_is_better: bool
    owner: str
    sha256: str
    link: str = ""
    value_range: tuple[float | None, float | None] = (None, None)

    @classmethod
    def of(cls, metric: SubmittedMetric) -> HandedIn:
        owner = metric.owner.get_username() if metric.owner else "a former user"
        return cls(
            metric.name, metric.level, metric.higher_is_better, owner, metric.sha256, metric.link
        )

    @property
    def text(self) -> str:
        """Its name; where a metric of that name has been built in since, the name with a remark."""
        return f"{self.name} (submitted)" if self.name in all_metrics() else self.name

    @property
    def levels(self) -> frozenset[Level]:
        return _LEVELS[self.level]

    def signature(self, **facts: object) -> str:
        parts = [
            ("metric", self.name),
            ("submitted_by", self.owner),
            ("scores_of", f"{self.level}s"),
            ("file_sha256", self.sha256),
        ]
        return written_signature(parts, facts)

    @property
    def submission(self) -> Submission:
        return Submission(by=self.owner, level=self.level, link=self.link, file_sha256=self.sha256)


def shown_submitted_metrics(version: CorpusVersion) -> QuerySet[SubmittedMetric]:
    """Those that are not withdrawn, in the order in which they came."""
    return (
        version.submitted_metrics.filter(withdrawn_at__isnull=True)
        .select_related("owner")
        .order_by("pk")
    )


def compared_scores(
    version: CorpusVersion,
    systems: Sequence[System],
    order: TurnOrder,
    only: Sequence[str] | None = None,
) -> MetricScores:
    """Finished runs, then submitted metrics. ``only`` names those to read, where others are not
    wanted."""
    part = order.slice_of
    whole = part.whole if part else order
    scores = metric_scores(systems, len(whole.turn_pks), only).followed_by(
        submitted_scores(version, systems, whole, only)
    )
    return scores.within(part) if part else scores


def submitted_scores(
    version: CorpusVersion,
    systems: Sequence[System],
    order: TurnOrder,
    only: Sequence[str] | None = None,
) -> MetricScores:
    found = [(one.pk, HandedIn.of(one)) for one in shown_submitted_metrics(version)]
    if only is not None:
        found = [(pk, metric) for pk, metric in found if metric.text in only]
    row_of = {pk: row for row, (pk, _) in enumerate(found)}
    index_of = {system.pk: place for place, system in enumerate(systems)}
    shape = len(found), len(systems)
    turn = np.full((*shape, len(order.turn_pks)), np.nan)
    dialogue = np.full((*shape, len(order.dialogue_pks)), np.nan)
    system = np.full(shape, np.nan)
    done = np.zeros(len(found), dtype=np.int64)
    rows = SubmittedScores.objects.filter(metric__in=list(row_of), system__in=list(index_of))
    for metric, of_system, scores, system_score in rows.values_list(
        "metric_id", "system_id", "scores", "system_score"
    ):
        at = row_of[metric], index_of[of_system]
        level = found[at[0]][1].level
        if level != "system":
            # None becomes NaN
            (turn if level == "turn" else dialogue)[at] = np.array(scores, dtype=np.float64)
        if system_score is not None:
            system[at] = system_score
        done[at[0]] += 1
    return MetricScores(
        tuple(metric for _, metric in found), tuple(systems), turn, system, done, dialogue
    )


def named_metrics(version: CorpusVersion, written: str) -> list[str]:
    """``a,b[c=1],d`` as the leaderboards call them, each once. Raises ``ConfigurationError`` for a
    name that is neither a metric here nor a submitted one of this version."""
    handed_in = {HandedIn.of(one).text for one in shown_submitted_metrics(version)}
    return list(
        dict.fromkeys(
            part if part in handed_in else parse(part).text for part in parts_of_list(written)
        )
    )
