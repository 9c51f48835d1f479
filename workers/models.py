"""Metric runs: what is to be computed, who is at it, and what came out, in one row."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from django.db import models, transaction
from django.db.models import Q

from annotations.models import System
from common import clock
from common.jobs.models import Job
from workers.signals import run_ended


class MetricRun(Job):
    """One metric configuration × one system (and so one corpus version).

    ``turn_scores`` follows the version's turns in order
    (dialogue position, turn number); null where the score is undefined, with the reason under that
    index in ``undefined``. A metric of whole dialogues fills ``dialogue_scores`` in their place,
    and the indexes are those of dialogues.
    """

    NAME = "run"
    TASK = "workers.tasks.compute"
    QUEUE_COLUMN = "queue"
    QUEUES: ClassVar = {"cpu": "cpu", "gpu": "gpu", "llm": "llm"}
    BEGUN_AT = "started_at"
    HAS_INDEX_OF_STATES = True
    RESET: ClassVar = {"examples_done": 0}
    LOST = f"{Job.LOST}; the run may need more memory or time"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=80)
    metric_version = models.CharField(max_length=20)
    configuration = models.CharField(max_length=300, help_text="Canonical text: name[key=value,…].")
    queue = models.CharField(max_length=10)

    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    hinted_at = models.DateTimeField(
        null=True, blank=True, help_text="When a worker was last told of it."
    )
    error = models.TextField(blank=True)

    examples_done = models.PositiveIntegerField(default=0)
    examples_total = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    signature = models.TextField(blank=True)
    model = models.CharField(
        max_length=300, blank=True, help_text="Name and revision: a hash of the weights."
    )
    device = models.CharField(
        max_length=120, blank=True, help_text="Where it was computed, for people."
    )
    system_score = models.FloatField(null=True, blank=True)
    system_reason = models.CharField(
        max_length=300, blank=True, help_text="Why there is no system score."
    )
    turn_scores = models.JSONField(default=list, blank=True)
    dialogue_scores = models.JSONField(
        default=list,
        blank=True,
        help_text="Of metrics that score whole dialogues, in the version's order.",
    )
    undefined = models.JSONField(default=dict, blank=True)
    remarks = models.JSONField(
        default=dict, blank=True, help_text="By turn index: what to know about its score."
    )
    details = models.JSONField(
        default=dict, blank=True, help_text="More than a score, as its metric says it."
    )

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "metric", "metric_version", "configuration"],
                name="metric_run_identity",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed"]),
                name="metric_run_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="running_metric_run_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state="done")
                | (
                    Q(finished_at__isnull=False)
                    & ~Q(signature="")
                    & (Q(system_score__isnull=False) | ~Q(system_reason=""))
                ),
                name="done_metric_run_has_a_score_or_a_reason",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_metric_run_says_why"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "lease_expires_at"], name="metric_run_lease"),
            models.Index(fields=["state", "hinted_at"], name="metric_run_hint"),
        ]

    def __str__(self) -> str:
        return f"{self.configuration} on {self.system_id}"

    @classmethod
    def begun(cls) -> dict[str, Any]:
        return {**super().begun(), "started_at": clock.now()}

    @classmethod
    def queues_of(cls, keys: Collection[int]) -> dict[int, str]:
        queues = dict(cls.objects.filter(pk__in=keys).values_list("pk", "queue"))
        return {pk: queues[pk] for pk in keys if pk in queues}

    @classmethod
    def on_failed(cls, keys: Collection[int]) -> None:
        cls.say_on_commit(keys)

    @classmethod
    def say_on_commit(cls, keys: Collection[int]) -> None:
        """Whoever waits for runs may look now. One that fails at it, or a worker that dies before,
        is the sweep's."""

        def say() -> None:
            systems = set(cls.objects.filter(pk__in=keys).values_list("system_id", flat=True))
            run_ended.send_robust(sender=cls, run_ids=list(keys), system_ids=systems)

        transaction.on_commit(say, robust=True)


class ScoreChunk(models.Model):
    """A hundred scores of a run in a row, by their index in the chunk, for who wants a few.

    A copy that the database writes (triggers of migration 0005) when a run's lists are stored, and
    deletes with the run. ``number`` is that of the chunk, ``level`` says of which list.
    """

    SIZE: ClassVar = 100

    run = models.ForeignKey(
        MetricRun, on_delete=models.DO_NOTHING, related_name="chunks", db_index=False
    )
    level = models.CharField(max_length=8)
    number = models.PositiveIntegerField()
    scores = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "level", "number"], name="score_chunk_once")
        ]

    def __str__(self) -> str:
        return f"{self.level}s of {self.run_id} from {self.number * self.SIZE}"


class QueueSeen(models.Model):
    """When a worker that takes from this queue last said so (``workers.runs.presence``)."""

    queue = models.CharField(max_length=10, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.queue
