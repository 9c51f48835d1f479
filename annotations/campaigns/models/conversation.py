"""Systems that one can chat with, and the chats."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from annotations.campaigns.models.assignment import Assignment, public_id
from common.jobs.models import Job, JobQuerySet

LONGEST_MESSAGE = 2000
KEY_VARIABLE_PREFIX = "DIALEVAL_CHAT_KEY_"
"""Only variables of this name are read as keys: nobody can have a worker send another of its
secrets somewhere."""
HOTTEST, MOST_TOKENS = 2, 4000


class ChatSystem(models.Model):
    """A model behind an OpenAI-compatible endpoint, with what it is told before the chat.

    Where ``base_url`` is empty it is the site's own endpoint (DIALEVAL_LLM_URL, or the packaged
    model). The key itself is in the workers' environment, under ``key_variable``: it is never
    stored and never sent to a browser.
    """

    name = models.CharField(max_length=100, unique=True)
    base_url = models.CharField(max_length=300, blank=True)
    model = models.CharField(max_length=200, blank=True)
    key_variable = models.CharField(max_length=100, blank=True)
    instructions = models.TextField(
        max_length=8000, help_text="{persona} stands for the persona it plays."
    )
    temperature = models.FloatField(
        default=0.7, validators=[MinValueValidator(0), MaxValueValidator(HOTTEST)]
    )
    max_tokens = models.PositiveIntegerField(
        default=120, validators=[MinValueValidator(1), MaxValueValidator(MOST_TOKENS)]
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(base_url="") | ~Q(model=""), name="endpoint_has_a_model"
            ),
            models.CheckConstraint(
                condition=Q(key_variable="") | ~Q(base_url=""), name="key_goes_to_its_endpoint"
            ),
            models.CheckConstraint(
                condition=Q(key_variable="") | Q(key_variable__startswith=KEY_VARIABLE_PREFIX),
                name="key_variable_has_its_prefix",
            ),
            models.CheckConstraint(
                condition=Q(temperature__gte=0, temperature__lte=HOTTEST),
                name="chat_temperature_range",
            ),
            models.CheckConstraint(
                condition=Q(max_tokens__gte=1, max_tokens__lte=MOST_TOKENS),
                name="chat_max_tokens_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Conversation(models.Model):
    """A rater's chat with a system. The rater is speaker A, the system B, with the personas of the
    item's dialogue.

    Or one of the two chats of an arena's battle, where the visitor is A; or an organiser's trial of
    a system, of which nothing is ever rated.
    """

    assignment = models.OneToOneField(
        Assignment, null=True, blank=True, on_delete=models.CASCADE, related_name="conversation"
    )
    trial_of = models.ForeignKey(
        ChatSystem, null=True, blank=True, on_delete=models.CASCADE, related_name="trials"
    )
    battle = models.ForeignKey(
        "campaigns.Battle",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="conversations",
        db_index=False,
    )
    arm = models.CharField(
        max_length=1, blank=True, default="", db_default="", help_text="Of a battle: a or b."
    )
    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    assignment__isnull=False, trial_of__isnull=True, battle__isnull=True, arm=""
                )
                | Q(assignment__isnull=True, trial_of__isnull=False, battle__isnull=True, arm="")
                | Q(
                    assignment__isnull=True,
                    trial_of__isnull=True,
                    battle__isnull=False,
                    arm__in=["a", "b"],
                ),
                name="conversation_is_an_item_a_trial_or_of_a_battle",
            ),
            models.UniqueConstraint(
                fields=["battle", "arm"],
                condition=Q(battle__isnull=False),
                name="conversation_of_an_arm_once",
            ),
        ]

    def __str__(self) -> str:
        return f"conversation {self.public_id}"


class MessageQuerySet(JobQuerySet):
    def retry(self, error: str, /) -> int:
        """Somebody waits for the answer: workers are told at once, and the organiser reads what
        went wrong meanwhile."""
        keys = list(self.values_list("pk", flat=True))
        retried = super().retry(error, error=self.model.reason(error))
        waiting = self.model.objects.filter(pk__in=keys, state=self.model.WAITING)
        waiting.notify(waiting.values_list("pk", flat=True))
        return retried


class Message(Job):
    """An utterance of a chat. The rater's is done when stored; the system's is a worker's job."""

    NAME = "answer"
    TASK = "workers.tasks.reply"
    QUEUE = "llm"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    number = models.PositiveIntegerField(help_text="From 0; even ones are the rater's.")
    speaker = models.CharField(max_length=1, choices=[("A", "A"), ("B", "B")])
    text = models.TextField(blank=True, max_length=LONGEST_MESSAGE)
    key = models.CharField(
        max_length=64, blank=True, help_text="Made by the page; the same key is the same message."
    )
    state = models.CharField(max_length=8, choices=State, default=State.DONE)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True, help_text="For the organiser; a rater never sees it.")
    signature = models.CharField(
        max_length=500, blank=True, help_text="Model, settings and seed that wrote it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    calls = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Calls that were answered."
    )
    input_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    output_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    unsettled_calls = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="Calls that were sent and not answered: the endpoint may charge for them.",
    )
    unsettled_input_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of these, at most."
    )
    unsettled_output_tokens = models.PositiveBigIntegerField(default=0, db_default=0)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["conversation", "number"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="message_number_once"),
            models.UniqueConstraint(
                fields=["conversation", "key"], condition=~Q(key=""), name="message_key_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed"]),
                name="message_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="running_message_is_leased",
            ),
            models.CheckConstraint(
                condition=Q(speaker="B") | Q(state="done"), name="a_s_message_is_done"
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | ~Q(text=""), name="done_message_has_text"
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_message_says_why"
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_expires_at"],
                condition=Q(state__in=["pending", "running"]),
                name="message_work",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]
