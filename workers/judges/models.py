"""Judges: what was asked and answered, what may be spent, and the prompts that organisers write."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models import CorpusVersion
from common.jobs.models import Job

COST = {"max_digits": 16, "decimal_places": 8}
"""In USD: a call to a small model costs a hundred-thousandth."""


class StoredRequest(models.Model):
    """What was asked (``workers.judges.core.calls.ChatRequest``), once, however many samples were
    drawn."""

    key = models.CharField(
        max_length=64, unique=True, help_text="SHA-256 of the body, in hexadecimal."
    )
    model = models.CharField(max_length=200)
    body = models.TextField(help_text="Canonical JSON: model, messages, parameters.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.model} {self.key[:12]}"


class StoredAnswer(models.Model):
    """One call: a sample of a request. ``asked`` while somebody holds it; never deleted once
    answered."""

    class State(models.TextChoices):
        REQUESTED = "asked", "asked"
        ANSWERED = "answered", "answered"
        REFUSED = "refused", "refused"

    request = models.ForeignKey(StoredRequest, on_delete=models.CASCADE, related_name="answers")
    sample = models.PositiveSmallIntegerField()
    ask = models.PositiveSmallIntegerField(
        default=0, help_text="0; 1 and 2 where it was asked again."
    )
    state = models.CharField(max_length=10, choices=State)
    holder = models.CharField(max_length=32, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    endpoint = models.CharField(max_length=300, blank=True)
    reported_model = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True, help_text="The raw answer.")
    error = models.TextField(blank=True, help_text="Why the endpoint refuses the call.")
    finish_reason = models.CharField(max_length=40, blank=True)
    sent = models.JSONField(
        default=dict, help_text="How it was sent, where not as the request is stored."
    )
    chances = models.JSONField(
        null=True, blank=True, help_text="Log-probabilities, as the endpoint gave them."
    )
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    latency_seconds = models.FloatField(default=0.0)
    cost = models.DecimalField(
        **COST, null=True, blank=True, help_text="USD; empty where the model has no price."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "sample", "ask"], name="judge_call_once"),
            models.CheckConstraint(
                condition=~Q(state="asked") | (Q(lease_expires_at__isnull=False) & ~Q(holder="")),
                name="asked_judge_call_is_held",
            ),
            models.CheckConstraint(
                condition=Q(state="asked") | Q(answered_at__isnull=False),
                name="answered_judge_call_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="refused") | ~Q(error=""), name="refused_judge_call_says_why"
            ),
        ]
        indexes = [
            models.Index(fields=["holder"], name="judge_call_holder", condition=~Q(holder=""))
        ]

    def __str__(self) -> str:
        return f"{self.request_id} sample {self.sample} ask {self.ask}: {self.state}"


class Budget(models.Model):
    """What judging may cost, in tokens and money, and what it has cost. An empty limit is none."""

    tokens_limit = models.PositiveBigIntegerField(null=True, blank=True)
    cost_limit = models.DecimalField(**COST, null=True, blank=True, help_text="USD")
    tokens_spent = models.PositiveBigIntegerField(default=0)
    cost_spent = models.DecimalField(**COST, default=0)
    calls = models.PositiveIntegerField(default=0, help_text="Calls paid from it.")
    unpriced_calls = models.PositiveIntegerField(
        default=0, help_text="Of these, calls whose cost is not known."
    )

    def __str__(self) -> str:
        return f"budget {self.pk}"


class Hold(models.Model):
    """One holder's calls that have no answer yet, and what they may cost at most.

    ``tokens`` and ``cost`` are reserved for calls that are not sent; they end by themselves when
    the holder falls silent. The ``sent_`` columns are of calls that were handed over to be sent:
    the endpoint may charge for them whatever becomes of their holder, so they count until they are
    settled, for ever if need be. The row without a holder has those that nobody will settle.
    """

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="holds")
    holder = models.CharField(max_length=32, blank=True)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(**COST, default=0)
    sent_calls = models.PositiveIntegerField(default=0, db_default=0)
    sent_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    sent_cost = models.DecimalField(**COST, default=0, db_default=0)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["budget", "holder"], name="judge_hold_once")]

    def __str__(self) -> str:
        return f"{self.holder or 'nobody'} in budget {self.budget_id}"


class EndpointDialect(models.Model):
    """What an endpoint takes for a model (``workers.judges.core.dialects.Dialect``), learned from
    its answers."""

    address = models.CharField(max_length=300, help_text="Host, port and path, without a key.")
    model = models.CharField(max_length=200)
    facts = models.JSONField(
        default=dict, help_text="What differs from the plainest form of a request."
    )
    learned_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["address", "model"], name="endpoint_dialect_once")
        ]

    def __str__(self) -> str:
        return f"{self.model} at {self.address}"


class Pace(models.Model):
    """When an endpoint may be asked next, for all workers together (GCRA: the theoretical arrival
    times)."""

    endpoint = models.CharField(max_length=500, unique=True, help_text="Base address and model.")
    requests_from = models.FloatField(default=0.0, help_text="Seconds since 1970.")
    tokens_from = models.FloatField(default=0.0)

    def __str__(self) -> str:
        return self.endpoint


class JudgeRun(models.Model):
    """A judge's configuration on a corpus version: the metric runs of all its systems together, and
    their budget."""

    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="judge_runs")
    configuration = models.CharField(max_length=300)
    budget = models.OneToOneField(Budget, on_delete=models.PROTECT, related_name="judge_run")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    stopped_at = models.DateTimeField(null=True, blank=True)
    stopped_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "configuration"], name="judge_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.configuration} on {self.version_id}"


class JudgePrompt(models.Model):
    """A judge that an organiser wrote. In configurations: ``judge[prompt=slug@number]``."""

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class PromptVersion(models.Model):
    """One wording, never changed: scores name it."""

    prompt = models.ForeignKey(JudgePrompt, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="A prompt file, as check_prompt takes it.")
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        ordering = ["prompt", "number"]
        constraints = [
            models.UniqueConstraint(fields=["prompt", "number"], name="judge_prompt_version_once"),
            models.UniqueConstraint(fields=["prompt", "digest"], name="judge_prompt_wording_once"),
        ]

    def __str__(self) -> str:
        return f"{self.prompt.slug}@{self.number}"


class Trial(Job):
    """A prompt tried on a few responses that people rated."""

    NAME = "trial"
    TASK = "workers.judges.tasks.try_prompt"
    QUEUE = "llm"
    RESET: ClassVar = {"examples_done": 0}
    NOTHING_LOST = "What was answered is stored and is not paid for again."

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    prompt_version = models.ForeignKey(
        PromptVersion, on_delete=models.CASCADE, related_name="trials"
    )
    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="+")
    configuration = models.CharField(max_length=300)
    aspect = models.CharField(max_length=100)
    seed = models.PositiveIntegerField(default=0)
    budget = models.OneToOneField(Budget, on_delete=models.PROTECT, related_name="trial")
    responses = models.JSONField(
        default=list, help_text="Keys of the responses, in the order of the page."
    )
    results = models.JSONField(
        default=list, help_text="One a response: score or reason, samples, request."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    error = models.TextField(blank=True)
    examples_done = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed"]),
                name="judge_trial_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="running_judge_trial_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_judge_trial_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk} of {self.configuration}"

    @classmethod
    def reason(cls, error: str) -> str:
        """What a spent budget says ends with these words already, in its own way."""
        text = super().reason(error).rstrip(". ")
        return f"{text}." if "What was answered" in text else f"{text}. {cls.NOTHING_LOST}"
