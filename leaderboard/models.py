"""Stored results of meta-evaluation, computed when the data changed and read by the pages; and the
scores of metrics that were computed elsewhere."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from annotations.models import CorpusVersion, System
from common.jobs.models import Job
from common.jobs.notifications import WHEN_NOTHING_ELSE_WAITS


class Analysis(Job):
    """A statistic of a corpus version: what was asked, what came out, and of which state of the
    data. A worker computes it: ``leaderboard.results``.

    ``stamp`` and ``made_by`` are the answer's; ``tried`` holds both of the last attempt, so that
    what failed is tried again when the data or the code change, and not before.

    Submissions and their runs go first: a statistic of a million ratings takes minutes, most are
    only to be brought up to date, and what somebody waits for is computed between two runs
    (``leaderboard.signals``).
    """

    NAME = "analysis"
    TASK = "leaderboard.tasks.analyse"
    REQUESTED_AT = "waits_since"
    HAS_INDEX_OF_STATES = True
    PRIORITY = WHEN_NOTHING_ELSE_WAITS
    LOST = f"{Job.LOST}; it may need more memory or time"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="analyses")
    kind = models.CharField(max_length=40)
    question = models.CharField(
        max_length=300, help_text="The parameters in canonical form, or their digest."
    )
    parameters = models.JSONField(default=dict)
    asked_at = models.DateTimeField(
        default=timezone.now, help_text="When somebody last looked, to the minute."
    )

    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    waits_since = models.DateTimeField(
        default=timezone.now, help_text="When it was last asked to be computed."
    )
    tried = models.CharField(
        max_length=310, blank=True, help_text="Stamp and code of the last attempt."
    )
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(
        null=True, blank=True, help_text="When the last attempt ended."
    )

    answer = models.JSONField(null=True, blank=True)
    stamp = models.CharField(
        max_length=200, blank=True, help_text="The state of the data that it was computed from."
    )
    made_by = models.CharField(
        max_length=100, blank=True, help_text="Release and code that computed it."
    )
    seconds = models.FloatField(null=True, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "analyses"
        constraints = [
            models.UniqueConstraint(fields=["version", "kind", "question"], name="analysis_once"),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed"]),
                name="analysis_state",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "asked_at"], name="analysis_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.version_id}"


class SubmittedMetric(models.Model):
    """A metric that somebody computed elsewhere and handed in as scores, at one level. It stands
    beside the built-in ones; what it does not score is missing, and shown as coverage."""

    class Level(models.TextChoices):
        TURN = "turn", "turn"
        DIALOGUE = "dialogue", "dialogue"
        SYSTEM = "system", "system"

    version = models.ForeignKey(
        CorpusVersion, on_delete=models.CASCADE, related_name="submitted_metrics"
    )
    name = models.CharField(max_length=80, help_text="Not that of a built-in metric.")
    level = models.CharField(max_length=8, choices=Level)
    higher_is_better = models.BooleanField(default=True)
    link = models.URLField(max_length=300, blank=True, help_text="Where the metric is described.")
    sha256 = models.CharField(max_length=64, help_text="Of the file: the signature names it.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawal = models.CharField(
        max_length=500, blank=True, help_text="Why it is no longer shown."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(level__in=["turn", "dialogue", "system"]), name="submitted_metric_level"
            ),
            models.UniqueConstraint(
                "version",
                Lower("name"),
                condition=Q(withdrawn_at__isnull=True),
                name="submitted_metric_name_once",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | ~Q(withdrawal=""),
                name="metric_withdrawn_with_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SubmittedScores(models.Model):
    """A submitted metric's scores of one system: a list in the order of the version's turns or of
    its dialogues, null where none was given; or one score, at system level."""

    metric = models.ForeignKey(SubmittedMetric, on_delete=models.CASCADE, related_name="scores")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="submitted_scores")
    scores = models.JSONField(default=list, blank=True)
    system_score = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["metric", "system"], name="submitted_scores_once")
        ]

    def __str__(self) -> str:
        return f"{self.metric_id} of {self.system_id}"
