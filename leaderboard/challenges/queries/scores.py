"""What people have handed in for a corpus version as scores of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count

from annotations.corpora.queries import corpora_with_hidden_references, select_systems
from annotations.models import CorpusVersion
from common.roles import is_organiser
from leaderboard.challenges.files.formats import Format
from leaderboard.challenges.files.scores import MetricLevel
from leaderboard.challenges.files.template import score_template
from leaderboard.challenges.models import Submission
from leaderboard.challenges.queries.attempts import day_of
from leaderboard.challenges.validation import answered_places, layout_of
from leaderboard.models import SubmittedMetric


def submitted_metrics(version: CorpusVersion) -> list[SubmittedMetric]:
    """Those that are shown, in the order in which they came, each with ``system_count``."""
    shown = version.submitted_metrics.filter(withdrawn_at__isnull=True).select_related(
        "owner", "version__corpus"
    )
    return list(shown.annotate(system_count=Count("scores")).order_by("pk"))


def files_under_way(version: CorpusVersion, user: Any) -> list[Submission]:
    """Files of this version that have not become a metric, at work or ended without one, newest
    first: the user's own; for organisers everybody's."""
    if not user.is_authenticated:
        return []
    sent = Submission.objects.filter(kind=Submission.Kind.SCORES, version=version).select_related(
        "user"
    )
    seen = sent if is_organiser(user) else sent.filter(user=user)
    return list(seen.exclude(state=Submission.State.SCORED).order_by("-pk")[:20])


def score_files_left(user: Any, now: datetime) -> int:
    """How many files of scores the user may still hand in today (UTC)."""
    counted = Submission.objects.filter(
        kind=Submission.Kind.SCORES, user=user, day=day_of(now), day_place__isnull=False
    )
    return max(0, settings.SCORE_FILES_PER_DAY - counted.count())


def takes_scores(version: CorpusVersion) -> bool:
    """Not while a round hides the corpus's references."""
    return not corpora_with_hidden_references().filter(pk=version.corpus_id).exists()


def template_of_scores(version: CorpusVersion, level: MetricLevel, format: Format) -> Iterator[str]:
    """A row for everything that a metric of the level may score, in pieces; scores are empty."""
    systems, layout = select_systems(version), layout_of(version.pk)
    answered = answered_places(version, systems, level, layout)
    return score_template(level, layout, [system.name for system in systems], format, answered)
