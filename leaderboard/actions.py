"""Every write to metrics whose scores were handed in. Those to stored answers:
``analyses.rows``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion
from common.text import text_fault
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.results.rows import drop

LONGEST_NAME = 80
METRIC_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""As of built-in metrics: it stands in commands, addresses and files."""
LONGEST_WITHDRAWAL = 500
ROWS_AT_A_TIME = 20
"""A system's scores are one row, which may hold a hundred thousand of them."""


class NameTaken(Exception):
    """A submitted metric of this corpus version has the name, in whatever case."""


@dataclass(frozen=True, slots=True)
class Described:
    """What its sender says of a metric, checked."""

    name: str
    level: str
    higher_is_better: bool = True
    link: str = ""


def store_submitted_metric(
    version: CorpusVersion,
    owner: Any,
    described: Described,
    sha256: str,
    scores: Mapping[int, Sequence[float | None]],
) -> SubmittedMetric:
    """``scores``: by the system's key, in the order of the version's turns or dialogues, None where
    none was given; at system level a list of one. Raises ``NameTaken``. Call it in a transaction
    with what else must be true of it."""
    try:
        with transaction.atomic():
            metric = SubmittedMetric.objects.create(
                version=version,
                owner=owner,
                sha256=sha256,
                name=described.name,
                level=described.level,
                higher_is_better=described.higher_is_better,
                link=described.link,
            )
    except IntegrityError:
        raise NameTaken(described.name) from None
    is_of_systems = described.level == SubmittedMetric.Level.SYSTEM
    SubmittedScores.objects.bulk_create(
        (
            SubmittedScores(
                metric=metric,
                system_id=system,
                scores=[] if is_of_systems else list(given),
                system_score=_mean(given),
            )
            for system, given in scores.items()
        ),
        batch_size=ROWS_AT_A_TIME,
    )
    data_changed([version.pk])
    return metric


def copy_submitted_metrics(
    systems: Mapping[int, int], older: CorpusVersion, newer: CorpusVersion
) -> None:
    """Submitted metrics of an older version for one that was made of it, with the scores of systems
    that have the same responses in both (keys of the older version to those of the newer)."""
    shown = older.submitted_metrics.filter(withdrawn_at__isnull=True).select_related("owner")
    for metric in shown.order_by("pk"):
        rows = metric.scores.filter(system__in=list(systems))
        scores = {
            systems[row.system_id]: row.scores
            if metric.level != SubmittedMetric.Level.SYSTEM
            else [row.system_score]
            for row in rows
        }
        described = Described(metric.name, metric.level, metric.higher_is_better, metric.link)
        with suppress(NameTaken):
            store_submitted_metric(newer, metric.owner, described, metric.sha256, scores)


def _mean(scores: Sequence[float | None]) -> float | None:
    """As of a metric run: over what is scored."""
    defined = [score for score in scores if score is not None]
    return math.fsum(defined) / len(defined) if defined else None


def withdraw_submitted_metric(metric: SubmittedMetric, reason: str) -> bool:
    """It stands on no leaderboard any more; its row and its scores are kept, and its name is free.
    False where it was withdrawn before. Raises ``ValueError`` for a reason that is empty or too
    long."""
    reason = reason.strip()
    if fault := text_fault(reason, LONGEST_WITHDRAWAL):
        raise ValueError(f"the reason {fault}")
    with transaction.atomic():
        withdrawn = SubmittedMetric.objects.filter(pk=metric.pk, withdrawn_at__isnull=True).update(
            withdrawn_at=timezone.now(), withdrawal=reason
        )
        if withdrawn:
            data_changed([metric.version_id])
            drop([metric.version_id])
    return bool(withdrawn)
