"""Who is told when a submission ends: by e-mail, or by a signed request to an address of theirs."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.challenges.models.submission import Submission


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


class Notice(models.Model):
    """One message to one receiver about one end of a submission. The row is the truth; a worker
    delivers it."""

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
    lease_token = models.CharField(max_length=32, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    hinted_at = models.DateTimeField(null=True, blank=True)
    hints = models.PositiveIntegerField(default=0)
    answer = models.CharField(max_length=300, blank=True, help_text="What the receiver said last.")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

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
