"""Training runs: what is to be trained on what, who is at it, how far it is, and what came out, in
one row."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from annotations.models import CorpusVersion
from common import clock
from common.jobs.models import Job


class Training(Job):
    """What it has learned lies in checkpoints in the folder ``work``, below DIALEVAL_HOME/training;
    the model that comes out in DIALEVAL_HOME/trained/<name>."""

    NAME = "training"
    TASK = "workers.trainings.tasks.train"
    QUEUE = "gpu"
    """Models on a CPU, too."""
    BEGUN_AT = "started_at"
    LOST = (
        "the worker stopped without a word {attempts} times and came no further between; the "
        "training may need more memory. Its checkpoints are kept: go on when that is mended."
    )

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    class OverlapRule(models.TextChoices):
        REFUSE = "refuse", "refuse to train"
        LEAVE_OUT = "leave out", "leave those dialogues out"
        ALLOW = "allow", "train on them all the same"

    name = models.SlugField(
        max_length=60, unique=True, help_text="The trained model's: density[trained=NAME]."
    )
    work = models.CharField(max_length=80, unique=True)
    recipe = models.CharField(max_length=20)
    chosen = models.JSONField(
        default=dict, help_text="What differs from the recipe's defaults, by name."
    )
    seed = models.PositiveIntegerField(default=0)
    version = models.ForeignKey(
        CorpusVersion, on_delete=models.SET_NULL, null=True, related_name="trainings"
    )
    data = models.JSONField(help_text='{"corpus", "version"} or {"file", "sha256"}.')
    overlap_rule = models.CharField(max_length=10, choices=OverlapRule, default=OverlapRule.REFUSE)
    overlap = models.JSONField(
        default=dict, help_text="With the site's evaluation corpora, measured once."
    )
    data_signature = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveIntegerField(
        default=0, help_text="Starts without a new checkpoint, this one included."
    )
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True, blank=True, help_text="By the first worker.")
    finished_at = models.DateTimeField(null=True, blank=True)

    progress = models.JSONField(
        default=dict, help_text="phase, step, steps, epoch, epochs, loss, seconds, left, rate."
    )
    curves = models.JSONField(
        default=list, help_text="Points: step, learning rate, loss and its parts."
    )
    validations = models.JSONField(default=list, help_text='{"step", "figures"} each.')
    device = models.CharField(max_length=120, blank=True)
    revision = models.CharField(
        max_length=12, blank=True, help_text="Of the model: the start of its hash."
    )
    best = models.JSONField(
        default=dict, help_text='{"step", "figures"} of the validation that chose the model.'
    )

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed", "stopped"]),
                name="training_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="running_training_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_training_says_why"
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | (Q(finished_at__isnull=False) & ~Q(revision="")),
                name="done_training_has_a_model",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.recipe} {self.name}"

    @classmethod
    def begun(cls) -> dict[str, Any]:
        return {**super().begun(), "started_at": Coalesce("started_at", clock.now())}

    @classmethod
    def reason(cls, error: str) -> str:
        return super().reason(error) or "it failed without a word"
