"""Who is told when a submission ends: by e-mail, or by a signed request to an address of theirs."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Value, When

from common import clock
from common.jobs.models import Job, JobQuerySet
from leaderboard.challenges.models.submission import Submission

PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (30, 2 * 60, 10 * 60, 30 * 60, 2 * 3600, 6 * 3600, 14 * 3600)
)
"""Between tries. With the first at once these are eight tries in not quite a day."""
TRIES = len(PAUSES) + 1
LONGEST_ANSWER = 300


def signing_secret() -> str:
    return secrets.token_urlsafe(32)


class Webhook(models.Model):
    """An address that hears of its owner's (and the owner's teams') submissions."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.URLField(max_length=300)
    secret = models.CharField(max_length=64, default=signing_secret)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user", "pk"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_once")]

    def __str__(self) -> str:
        return self.url


class MailChoice(models.Model):
    """Whether a person wants e-mail about submissions. Who never chose is sent some."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_choice"
    )
    is_wanted = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.user_id}: {'mail' if self.is_wanted else 'no mail'}"


class NoticeQuerySet(JobQuerySet):
    def retry(self, error: str, /) -> int:
        """After a pause that grows."""
        now = clock.now()
        pauses = [When(attempts=n, then=Value(now + pause)) for n, pause in enumerate(PAUSES, 1)]
        due_at = Case(*pauses, default=F("due_at"))
        return super().retry(error, due_at=due_at, answer=self.model.reason(error))


class Notice(Job):
    """One message to one receiver about one end of a submission, which a worker delivers."""

    NAME = "notice"
    TASK = "leaderboard.challenges.tasks.deliver"
    REASON = "answer"
    ENDED_AT = "ended_at"
    LOST = "the worker stopped without a word"

    class Channel(models.TextChoices):
        EMAIL = "email", "e-mail"
        WEBHOOK = "webhook", "webhook"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    submission = models.ForeignKey(
        Submission,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="notices",
        help_text="None: a test.",
    )
    event = models.CharField(max_length=20, help_text="scored, failed or invalid; or test.")
    ending = models.DateTimeField(
        help_text="The submission's ended_at: a second ending is told again."
    )
    channel = models.CharField(max_length=7, choices=Channel)
    webhook = models.ForeignKey(
        Webhook, null=True, blank=True, on_delete=models.CASCADE, related_name="notices"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    public_id = models.CharField(
        max_length=40, unique=True, help_text="The delivery's id, for the receiver."
    )
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Not before this.")
    answer = models.CharField(max_length=300, blank=True, help_text="What the receiver said last.")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(channel__in=["email", "webhook"]), name="notice_channel"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed"]), name="notice_state"
            ),
            models.CheckConstraint(
                condition=Q(channel="email", webhook__isnull=True)
                | Q(channel="webhook", webhook__isnull=False),
                name="notice_goes_to_a_webhook_or_by_email",
            ),
            models.CheckConstraint(
                condition=Q(submission__isnull=False) | Q(event="test"),
                name="notice_is_about_a_submission",
            ),
            models.UniqueConstraint(
                fields=["submission", "event", "ending", "user"],
                condition=Q(channel="email"),
                name="told_once_by_email",
            ),
            models.UniqueConstraint(
                fields=["submission", "event", "ending", "webhook"],
                condition=Q(channel="webhook"),
                name="told_once_by_webhook",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "due_at"],
                condition=Q(state__in=["pending", "running"]),
                name="notice_work",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.user_id}"

    @classmethod
    def max_attempts(cls) -> int:
        return TRIES

    @classmethod
    def is_waiting(cls) -> Q:
        return super().is_waiting() & Q(due_at__lte=clock.now())

    @classmethod
    def reason(cls, error: str) -> str:
        """One printable line: it comes from outside."""
        printable = "".join(letter if letter.isprintable() else " " for letter in error)
        return " ".join(printable.split())[:LONGEST_ANSWER]
